package jsbuild

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// zodSource says which zod a plugin is built with.
type zodSource struct {
	// Dir is the plugin's directory.
	Dir string
	// Installed says that the author's own zod is used. False means the
	// embedded copy.
	Installed bool
	// Warning is set if there is a zod that can't be used.
	Warning string
}

// findZod prefers a zod 4 that is installed for the plugin, because its types
// are what the author's compiler saw.
func findZod(dir string) zodSource {
	for at := dir; ; at = filepath.Dir(at) {
		file := filepath.Join(at, "node_modules", "zod", "package.json")
		text, err := os.ReadFile(file)
		if err == nil {
			var pkg struct {
				Version string `json:"version"`
			}
			if json.Unmarshal(text, &pkg) == nil && strings.HasPrefix(pkg.Version, "4.") {
				return zodSource{Dir: dir, Installed: true}
			}
			return zodSource{Dir: dir, Warning: fmt.Sprintf(
				"zod %s is installed but plugins need zod 4: the built-in copy is used; run npm install zod@4", pkg.Version)}
		}
		if at == filepath.Dir(at) {
			return zodSource{Dir: dir}
		}
	}
}

// localesNamespace is that of the stub that stands for zod's list of locales.
const localesNamespace = "opentabs-locales"

// resolvedBefore marks an import that resolve itself asks esbuild about.
type resolvedBefore struct{}

var (
	zodImport  = `^zod(/|$)`
	localeList = `/locales/index\.js$`
	// zodStateful are the files of zod that keep state on globalThis.
	zodStateful = `zod/v4/core/(core|registries)\.js$`
	// zodInternal is a file of zod that imports the list of locales.
	zodInternal = regexp.MustCompile(`zod[/\\]v4[/\\](core|classic|mini)[/\\][^/\\]+\.js$`)
)

// plugin returns the esbuild plugin that decides about zod. It goes before
// that of the embedded sources.
func (z zodSource) plugin(embeddedFiles sourceSet) api.Plugin {
	return api.Plugin{Name: "opentabs-zod", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: zodImport}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return z.resolve(build, embeddedFiles, a)
		})
		// Zod's index brings all 50 languages along, half of its size.
		build.OnResolve(api.OnResolveOptions{Filter: localeList}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if !zodInternal.MatchString(a.Importer) {
				return api.OnResolveResult{}, nil
			}
			return z.resolveLocales(a), nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: localesNamespace}, loadLocales)
		for _, namespace := range []string{"file", embedded} {
			build.OnLoad(api.OnLoadOptions{Filter: zodStateful, Namespace: namespace}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
				return loadPrivate(embeddedFiles, a)
			})
		}
	}}
}

// resolve finds the file that an import of zod means.
func (z zodSource) resolve(build api.PluginBuild, embeddedFiles sourceSet, a api.OnResolveArgs) (api.OnResolveResult, error) {
	if !z.Installed {
		if _, ok := embeddedFiles.Alias[a.Path]; !ok {
			return api.OnResolveResult{}, fmt.Errorf(
				"%s is not built in (zod, zod/v4 and zod/v4/core are); run npm install zod@4, or import from zod", a.Path)
		}
		return api.OnResolveResult{}, nil // the embedded sources know it
	}
	if _, again := a.PluginData.(resolvedBefore); again || a.Namespace != embedded {
		return api.OnResolveResult{}, nil // esbuild knows it
	}
	// The SDK has to use the same zod as the plugin.
	found := build.Resolve(a.Path, api.ResolveOptions{ResolveDir: z.Dir, Kind: a.Kind, PluginData: resolvedBefore{}})
	if len(found.Errors) > 0 {
		return api.OnResolveResult{}, errors.New(found.Errors[0].Text)
	}
	return api.OnResolveResult{Path: found.Path, Namespace: found.Namespace, SideEffects: api.SideEffectsFalse}, nil
}

// resolveLocales finds the list of locales beside the file of zod that imports
// it. Its path becomes part of the adapter, so it is relative: the same source
// gives the same bytes on every machine.
func (z zodSource) resolveLocales(a api.OnResolveArgs) api.OnResolveResult {
	r := api.OnResolveResult{Namespace: localesNamespace, SideEffects: api.SideEffectsFalse}
	if a.Namespace == embedded {
		r.Path = path.Join(path.Dir(path.Dir(a.Importer)), "locales")
		return r
	}
	dir := filepath.Join(filepath.Dir(filepath.Dir(a.Importer)), "locales")
	r.Path, r.PluginData = dir, dir
	if short, err := filepath.Rel(z.Dir, dir); err == nil {
		r.Path = filepath.ToSlash(short)
	}
	return r
}

// loadLocales makes a list of locales that holds English alone. Others can
// still be imported one by one.
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

// loadPrivate gives a file of zod an object of its own in place of globalThis,
// where it keeps its configuration and registry: a page could replace both
// there, and read or change the schemas of an adapter. The import stands in
// the first line, so that line numbers stay true.
func loadPrivate(embeddedFiles sourceSet, a api.OnLoadArgs) (api.OnLoadResult, error) {
	var text []byte
	var err error
	if a.Namespace == embedded {
		text, err = embeddedFiles.Read(a.Path)
	} else {
		text, err = os.ReadFile(a.Path)
	}
	if err != nil {
		return api.OnLoadResult{}, err
	}
	contents := `import { zodGlobal as globalThis } from "@opentabs/sdk/runtime/zod-global.ts"; ` + string(text)
	return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS, ResolveDir: filepath.Dir(a.Path)}, nil
}
