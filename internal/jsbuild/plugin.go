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
	toolsName = "tools.json"
	mapName   = bundleName + ".map"
	// preScriptName is the file name of a built pre-script.
	preScriptName = "pre-script.iife.js"
	// maxAdapterBytes limits the size of an adapter. plugin.Load rejects larger ones.
	maxAdapterBytes = 5 << 20
)

// Options configure [BuildPlugin].
type Options struct {
	// Extract is the command that runs [Extract]. Default: this program with the
	// argument "__extract".
	Extract []string
	// ExtractTimeout limits the time to load the plugin's modules when its tools are
	// read. Default: 30 s.
	ExtractTimeout time.Duration
	// NoSourceMap omits the source map. Default: it is written beside the adapter.
	NoSourceMap bool
	// Out is the output directory, which is created if it does not exist. Default: dist
	// in the plugin's directory.
	Out string
	// Cache is a cache that makes repeated builds faster. Default: no cache.
	Cache *BuildCache
}

// BuildResult is the result of [BuildPlugin].
type BuildResult struct {
	// Dir is the plugin's absolute directory.
	Dir string
	// Name is the plugin's name, as agents see it before the "__".
	Name        string
	DisplayName string
	Version     string
	// Hash is the SHA-256 of the adapter's bundle, in hex. The adapter contains this
	// hash too.
	Hash  string
	Tools []BuiltTool
	// Prompts are the plugin's prompts; most have none.
	Prompts []BuiltPrompt
	// Files are the written files, the adapter first.
	Files []BuiltFile
	// Warnings are problems that do not prevent the build.
	Warnings []Problem
	// Duration is the duration of the build.
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
	Description string // may be empty
}

// BuiltFile is one written file.
type BuiltFile struct {
	// Path is absolute.
	Path string
	// Bytes is the file's size.
	Bytes int
}

// BuildPlugin builds the plugin in dir. BuildPlugin bundles opentabs.entry of
// package.json (default src/index.ts) into dist/adapter.iife.js, and opentabs.preScript
// into dist/pre-script.iife.js. BuildPlugin runs the plugin in a child process to write
// its tools to dist/tools.json. BuildPlugin reads only the source, not the files of an
// earlier build. Two builds of the same source write the same bytes.
//
// The error is a *[BuildError] if the plugin's source is the cause. A build with such
// an error writes no file.
func BuildPlugin(ctx context.Context, dir string, o Options) (*BuildResult, error) {
	startTime := time.Now()
	src, problems, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	zod := findZod(src.Dir)
	made, err := compilePlugin(ctx, src, zod, o)
	var wrong *BuildError
	if errors.As(err, &wrong) {
		return nil, &BuildError{Dir: src.Dir, Problems: append(problems, wrong.Problems...)}
	} else if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, &BuildError{Dir: src.Dir, Problems: problems}
	}
	b := &BuildResult{Dir: src.Dir, Name: src.ID.Name, DisplayName: src.ID.DisplayName, Version: src.Version}
	b.Warnings = append(warningsOf(src, zod, made.Read), made.Warnings...)
	for _, tool := range made.Read.Tools {
		b.Tools = append(b.Tools, BuiltTool{Name: tool.Name, Description: tool.Description})
	}
	for _, prompt := range made.Read.Prompts {
		b.Prompts = append(b.Prompts, BuiltPrompt{Name: prompt.Name, Description: prompt.Description})
	}
	if err := b.write(src, made, o); err != nil {
		return nil, err
	}
	b.Duration = time.Since(startTime)
	return b, nil
}

// compiled is the result of compiling a plugin's source.
type compiled struct {
	Adapter bundled
	// PreScript is nil if the plugin has none.
	PreScript []byte
	Read      extracted
	Warnings  []Problem
}

