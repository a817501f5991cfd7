package jsbuild

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"opentabs/internal/lazyregexp"
)

// zodSource is the copy of zod with which a plugin is built.
type zodSource struct {
	// Dir is the plugin's directory.
	Dir string
	// The field Installed is true if this copy of zod is in the plugin's node_modules,
	// and false if the copy is embedded in opentabs.
	Installed bool
	// UsedZodNames are the properties of zod's object z that the author's modules use, separated by spaces.
	UsedZodNames string
	// isSubset is true if the script needs no other properties of zod's object z than UsedZodNames.
	isSubset bool
	// Warning explains why opentabs cannot use the installed zod; empty if it can.
	Warning string
}

// findZod chooses the zod 4 that is installed for the plugin, because the author's compiler uses its types.
func findZod(dir string) zodSource {
	for ancestor := dir; ; ancestor = filepath.Dir(ancestor) {
		file := filepath.Join(ancestor, "node_modules", "zod", "package.json")
		fileContent, err := os.ReadFile(file)
		if err == nil {
			var pkg struct {
				Version string `json:"version"`
			}
			if json.Unmarshal(fileContent, &pkg) == nil && strings.HasPrefix(pkg.Version, "4.") {
				return zodSource{Dir: dir, Installed: true}
			}
			return zodSource{Dir: dir, Warning: fmt.Sprintf(
				"zod %s is installed, but plugins need zod 4, so the build uses the built-in copy; run npm install zod@4", pkg.Version)}
		}
		if ancestor == filepath.Dir(ancestor) {
			return zodSource{Dir: dir}
		}
	}
}

// localesNamespace is the esbuild namespace of the module that replaces zod's list of locales.
const localesNamespace = "opentabs-locales"

// resolvedImportMark marks an import that the method resolve has passed back to esbuild for
// resolution. The method resolve ignores marked imports, because it would otherwise call
// itself endlessly.
type resolvedImportMark struct{}

var (
	zodImport       = `^zod(/|$)`
	localeIndexPath = `/locales/index\.js$`
	// zodStatefulPaths matches the files of zod that store data on globalThis.
	zodStatefulPaths = `zod/v4/core/(core|registries)\.js$`
	zodInternalPaths = lazyregexp.New(`zod[/\\]v4[/\\](core|classic|mini)[/\\][^/\\]+\.js$`)
)

// The zod plugin must run before the esbuild plugin of the embedded files.
func (z zodSource) esbuildPlugin(embeddedFiles sourceSet) api.Plugin {
	return api.Plugin{Name: "opentabs-zod", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: zodImport}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return z.resolve(build, embeddedFiles, a)
		})
		// The index module of zod imports the error messages of all 50 languages, which
		// are half of zod's size.
		build.OnResolve(api.OnResolveOptions{Filter: localeIndexPath}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if !zodInternalPaths().MatchString(a.Importer) {
				return api.OnResolveResult{}, nil
			}
			return z.resolveLocales(a), nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: localesNamespace}, loadLocales)
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: usedZodNamespace}, z.loadUsedZod)
		for _, namespace := range []string{"file", embeddedNamespace} {
			build.OnLoad(api.OnLoadOptions{Filter: zodStatefulPaths, Namespace: namespace}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
				return loadPrivateZod(embeddedFiles, a)
			})
		}
	}}
}

func (z zodSource) resolve(build api.PluginBuild, embeddedFiles sourceSet, a api.OnResolveArgs) (api.OnResolveResult, error) {
	_, isResolved := a.PluginData.(resolvedImportMark)
	isFromBuild := a.Namespace == embeddedNamespace || a.Namespace == usedZodNamespace
	if z.isSubset && !isResolved && !isFromBuild && (a.Path == "zod" || a.Path == "zod/v4") {
		return api.OnResolveResult{Path: usedZodPath, Namespace: usedZodNamespace, SideEffects: api.SideEffectsFalse}, nil
	}
	if !z.Installed {
		if _, ok := embeddedFiles.Alias[a.Path]; !ok {
			return api.OnResolveResult{}, fmt.Errorf(
				"%s is not built in (zod, zod/v4 and zod/v4/core are); run npm install zod@4, or import from zod", a.Path)
		}
		return api.OnResolveResult{}, nil // the esbuild plugin of the embedded files resolves imports of the embedded zod
	}
	if isResolved || !isFromBuild {
		return api.OnResolveResult{}, nil // esbuild itself resolves the import
	}
	// The SDK that is embedded in opentabs must use the same copy of zod as the plugin.
	resolvedPath := build.Resolve(a.Path, api.ResolveOptions{ResolveDir: z.Dir, Kind: a.Kind, PluginData: resolvedImportMark{}})
	if len(resolvedPath.Errors) > 0 {
		return api.OnResolveResult{}, errors.New(resolvedPath.Errors[0].Text)
	}
	return api.OnResolveResult{Path: resolvedPath.Path, Namespace: resolvedPath.Namespace, SideEffects: api.SideEffectsFalse}, nil
}

// resolveLocales returns a relative path, because the bundle contains the path, and an adapter must have the same bytes
// on every machine.
func (z zodSource) resolveLocales(a api.OnResolveArgs) api.OnResolveResult {
	r := api.OnResolveResult{Namespace: localesNamespace, SideEffects: api.SideEffectsFalse}
	if a.Namespace == embeddedNamespace {
		r.Path = path.Join(path.Dir(path.Dir(a.Importer)), "locales")
		return r
	}
	dir := filepath.Join(filepath.Dir(filepath.Dir(a.Importer)), "locales")
	r.Path, r.PluginData = dir, dir
	if relativePath, err := filepath.Rel(z.Dir, dir); err == nil {
		r.Path = filepath.ToSlash(relativePath)
	}
	return r
}

// A plugin that needs another language than English can import it by its path, such as "zod/v4/locales/de.js".
func loadLocales(a api.OnLoadArgs) (api.OnLoadResult, error) {
	contents := `export { default as en } from "./en.js";`
	result := api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS}
	if dir, ok := a.PluginData.(string); ok {
		result.ResolveDir = dir
	} else {
		contents = `export { default as en } from "zod/v4/locales/en.js";`
	}
	return result, nil
}

// If zod used the real globalThis, a page could read or change the schemas of an adapter. loadPrivateZod changes no
// line numbers.
func loadPrivateZod(embeddedFiles sourceSet, a api.OnLoadArgs) (api.OnLoadResult, error) {
	var zodSource []byte
	var err error
	if a.Namespace == embeddedNamespace {
		zodSource, err = embeddedFiles.Read(a.Path)
	} else {
		zodSource, err = os.ReadFile(a.Path)
	}
	if err != nil {
		return api.OnLoadResult{}, err
	}
	contents := `import { zodGlobal as globalThis } from "@opentabs/sdk/runtime/zod-global.ts"; ` + string(zodSource)
	return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS, ResolveDir: filepath.Dir(a.Path)}, nil
}
