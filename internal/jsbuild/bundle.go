package jsbuild

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"

	sdkts "opentabs/sdk-ts"
)

// bundleName is the name of the file that becomes an adapter.
const bundleName = "adapter.iife.js"

// notice stands at the head of every script with zod in it: its license wants that.
const notice = "/* Built by opentabs. Contains zod (https://zod.dev), MIT License, Copyright (c) Colin McDonnell. */"

// identity is what the runtime of an adapter is told of its package; the JSON
// names are those of PluginIdentity in sdk-ts/src/runtime/install.ts.
type identity struct {
	Name            string   `json:"name"`
	DisplayName     string   `json:"displayName"`
	Description     string   `json:"description"`
	URLPatterns     []string `json:"urlPatterns"`
	ExcludePatterns []string `json:"excludePatterns,omitempty"`
	Homepage        string   `json:"homepage,omitempty"`
}

// assetLoaders make strings of files that are no code: an adapter is one file.
var assetLoaders = map[string]api.Loader{
	".css": api.LoaderText, ".html": api.LoaderText, ".svg": api.LoaderText, ".graphql": api.LoaderText, ".md": api.LoaderText,
	".png": api.LoaderDataURL, ".jpg": api.LoaderDataURL, ".gif": api.LoaderDataURL, ".webp": api.LoaderDataURL,
}

// bundled is what esbuild made of one entry.
type bundled struct {
	Code      []byte
	SourceMap []byte
	Warnings  []Problem
	// ForExisting says that it imports the SDK by the name that it has on the
	// existing platform.
	ForExisting bool
}

// existingSDK is the SDK's name on the existing platform.
const existingSDK = "@opentabs-dev/plugin-sdk"

// sdkSources are the SDK and, unless the plugin brings its own, zod for the
// bundler. Both names that plugins import the SDK by mean this copy, so that
// an adapter always fits the server it was built by.
func sdkSources(withZod bool) (sourceSet, error) {
	s := sourceSet{
		Roots: map[string]fs.FS{"sdk": sdkts.Source},
		Alias: map[string]string{
			"@opentabs/sdk":             "sdk/src/index.ts",
			existingSDK:                 "sdk/src/index.ts",
			existingSDK + "/pre-script": "sdk/src/pre-script.ts",
			"@opentabs/sdk/":            "sdk/src/",
		},
	}
	if withZod {
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

// adapterScript is what becomes the adapter.
func adapterScript(entry string, id identity) (script, error) {
	who, err := json.Marshal(id)
	if err != nil {
		return script{}, fmt.Errorf("encode the plugin's identity: %w", err)
	}
	return script{head: notice + "\n", entry: fmt.Sprintf(`import "@opentabs/sdk/runtime/jitless.ts";
import "@opentabs/sdk/runtime/platform.ts";
import * as module from %s;
import { install } from "@opentabs/sdk/runtime/install.ts";
install(module.default, %s);
`, quote("./"+entry), who)}, nil
}

// extractScript is what is run to read the plugin's tools.
func extractScript(entry string) script {
	return script{head: notice + "\n", entry: fmt.Sprintf(`import "@opentabs/sdk/runtime/jitless.ts";
import * as module from %s;
import { extract } from "@opentabs/sdk/extract/extract.ts";
globalThis.%s = JSON.stringify(extract(module.default));
`, quote("./"+entry), extractedName)}
}

// ownModule is the name that a script imports one of the plugin's modules by
// which has to run, whatever package.json says of side effects.
const ownModule = "opentabs:own-module"

// preScriptScript is what becomes the pre-script of the plugin with a name.
func preScriptScript(entry, name string) script {
	return script{
		own:    entry,
		define: map[string]string{"OPENTABS_PLUGIN_NAME": quote(name)},
		entry: fmt.Sprintf(`import "@opentabs/sdk/runtime/pre-script-runner.ts";
import %s;
`, quote(ownModule)),
	}
}

// script is what [bundle] makes a bundle of.
type script struct {
	// entry is an ES module in the plugin's directory.
	entry string
	// head stands before all else, with an end of line; it may be empty.
	head string
	// own is the module that entry imports as ownModule; it may be empty.
	own string
	// define are global names and the expressions that stand for them.
	define map[string]string
}

// plugin returns the esbuild plugin that finds the script's own module.
func (s script) plugin(dir string) api.Plugin {
	return api.Plugin{Name: "opentabs-own-module", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: "^" + ownModule + "$"}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: filepath.Join(dir, filepath.FromSlash(s.own)), SideEffects: api.SideEffectsTrue}, nil
		})
	}}
}

// bundle makes one script in the directory of zod. kept may be nil. The error is
// a *BuildError if the plugin's source is at fault.
func bundle(s script, zod zodSource, kept *Kept) (bundled, error) {
	sources, err := sdkSources(!zod.Installed)
	if err != nil {
		return bundled{}, err
	}
	within := fence{dir: zod.Dir}
	defines := map[string]string{"process.env.NODE_ENV": `"production"`}
	maps.Copy(defines, s.define)
	r := kept.build(fmt.Sprintf("%+v %+v", s, zod), api.BuildOptions{
		Stdin:         &api.StdinOptions{Contents: s.entry, ResolveDir: zod.Dir, Sourcefile: "opentabs-entry.ts", Loader: api.LoaderTS},
		AbsWorkingDir: zod.Dir,
		Outfile:       "dist/" + bundleName,
		Bundle:        true,
		Format:        api.FormatIIFE,
		Platform:      api.PlatformBrowser,
		Target:        api.ES2022,
		Supported:     loweredAsync,
		TreeShaking:   api.TreeShakingTrue,
		Charset:       api.CharsetUTF8,
		LegalComments: api.LegalCommentsNone,
		Banner:        map[string]string{"js": s.head + "\"use strict\";"},
		Sourcemap:     api.SourceMapExternal,
		Metafile:      true,
		Loader:        assetLoaders,
		Define:        defines,
		Plugins:       []api.Plugin{within.plugin(), s.plugin(zod.Dir), zod.plugin(sources), sources.Plugin()},
		LogLevel:      api.LogLevelSilent,
		LogOverride:   map[string]api.LogLevel{"import-is-undefined": api.LogLevelSilent}, // extraction says it better
	})
	if len(r.Errors) > 0 {
		return bundled{}, &BuildError{Dir: zod.Dir, Problems: within.fromEsbuild(r.Errors)}
	}
	b := bundled{Warnings: within.fromEsbuild(r.Warnings), ForExisting: imports(r.Metafile, existingSDK)}
	for _, file := range r.OutputFiles {
		switch filepath.Base(file.Path) {
		case bundleName:
			if b.Code, err = withOwnAsync(file.Contents); err != nil {
				return bundled{}, err
			}
		case mapName:
			b.SourceMap = file.Contents
		}
	}
	return b, nil
}

// imports reports whether what esbuild tells of a bundle has an import of name.
func imports(metafile, name string) bool {
	var told struct {
		Inputs map[string]struct {
			Imports []struct{ Original string }
		}
	}
	if err := json.Unmarshal([]byte(metafile), &told); err != nil {
		panic("jsbuild: esbuild's metafile: " + err.Error()) // esbuild wrote it just now
	}
	for _, input := range told.Inputs {
		for _, one := range input.Imports {
			if one.Original == name {
				return true
			}
		}
	}
	return false
}

// quote writes s as a JavaScript string.
func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil { // a string always marshals
		panic("jsbuild: " + err.Error())
	}
	return string(text)
}
