package jsbuild

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"opentabs/internal/lazyregexp"
	"opentabs/internal/sourcemap"
	sdkts "opentabs/sdk-ts"
)

const bundleFileName = "adapter.iife.js"

// licenseNotice is the first line of every script that contains zod. The MIT license of zod
// requires that copies of zod contain the text of licenseNotice.
const licenseNotice = "/* Built by opentabs. Contains zod (https://zod.dev), MIT License, Copyright (c) Colin McDonnell. */"

// pluginIdentity is the part of package.json that the build embeds in the adapter. The JSON
// names of pluginIdentity match the interface PluginIdentity in sdk-ts/src/runtime/install.ts.
type pluginIdentity struct {
	Name            string   `json:"name"`
	DisplayName     string   `json:"displayName"`
	Description     string   `json:"description"`
	URLPatterns     []string `json:"urlPatterns"`
	ExcludePatterns []string `json:"excludePatterns,omitempty"`
	Homepage        string   `json:"homepage,omitempty"`
}

// assetLoaders embed files such as ".css" in the adapter as strings, because an adapter has to be a single file.
var assetLoaders = map[string]api.Loader{
	".css": api.LoaderText, ".html": api.LoaderText, ".svg": api.LoaderText, ".graphql": api.LoaderText, ".md": api.LoaderText,
	".png": api.LoaderDataURL, ".jpg": api.LoaderDataURL, ".gif": api.LoaderDataURL, ".webp": api.LoaderDataURL,
}

// bundledScript is the result of bundling one entry file with esbuild.
type bundledScript struct {
	Code      []byte
	SourceMap []byte
	// MinifiedCode is the bundle with minified libraries, which runs in pages. MinifiedMap is
	// the source map of MinifiedCode, and covers only the author's modules.
	MinifiedCode, MinifiedMap []byte
	// Metafile is esbuild's JSON description of the bundle's input files.
	Metafile string
	Warnings []Problem
	// IsForOriginalSDK is true if the plugin's imports use the package name of the original
	// OpenTabs SDK.
	IsForOriginalSDK bool
}

// sourceLocation returns the first location in a stack trace that is in the plugin's source, as file:line:column, or
// "".
func (b bundledScript) sourceLocation(stack string) string {
	sourceMap, err := sourcemap.Parse(b.SourceMap)
	if err != nil {
		return ""
	}
	if position := sourceMap.FindInStack(stack); position != (sourcemap.Position{}) {
		return position.String()
	}
	return ""
}

// originalSDK is the npm package name of the original OpenTabs SDK.
const originalSDK = "@opentabs-dev/plugin-sdk"

// pureModulePath matches the modules of the SDK and of zod that a bundle leaves out unless the
// plugin uses one of their exports. Modules in subfolders of the SDK, such as runtime, are
// always part of the bundle.
var pureModulePath = lazyregexp.New(`^(sdk/src/[^/]+\.ts|zod/.*)$`)

// sdkSources returns the source files of the embedded SDK. If includeZod is true, the returned
// sourceSet includes the embedded zod. Imports of @opentabs/sdk and of the original OpenTabs
// SDK resolve to the embedded SDK, so that an adapter matches the server that built it.
func sdkSources(includeZod bool) (sourceSet, error) {
	s := sourceSet{
		Roots:           map[string]fs.FS{"sdk": sdkts.Source},
		PureModulePaths: pureModulePath,
		Alias: map[string]string{
			"@opentabs/sdk":             "sdk/src/index.ts",
			originalSDK:                 "sdk/src/index.ts",
			originalSDK + "/pre-script": "sdk/src/pre-script.ts",
			"@opentabs/sdk/":            "sdk/src/",
		},
	}
	if includeZod {
		zod, err := fs.Sub(sdkts.Source, "vendor/zod")
		if err != nil {
			return sourceSet{}, fmt.Errorf("open the embedded zod: %w", err)
		}
		s.Roots["zod"] = zod
		maps.Copy(s.Alias, map[string]string{
			"zod":                  "zod/index.js",
			"zod/v4":               "zod/v4/index.js",
			"zod/v4/core":          "zod/v4/core/index.js",
			"zod/v4/locales/en.js": "zod/v4/locales/en.js",
		})
	}
	return s, nil
}

func adapterScript(entry string, id pluginIdentity) (script, error) {
	idJSON, err := json.Marshal(id)
	if err != nil {
		return script{}, fmt.Errorf("encode the plugin's identity: %w", err)
	}
	return script{banner: licenseNotice + "\n", entryModule: entry, entry: fmt.Sprintf(`import "@opentabs/sdk/runtime/jitless.ts";
import "@opentabs/sdk/runtime/platform.ts";
import * as module from %s;
import { install } from "@opentabs/sdk/runtime/install.ts";
install(module.default, %s);
`, quoteJS("./"+entry), idJSON)}, nil
}

func extractScript(entry string) script {
	return script{banner: licenseNotice + "\n", entryModule: entry, entry: fmt.Sprintf(`import "@opentabs/sdk/runtime/jitless.ts";
import * as module from %s;
import { extract } from "@opentabs/sdk/extract/extract.ts";
globalThis.%s = JSON.stringify(extract(module.default));
`, quoteJS("./"+entry), extractedGlobalName)}
}

