package jsbuild

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// embeddedNamespace is the esbuild namespace of files that come from a [sourceSet].
const embeddedNamespace = "opentabs"

// sourceSet is a tree of embedded files that esbuild can bundle without a disk and
// without npm. The zero value of sourceSet contains no files. A sourceSet is safe for
// concurrent use while its maps do not change.
type sourceSet struct {
	// Roots mounts file trees side by side: a file "src/a.ts" of the root "x" has the
	// path "x/src/a.ts". A file can import a file of another root by a relative path, as
	// files in the repository do.
	Roots map[string]fs.FS
	// Alias maps bare imports such as "zod" to embedded paths, also for imports in files on disk. A key of Alias that
	// ends in "/" matches all imports that begin with the key; the rest of the import is appended to the mapped path.
	Alias map[string]string
	// PureModulePaths returns a regular expression for the paths of side-effect-free modules. A
	// bundle contains a side-effect-free module only if the plugin uses one of the
	// module's exports. By default, every module has side effects.
	PureModulePaths func() *regexp.Regexp
}

// Read returns the content of one embedded file.
func (s sourceSet) Read(name string) ([]byte, error) {
	root, pathInRoot, _ := strings.Cut(name, "/")
	filesystem, ok := s.Roots[root]
	if !ok {
		return nil, fmt.Errorf("read %s: no embedded root %q", name, root)
	}
	return fs.ReadFile(filesystem, pathInRoot)
}

// Plugin returns the esbuild plugin that serves the embedded files. Entry points are
// embedded paths, such as "extension/src/worker.ts", or files on disk.
func (s sourceSet) Plugin() api.Plugin {
	return api.Plugin{
		Name: "opentabs-sources",
		Setup: func(build api.PluginBuild) {
			build.OnResolve(api.OnResolveOptions{Filter: `.*`}, s.resolve)
			build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: embeddedNamespace}, s.load)
		},
	}
}

// If resolve returns an empty result, esbuild resolves the import without opentabs.
func (s sourceSet) resolve(a api.OnResolveArgs) (api.OnResolveResult, error) {
	isEmbedded := a.Namespace == embeddedNamespace
	isRelative := strings.HasPrefix(a.Path, "./") || strings.HasPrefix(a.Path, "../")
	switch {
	case a.Kind == api.ResolveEntryPoint:
		if name, ok := s.find(path.Clean(a.Path)); ok {
			return api.OnResolveResult{Path: name, Namespace: embeddedNamespace}, nil
		}
		return api.OnResolveResult{}, nil
	case isRelative && isEmbedded:
		if name, ok := s.find(path.Join(path.Dir(a.Importer), a.Path)); ok {
			return s.resolvedPath(name), nil
		}
	case !isRelative:
		if target, ok := s.embeddedPath(a.Path); ok {
			if name, ok := s.find(target); ok {
				return s.resolvedPath(name), nil
			}
			return api.OnResolveResult{}, fmt.Errorf("%q is an alias of the embedded file %s, which does not exist", a.Path, target)
		}
	}
	if isEmbedded {
		return api.OnResolveResult{}, fmt.Errorf("%q is not among the embedded sources", a.Path)
	}
	return api.OnResolveResult{}, nil
}

func (s sourceSet) resolvedPath(name string) api.OnResolveResult {
	r := api.OnResolveResult{Path: name, Namespace: embeddedNamespace}
	if s.PureModulePaths != nil && s.PureModulePaths().MatchString(name) {
		r.SideEffects = api.SideEffectsFalse
	}
	return r
}

func (s sourceSet) embeddedPath(spec string) (string, bool) {
	if target, ok := s.Alias[spec]; ok {
		return target, true
	}
	for i := len(spec); i > 0; i = strings.LastIndexByte(spec[:i], '/') {
		if target, ok := s.Alias[spec[:i]+"/"]; ok && i < len(spec) {
			return target + spec[i+1:], true
		}
	}
	return "", false
}

// The path "x.js" also matches the file "x.ts", as in TypeScript.
func (s sourceSet) find(name string) (string, bool) {
	candidates := []string{name, name + ".ts", name + ".tsx", name + ".mjs", name + ".js", name + "/index.ts", name + "/index.js"}
	if stem, ok := strings.CutSuffix(name, ".js"); ok {
		candidates = append(candidates, stem+".ts", stem+".tsx")
	}
	for _, candidate := range candidates {
		root, pathInRoot, ok := strings.Cut(candidate, "/")
		if !ok || s.Roots[root] == nil {
			continue
		}
		if fileInfo, err := fs.Stat(s.Roots[root], pathInRoot); err == nil && fileInfo.Mode().IsRegular() {
			return candidate, true
		}
	}
	return "", false
}

func (s sourceSet) load(a api.OnLoadArgs) (api.OnLoadResult, error) {
	fileContent, err := s.Read(a.Path)
	if err != nil {
		return api.OnLoadResult{}, err
	}
	contents := string(fileContent)
	return api.OnLoadResult{Contents: &contents, Loader: loaderOf(a.Path)}, nil
}

func loaderOf(name string) api.Loader {
	switch path.Ext(name) {
	case ".ts", ".mts", ".cts":
		return api.LoaderTS
	case ".tsx":
		return api.LoaderTSX
	case ".json":
		return api.LoaderJSON
	case ".css":
		return api.LoaderCSS
	default:
		return api.LoaderJS
	}
}
