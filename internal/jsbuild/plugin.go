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
	// preScriptName is the file of the script that runs before those of the page.
	preScriptName = "pre-script.iife.js"
	// maxAdapterBytes is the largest adapter that loaders take.
	maxAdapterBytes = 5 << 20
)

// Options say how to build a plugin.
type Options struct {
	// Extract is the command that runs [Extract]; the default is this program
	// with the argument "__extract".
	Extract []string
	// ExtractTimeout is how long the plugin's modules may take to load while
	// its tools are read; the default is 30 s. Beyond it the build fails.
	ExtractTimeout time.Duration
	// NoSourceMap leaves out the source map; the default is to write one beside
	// the adapter.
	NoSourceMap bool
	// Out is the directory that the files are written to; it need not exist yet.
	// The default is dist in the plugin's directory.
	Out string
	// Kept makes later builds faster that are given the same one. The default is to
	// keep nothing.
	Kept *Kept
}

// Built is a plugin that was built.
type Built struct {
	// Dir is the plugin's absolute directory.
	Dir string
	// Name is the plugin's name, as agents see it before the "__".
	Name        string
	DisplayName string
	Version     string
	// Hash is the SHA-256 of the adapter's bundle, in hex, as the adapter
	// carries it.
	Hash  string
	Tools []BuiltTool
	// Prompts are the plugin's prompts; most have none.
	Prompts []BuiltPrompt
	// Files are what was written, the adapter first.
	Files []BuiltFile
	// Warnings are what the author should look at.
	Warnings []Problem
	// Took is the time the build took.
	Took time.Duration
}

// BuiltTool is one tool of a plugin that was built.
type BuiltTool struct {
	Name        string
	Description string
}

// BuiltPrompt is one prompt of a plugin that was built.
type BuiltPrompt struct {
	Name        string
	Description string // may be empty
}

// BuiltFile is one file that was written.
type BuiltFile struct {
	// Path is absolute.
	Path string
	// Bytes is the file's size.
	Bytes int
}

// BuildPlugin makes a package of the plugin in dir: it bundles the module of
// package.json's opentabs.entry (src/index.ts by default) into
// dist/adapter.iife.js, that of opentabs.preScript into
// dist/pre-script.iife.js, and reads its tools into dist/tools.json by running
// it in a child process. It goes by the source alone: what an earlier build left
// is not looked at. The same source gives the same bytes.
//
// The error is a *[BuildError] if the plugin is at fault; then nothing was
// written.
func BuildPlugin(ctx context.Context, dir string, o Options) (*Built, error) {
	began := time.Now()
	src, problems, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	zod := findZod(src.Dir)
	made, err := compile(ctx, src, zod, o)
	var wrong *BuildError
	if errors.As(err, &wrong) {
		return nil, &BuildError{Dir: src.Dir, Problems: append(problems, wrong.Problems...)}
	} else if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, &BuildError{Dir: src.Dir, Problems: problems}
	}
	b := &Built{Dir: src.Dir, Name: src.ID.Name, DisplayName: src.ID.DisplayName, Version: src.Version}
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
	b.Took = time.Since(began)
	return b, nil
}

// compiled is what was made of a plugin's source.
type compiled struct {
	Adapter bundled
	// PreScript is nil if the plugin has none.
	PreScript []byte
	Read      extracted
	Warnings  []Problem
}

// compile bundles the scripts and reads the tools, both at once.
func compile(ctx context.Context, src source, zod zodSource, o Options) (compiled, error) {
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
		made, err := bundleScripts(src, adapter, zod, o.Kept)
		done <- result{made, err}
	}()
	read, readErr := readPlugin(ctx, src, zod, o)
	r := <-done
	if r.err != nil { // the reading failed of the same
		return compiled{}, r.err
	}
	r.made.Read = read
	return r.made, readErr
}

// bundleScripts bundles the adapter and the pre-script.
func bundleScripts(src source, main script, zod zodSource, kept *Kept) (compiled, error) {
	adapter, err := bundle(main, zod, kept)
	if err != nil {
		return compiled{}, err
	}
	made := compiled{Adapter: adapter, Warnings: adapter.Warnings}
	what, largest := "adapter", len(adapter.Code)
	if src.PreScript != "" {
		early, err := bundle(preScriptScript(src.PreScript, src.ID.Name), zod, kept)
		if err != nil {
			return compiled{}, err
		}
		if made.PreScript = early.Code; bytes.Contains(early.Code, []byte("zod/v4/")) {
			made.PreScript = append([]byte(notice+"\n"), early.Code...)
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

// tooLarge says that a script is larger than loaders take; nil if it is not.
// plugin.Load checks it too, but only here is something known of the reason.
func tooLarge(what string, bytes int) *Problem {
	if bytes <= maxAdapterBytes {
		return nil
	}
	return &Problem{Text: fmt.Sprintf("the %s would have %.1f MB; keep it below %d MB: leave out large dependencies and data",
		what, float64(bytes)/(1<<20), maxAdapterBytes>>20)}
}

// warningsOf says what is odd about a plugin that can be built.
func warningsOf(src source, zod zodSource, read extracted) []Problem {
	var warnings []Problem
	if zod.Warning != "" {
		warnings = append(warnings, Problem{Text: zod.Warning})
	}
	if src.ConfigSchema != nil && read.ConfigSchema != nil && !sameJSON(src.ConfigSchema, read.ConfigSchema) {
		warnings = append(warnings, Problem{Where: packageFile, Text: "opentabs.configSchema is not that of the plugin's code; the code counts: make both the same, or take it out here"})
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
				"opentabs.%s is %q but the plugin's code says %q; package.json counts: make both the same", field.name, field.pkg, field.code)})
		}
	}
	return warnings
}

// sameJSON reports whether two texts are the same value.
func sameJSON(a, b json.RawMessage) bool {
	var one, other any
	return json.Unmarshal(a, &one) == nil && json.Unmarshal(b, &other) == nil && reflect.DeepEqual(one, other)
}
