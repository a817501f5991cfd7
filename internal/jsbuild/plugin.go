package jsbuild

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

const (
	toolsName     = "tools.json"
	sourceMapName = bundleFileName + ".map"
	preScriptName = "pre-script.iife.js"
	// plugin.Load rejects adapters that are larger than maxAdapterBytes.
	maxAdapterBytes = 5 << 20
)

// Options configure [BuildPlugin].
type Options struct {
	// Extract is the command line that runs [Extract]. The default Extract is the
	// executable of the running process with the argument "__extract".
	Extract []string
	// ExtractTimeout limits how long the plugin's modules may take to load when opentabs
	// reads the plugin's tools. The default ExtractTimeout is 30 s.
	ExtractTimeout time.Duration
	// Out is the path of the directory in which BuildPlugin writes the built files. If
	// the directory does not exist, BuildPlugin creates it. The default Out is dist in
	// the plugin's directory.
	Out string
	// Cache is a BuildCache that speeds up repeated builds of the same plugin. By
	// default, a build uses no cache.
	Cache *BuildCache
}

// BuildResult describes a plugin that [BuildPlugin] built.
type BuildResult struct {
	// Dir is the plugin's directory as an absolute path.
	Dir string
	// Name is the plugin's name, which agents see before the "__" of tool names.
	Name        string
	DisplayName string
	Version     string
	// The field Hash is the SHA-256 of the adapter's bundle, in hex. The last statement
	// of the adapter also contains the hash of the bundle.
	Hash  string
	Tools []BuiltTool
	// The field Prompts contains the plugin's prompts; most plugins have none.
	Prompts []BuiltPrompt
	// The field Files contains the files that the build wrote, the adapter first.
	Files []BuiltFile
	// The field Warnings contains problems that do not prevent the build.
	Warnings []Problem
	// Duration is the time that the build took.
	Duration time.Duration
}

// BuiltTool is one tool of a built plugin.
type BuiltTool struct {
	Name        string
	Description string
}

// BuiltPrompt is one prompt of a built plugin.
type BuiltPrompt struct {
	Name        string
	Description string // Description is empty if the prompt has no description
}

// BuiltFile is one file that a build wrote.
type BuiltFile struct {
	// Path is the absolute path of the file.
	Path string
	// Bytes is the size of the file, in bytes.
	Bytes int
}

// BuildPlugin builds the plugin in dir. BuildPlugin bundles opentabs.entry of package.json (default src/index.ts) into
// dist/adapter.iife.js, and opentabs.preScript into dist/pre-script.iife.js. To write the tools to dist/tools.json,
// BuildPlugin runs the plugin in a child process. Files of an earlier build do not affect a new build. Two builds of
// the same source write the same bytes.
//
// If the plugin's source does not compile, the error of BuildPlugin is a *[BuildError]. If BuildPlugin returns an
// error, BuildPlugin has written no file.
func BuildPlugin(ctx context.Context, dir string, o Options) (*BuildResult, error) {
	startTime := time.Now()
	pluginSource, problems, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	zod := findZod(pluginSource.Dir)
	compiledPlugin, err := compilePlugin(ctx, pluginSource, zod, o)
	var buildErr *BuildError
	if errors.As(err, &buildErr) {
		return nil, &BuildError{Dir: pluginSource.Dir, Problems: append(problems, buildErr.Problems...)}
	} else if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, &BuildError{Dir: pluginSource.Dir, Problems: problems}
	}
	b := &BuildResult{Dir: pluginSource.Dir, Name: pluginSource.ID.Name, DisplayName: pluginSource.ID.DisplayName, Version: pluginSource.Version}
	b.Warnings = append(findWarnings(pluginSource, zod, compiledPlugin.Extracted), compiledPlugin.Warnings...)
	for _, tool := range compiledPlugin.Extracted.Tools {
		b.Tools = append(b.Tools, BuiltTool{Name: tool.Name, Description: tool.Description})
	}
	for _, prompt := range compiledPlugin.Extracted.Prompts {
		b.Prompts = append(b.Prompts, BuiltPrompt{Name: prompt.Name, Description: prompt.Description})
	}
	if err := b.write(pluginSource, compiledPlugin, o); err != nil {
		return nil, err
	}
	b.Duration = time.Since(startTime)
	return b, nil
}

// compiledPlugin contains the code and the descriptions that a build derives from a
// plugin's source.
type compiledPlugin struct {
	Adapter bundledScript
	// PreScript is the code of the pre-script; nil if the plugin has no pre-script.
	PreScript []byte
	Extracted extractedPlugin
	Warnings  []Problem
}

// If a source file changes during a build, compilePlugin bundles and runs the plugin again.
func compilePlugin(ctx context.Context, builtSource pluginSource, zod zodSource, o Options) (compiledPlugin, error) {
	for range maxCompileAttempts {
		compiledPlugin, extractScript, err := tryCompile(ctx, builtSource, zod, o)
		if err != nil || hasSameSource(compiledPlugin.Adapter, extractScript) {
			return compiledPlugin, err
		}
	}
	return compiledPlugin{}, errUnstableSource(builtSource.Dir)
}

