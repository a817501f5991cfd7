package jsbuild

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	sdkts "opentabs/sdk-ts"
)

const (
	toolsName = "tools.json"
	mapName   = bundleName + ".map"
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
// dist/adapter.iife.js, and reads its tools into dist/tools.json by running
// it in a child process. The same source gives the same bytes.
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
	adapter, read, err := compile(ctx, src, zod, o)
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
	b.Warnings = append(warningsOf(src, zod, read), adapter.Warnings...)
	for _, tool := range read.Tools {
		b.Tools = append(b.Tools, BuiltTool{Name: tool.Name, Description: tool.Description})
	}
	for _, prompt := range read.Prompts {
		b.Prompts = append(b.Prompts, BuiltPrompt{Name: prompt.Name, Description: prompt.Description})
	}
	if err := b.write(src, adapter, read, o); err != nil {
		return nil, err
	}
	b.Took = time.Since(began)
	return b, nil
}

// compile bundles the adapter and reads the tools, both at once.
func compile(ctx context.Context, src source, zod zodSource, o Options) (bundled, extracted, error) {
	entry, err := adapterEntry(src.Entry, src.ID)
	if err != nil {
		return bundled{}, extracted{}, err
	}
	type result struct {
		adapter bundled
		err     error
	}
	done := make(chan result, 1)
	go func() {
		adapter, err := bundle(entry, zod)
		done <- result{adapter, err}
	}()
	read, readErr := readPlugin(ctx, src, zod, o)
	r := <-done
	if r.err != nil { // the reading failed of the same
		return bundled{}, extracted{}, r.err
	}
	if p := tooLarge(len(r.adapter.Code)); p != nil {
		return bundled{}, extracted{}, &BuildError{Dir: src.Dir, Problems: []Problem{*p}}
	}
	return r.adapter, read, readErr
}

// tooLarge says that an adapter is larger than loaders take; nil if it is not.
// plugin.Load checks it too, but only here is something known of the reason.
func tooLarge(bytes int) *Problem {
	if bytes <= maxAdapterBytes {
		return nil
	}
	return &Problem{Text: fmt.Sprintf("the adapter would have %.1f MB; keep it below %d MB: leave out large dependencies and data",
		float64(bytes)/(1<<20), maxAdapterBytes>>20)}
}

// warningsOf says what is odd about a plugin that can be built.
func warningsOf(src source, zod zodSource, read extracted) []Problem {
	var warnings []Problem
	if zod.Warning != "" {
		warnings = append(warnings, Problem{Text: zod.Warning})
	}
	if src.PreScript != "" {
		warnings = append(warnings, Problem{Where: packageFile, Text: "opentabs.preScript is left out: this version builds no pre-scripts yet"})
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

// write checks the package as a whole and writes its files.
func (b *Built) write(src source, adapter bundled, read extracted, o Options) error {
	code, hash := lock(adapter.Code, src.ID.Name)
	b.Hash = hash
	if !o.NoSourceMap {
		code = append(code, "//# sourceMappingURL="+mapName+"\n"...)
	}
	tools, err := read.toolsFile()
	if err != nil {
		return err
	}
	warnings, problems, err := checkPackage(src.Text, code, tools)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return &BuildError{Dir: src.Dir, Problems: problems}
	}
	b.Warnings = append(b.Warnings, warnings...)
	out := o.Out
	if out == "" {
		out = filepath.Join(src.Dir, outputDir)
	}
	files := []struct {
		name    string
		content []byte
	}{{bundleName, code}, {mapName, adapter.SourceMap}, {toolsName, tools}}
	for _, file := range files {
		name := filepath.Join(out, file.name)
		if file.name == mapName && o.NoSourceMap {
			if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("remove the former source map: %w", err)
			}
			continue
		}
		if err := writeFile(name, file.content); err != nil {
			return err
		}
		b.Files = append(b.Files, BuiltFile{Path: name, Bytes: len(file.content)})
	}
	return nil
}