// compilePlugin bundles the scripts and reads the tools concurrently.
func compilePlugin(ctx context.Context, src source, zod zodSource, o Options) (compiled, error) {
	adapter, err := adapterScript(src.Entry, src.ID)
	if err != nil {
		return compiled{}, err
	}
	type result struct {
		made compiled
		err  error
	}
	done := make(chan result, 1)
	go func() {
		made, err := bundleScripts(src, adapter, zod, o.Cache)
		done <- result{made, err}
	}()
	read, readErr := readPlugin(ctx, src, zod, o)
	r := <-done
	if r.err != nil { // reading the tools failed for the same reason
		return compiled{}, r.err
	}
	r.made.Read = read
	return r.made, readErr
}

// bundleScripts bundles the adapter and the pre-script.
func bundleScripts(src source, main script, zod zodSource, cache *BuildCache) (compiled, error) {
	adapter, err := bundleOne(main, zod, cache)
	if err != nil {
		return compiled{}, err
	}
	made := compiled{Adapter: adapter, Warnings: adapter.Warnings}
	what, largest := "adapter", len(adapter.Code)
	if src.PreScript != "" {
		early, err := bundleOne(preScriptScript(src.PreScript, src.ID.Name), zod, cache)
		if err != nil {
			return compiled{}, err
		}
		if made.PreScript = early.Code; bytes.Contains(early.Code, []byte("zod/v4/")) {
			made.PreScript = append([]byte(licenseNotice+"\n"), early.Code...)
		}
		made.Warnings = append(made.Warnings, early.Warnings...)
		if len(made.PreScript) > largest {
			what, largest = "pre-script", len(made.PreScript)
		}
	}
	if p := tooLarge(what, largest); p != nil {
		return compiled{}, &BuildError{Dir: src.Dir, Problems: []Problem{*p}}
	}
	return made, nil
}

// tooLarge returns a problem if a script exceeds maxAdapterBytes. plugin.Load checks the
// size too, but can't name a cause.
func tooLarge(what string, bytes int) *Problem {
	if bytes <= maxAdapterBytes {
		return nil
	}
	return &Problem{Text: fmt.Sprintf("the %s would have %.1f MB; keep it below %d MB: remove large dependencies and data",
		what, float64(bytes)/(1<<20), maxAdapterBytes>>20)}
}

// warningsOf returns warnings about contradictions between package.json and the code,
// and about zod.
func warningsOf(src source, zod zodSource, read extracted) []Problem {
	var warnings []Problem
	if zod.Warning != "" {
		warnings = append(warnings, Problem{Text: zod.Warning})
	}
	if src.ConfigSchema != nil && read.ConfigSchema != nil && !sameJSON(src.ConfigSchema, read.ConfigSchema) {
		warnings = append(warnings, Problem{Where: packageFile, Text: "opentabs.configSchema differs from the plugin's code, which is used; make both the same, or remove it from package.json"})
	}
	described := read.Described
	for _, field := range []struct{ name, code, pkg string }{
		{"displayName", described.DisplayName, src.ID.DisplayName},
		{"description", described.Description, src.ID.Description},
		{"homepage", described.Homepage, src.ID.Homepage},
		{"urlPatterns", strings.Join(described.URLPatterns, ", "), strings.Join(src.ID.URLPatterns, ", ")},
		{"excludePatterns", strings.Join(described.ExcludePatterns, ", "), strings.Join(src.ID.ExcludePatterns, ", ")},
	} {
		if field.code != "" && field.code != field.pkg {
			warnings = append(warnings, Problem{Where: packageFile, Text: fmt.Sprintf(
				"opentabs.%s is %q, which is used, but the plugin's code has %q; make both the same", field.name, field.pkg, field.code)})
		}
	}
	return warnings
}

// sameJSON reports whether two JSON texts have the same value.
func sameJSON(a, b json.RawMessage) bool {
	var one, other any
	return json.Unmarshal(a, &one) == nil && json.Unmarshal(b, &other) == nil && reflect.DeepEqual(one, other)
}