func errUnstableSource(dir string) error {
	return &BuildError{Dir: dir, Problems: []Problem{{Text: "the plugin's files changed again and again while they were built; build again when they no longer change"}}}
}

func tryCompile(ctx context.Context, builtSource pluginSource, zod zodSource, o Options) (compiledPlugin, bundledScript, error) {
	adapter, err := adapterScript(builtSource.Entry, builtSource.ID)
	if err != nil {
		return compiledPlugin{}, bundledScript{}, err
	}
	type result struct {
		compiledPlugin compiledPlugin
		err            error
	}
	done := make(chan result, 1)
	go func() {
		compiledPlugin, err := bundleScripts(builtSource, adapter, zod, o.Cache)
		done <- result{compiledPlugin, err}
	}()
	extractedPlugin, readScript, extractErr := readPlugin(ctx, builtSource, zod, o)
	r := <-done
	if r.err != nil { // if the source does not compile, r.err and extractErr have the same cause
		return compiledPlugin{}, bundledScript{}, r.err
	}
	r.compiledPlugin.Extracted = extractedPlugin
	return r.compiledPlugin, readScript, extractErr
}

func bundleScripts(builtSource pluginSource, mainScript script, zod zodSource, cache *BuildCache) (compiledPlugin, error) {
	adapter, err := bundlePluginScript(mainScript, zod, cache)
	if err != nil {
		return compiledPlugin{}, err
	}
	if adapter.MinifiedCode, adapter.MinifiedMap, err = minifyLibraries(adapter); err != nil {
		return compiledPlugin{}, err
	}
	compiledPluginValue := compiledPlugin{Adapter: adapter, Warnings: adapter.Warnings}
	scriptKind, size := "adapter", len(adapter.MinifiedCode)
	if builtSource.PreScript != "" {
		preScript, err := bundlePluginScript(newPreScript(builtSource.PreScript, builtSource.ID.Name), zod, cache)
		if err != nil {
			return compiledPlugin{}, err
		}
		if preScript.MinifiedCode, _, err = minifyLibraries(preScript); err != nil {
			return compiledPlugin{}, err
		}
		if compiledPluginValue.PreScript = preScript.MinifiedCode; bytes.Contains(preScript.Code, []byte("zod/v4/")) {
			compiledPluginValue.PreScript = append([]byte(licenseNotice+"\n"), preScript.MinifiedCode...)
		}
		compiledPluginValue.Warnings = append(compiledPluginValue.Warnings, preScript.Warnings...)
		if len(compiledPluginValue.PreScript) > size {
			scriptKind, size = "pre-script", len(compiledPluginValue.PreScript)
		}
	}
	if p := checkSize(scriptKind, size); p != nil {
		return compiledPlugin{}, &BuildError{Dir: builtSource.Dir, Problems: []Problem{*p}}
	}
	return compiledPluginValue, nil
}

// plugin.Load also checks the size of a script, but cannot name the cause of a large script.
func checkSize(scriptKind string, bytes int) *Problem {
	if bytes <= maxAdapterBytes {
		return nil
	}
	return &Problem{Text: fmt.Sprintf("the %s would have %.1f MB; keep it below %d MB: remove large dependencies and data",
		scriptKind, float64(bytes)/(1<<20), maxAdapterBytes>>20)}
}

func findWarnings(builtSource pluginSource, zod zodSource, extractedPluginValue extractedPlugin) []Problem {
	var warnings []Problem
	if zod.Warning != "" {
		warnings = append(warnings, Problem{Text: zod.Warning})
	}
	if builtSource.ConfigSchema != nil && extractedPluginValue.ConfigSchema != nil && !isSameJSON(builtSource.ConfigSchema, extractedPluginValue.ConfigSchema) {
		warnings = append(warnings, Problem{Location: packageFile, Text: "opentabs.configSchema differs from the plugin's code, which is used; make both the same, or remove it from package.json"})
	}
	description := extractedPluginValue.Identity
	for _, field := range []struct{ name, code, packageValue string }{
		{"displayName", description.DisplayName, builtSource.ID.DisplayName},
		{"description", description.Description, builtSource.ID.Description},
		{"homepage", description.Homepage, builtSource.ID.Homepage},
		{"urlPatterns", strings.Join(description.URLPatterns, ", "), strings.Join(builtSource.ID.URLPatterns, ", ")},
		{"excludePatterns", strings.Join(description.ExcludePatterns, ", "), strings.Join(builtSource.ID.ExcludePatterns, ", ")},
	} {
		if field.code != "" && field.code != field.packageValue {
			warnings = append(warnings, Problem{Location: packageFile, Text: fmt.Sprintf(
				"opentabs.%s is %q, which is used, but the plugin's code has %q; make both the same", field.name, field.packageValue, field.code)})
		}
	}
	return warnings
}

func isSameJSON(a, b json.RawMessage) bool {
	var firstValue, secondValue any
	return json.Unmarshal(a, &firstValue) == nil && json.Unmarshal(b, &secondValue) == nil && reflect.DeepEqual(firstValue, secondValue)
}