// extracted is what a plugin says of itself; the JSON names are those of
// Extracted in sdk-ts/src/extract/extract.ts.
type extracted struct {
	Tools        []extractedTool   `json:"tools"`
	Prompts      []extractedPrompt `json:"prompts"`
	ConfigSchema json.RawMessage   `json:"configSchema"`
	Described    identity          `json:"described"`
	Problems     []string          `json:"problems"`
}

// extractedTool is an entry of tools.json; the field order is that of the file.
type extractedTool struct {
	Name         string          `json:"name"`
	DisplayName  string          `json:"displayName"`
	Description  string          `json:"description"`
	Summary      string          `json:"summary,omitempty"`
	Icon         string          `json:"icon"`
	Group        string          `json:"group,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`
	Limits       json.RawMessage `json:"limits,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

// extractedPrompt is an entry of the prompts of tools.json.
type extractedPrompt struct {
	Name        string          `json:"name"`
	DisplayName string          `json:"displayName"`
	Description string          `json:"description,omitempty"`
	Limits      json.RawMessage `json:"limits,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// toolsFile returns dist/tools.json.
func (e extracted) toolsFile() ([]byte, error) {
	file := struct {
		SDKVersion   string            `json:"sdkVersion"`
		ConfigSchema json.RawMessage   `json:"configSchema,omitempty"`
		Tools        []extractedTool   `json:"tools"`
		Prompts      []extractedPrompt `json:"prompts,omitempty"`
	}{sdkts.Version(), e.ConfigSchema, e.Tools, e.Prompts}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(file); err != nil {
		return nil, fmt.Errorf("encode the plugin's tools: %w", err)
	}
	return b.Bytes(), nil
}

// readPlugin runs the plugin's modules in a child process and returns what the
// plugin says of itself.
func readPlugin(ctx context.Context, src source, zod zodSource, o Options) (extracted, error) {
	argv := o.Extract
	if len(argv) == 0 {
		self, err := os.Executable()
		if err != nil {
			return extracted{}, fmt.Errorf("find this program: %w", err)
		}
		argv = []string{self, "__extract"}
	}
	timeout := o.ExtractTimeout
	if timeout <= 0 {
		timeout = defaultExtractTimeout
	}
	script, err := bundle(extractEntry(src.Entry), zod)
	if err != nil {
		return extracted{}, err
	}
	answer, err := runExtract(ctx, argv, script.Code, timeout)
	if err != nil {
		return extracted{}, err
	}
	if problem := answer.problem(script, timeout); problem != nil {
		return extracted{}, &BuildError{Dir: src.Dir, Problems: []Problem{*problem}}
	}
	var read extracted
	if err := json.Unmarshal(answer.Extracted, &read); err != nil {
		return extracted{}, &BuildError{Dir: src.Dir, Problems: []Problem{{Where: src.Entry, Text: "the plugin's description of itself can't be read: " + err.Error()}}}
	}
	if len(read.Problems) > 0 {
		wrong := &BuildError{Dir: src.Dir}
		for _, text := range slices.Compact(read.Problems) {
			wrong.Problems = append(wrong.Problems, Problem{Where: src.Entry, Text: text})
		}
		return extracted{}, wrong
	}
	return read, nil
}

// problem says why the plugin could not be read; nil if it could.
func (a extractAnswer) problem(script bundled, timeout time.Duration) *Problem {
	where := script.place(a.Stack)
	switch {
	case a.Limit == "time":
		return &Problem{Where: where, Text: fmt.Sprintf(
			"the plugin's modules did not finish loading within %v; look for an endless loop, and move work into handlers or onActivate", timeout)}
	case a.Limit == "memory":
		return &Problem{Where: where, Text: fmt.Sprintf(
			"the plugin's modules needed more than %d MB to load; move large data out of them", extractMemoryBytes>>20)}
	case a.Error != "":
		return &Problem{Where: where, Text: fmt.Sprintf(
			"the plugin's modules could not be loaded: %s; move code that needs the page into isReady, onActivate or a handler", a.Error)}
	}
	return nil
}