// pluginModuleName is the import name of a plugin module that must run although package.json
// has "sideEffects": false.
const pluginModuleName = "opentabs:own-module"

func newPreScript(entry, name string) script {
	return script{
		pluginModule:         entry,
		entryModule:          entry,
		compileTimeConstants: map[string]string{"OPENTABS_PLUGIN_NAME": quoteJS(name)},
		entry: fmt.Sprintf(`import "@opentabs/sdk/runtime/pre-script-runner.ts";
import %s;
`, quoteJS(pluginModuleName)),
	}
}

// The type script describes the input of [bundlePluginScript]: an entry module and the way to
// bundle it.
type script struct {
	// The field entry is the source text of the ES module at which the bundle starts.
	entry string
	// The field banner is the first line of the bundle, with its line break; banner may
	// be empty.
	banner string
	// entryModule is the author's module that the bundle's entry module imports, as a path
	// relative to the plugin's directory.
	entryModule  string
	pluginModule string
	// The field compileTimeConstants maps global JavaScript names to the expressions that replace
	// them.
	compileTimeConstants map[string]string
}

func (s script) esbuildPlugin(dir string) api.Plugin {
	return api.Plugin{Name: "opentabs-own-module", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: "^" + pluginModuleName + "$"}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: filepath.Join(dir, filepath.FromSlash(s.pluginModule)), SideEffects: api.SideEffectsTrue}, nil
		})
	}}
}

// If cache is nil, bundlePluginScript does not cache the bundle.
func bundlePluginScript(s script, zod zodSource, cache *BuildCache) (bundledScript, error) {
	for range maxCompileAttempts {
		usage := findZodUsage(pluginSource{Dir: zod.Dir, Entry: s.entryModule})
		zod.UsedZodNames, zod.isSubset = strings.Join(usage.names, " "), usage.isComplete
		b, err := bundleOnce(s, zod, cache)
		if err != nil || !usage.isComplete || hasSameSource(usage.scannedBundle, b) {
			return b, err
		}
	}
	return bundledScript{}, errUnstableSource(zod.Dir)
}

func bundleOnce(s script, zod zodSource, cache *BuildCache) (bundledScript, error) {
	sources, err := sdkSources(!zod.Installed)
	if err != nil {
		return bundledScript{}, err
	}
	pluginBoundary := sourceBoundary{dir: zod.Dir}
	compileTimeConstants := map[string]string{"process.env.NODE_ENV": `"production"`}
	maps.Copy(compileTimeConstants, s.compileTimeConstants)
	r := cache.build(fmt.Sprintf("%+v %+v", s, zod), api.BuildOptions{
		Stdin:         &api.StdinOptions{Contents: s.entry, ResolveDir: zod.Dir, Sourcefile: entryFile, Loader: api.LoaderTS},
		AbsWorkingDir: zod.Dir,
		Outfile:       "dist/" + bundleFileName,
		Bundle:        true,
		Format:        api.FormatIIFE,
		Platform:      api.PlatformBrowser,
		Target:        api.ES2022,
		Supported:     esbuildAsyncSupport,
		TreeShaking:   api.TreeShakingTrue,
		Charset:       api.CharsetUTF8,
		LegalComments: api.LegalCommentsNone,
		Banner:        map[string]string{"js": s.banner + "\"use strict\";"},
		Sourcemap:     api.SourceMapExternal,
		Metafile:      true,
		Loader:        assetLoaders,
		Define:        compileTimeConstants,
		Plugins:       []api.Plugin{pluginBoundary.esbuildPlugin(), s.esbuildPlugin(zod.Dir), zod.esbuildPlugin(sources), sources.Plugin()},
		LogLevel:      api.LogLevelSilent,
		LogOverride:   map[string]api.LogLevel{"import-is-undefined": api.LogLevelSilent}, // the step that reads the plugin's tools reports a missing import more clearly
	})
	if len(r.Errors) > 0 {
		return bundledScript{}, &BuildError{Dir: zod.Dir, Problems: pluginBoundary.problemsFromEsbuild(r.Errors)}
	}
	b := bundledScript{Metafile: r.Metafile, Warnings: pluginBoundary.problemsFromEsbuild(r.Warnings), IsForOriginalSDK: hasImport(r.Metafile, originalSDK)}
	for _, file := range r.OutputFiles {
		switch filepath.Base(file.Path) {
		case bundleFileName:
			if b.Code, err = replaceAsyncHelpers(file.Contents); err != nil {
				return bundledScript{}, err
			}
		case sourceMapName:
			b.SourceMap = file.Contents
		}
	}
	return b, nil
}

func hasImport(metafile, name string) bool {
	var meta struct {
		Inputs map[string]struct {
			Imports []struct{ Original string }
		}
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		panic("jsbuild: esbuild's metafile: " + err.Error())
	}
	for _, input := range meta.Inputs {
		for _, importRecord := range input.Imports {
			if importRecord.Original == name {
				return true
			}
		}
	}
	return false
}

func quoteJS(s string) string {
	encodedJSON, err := json.Marshal(s)
	if err != nil {
		panic("jsbuild: " + err.Error())
	}
	return string(encodedJSON)
}
