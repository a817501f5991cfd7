package jsbuild

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"opentabs/internal/rawjson"
	"opentabs/plugin"
	sdkts "opentabs/sdk-ts"
)

// extractedPlugin is the part of a plugin's description that opentabs reads by running
// the plugin's code. The JSON names of extractedPlugin match the interface Extracted in
// sdk-ts/src/extract/extract.ts.
type extractedPlugin struct {
	Tools        []extractedTool   `json:"tools"`
	Prompts      []extractedPrompt `json:"prompts"`
	ConfigSchema json.RawMessage   `json:"configSchema"`
	Identity     pluginIdentity    `json:"described"`
	Problems     []string          `json:"problems"`
}

// extractedTool is one tool in dist/tools.json, with the fields in the order in which the
// file contains them.
type extractedTool struct {
	Name         string          `json:"name"`
	DisplayName  string          `json:"displayName"`
	Description  string          `json:"description"`
	Summary      string          `json:"summary,omitempty"`
	Icon         string          `json:"icon"`
	Group        string          `json:"group,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`
	Limits       json.RawMessage `json:"limits,omitempty"`
	Undo         json.RawMessage `json:"undo,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

// extractedPrompt is one prompt in dist/tools.json.
type extractedPrompt struct {
	Name        string          `json:"name"`
	DisplayName string          `json:"displayName"`
	Description string          `json:"description,omitempty"`
	Limits      json.RawMessage `json:"limits,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// toolsFile is the content of dist/tools.json, with the fields in the order in which the
// file contains them. The JSON names of toolsFile match the interface Manifest in
// sdk-ts/src/manifest.ts.
type toolsFile struct {
	SDKVersion          string            `json:"sdkVersion"`
	Start               plugin.Start      `json:"start,omitempty"`
	ConfigSchema        json.RawMessage   `json:"configSchema,omitempty"`
	IconSVG             string            `json:"iconSvg,omitempty"`
	IconInactiveSVG     string            `json:"iconInactiveSvg,omitempty"`
	IconDarkSVG         string            `json:"iconDarkSvg,omitempty"`
	IconDarkInactiveSVG string            `json:"iconDarkInactiveSvg,omitempty"`
	PreScriptFile       string            `json:"preScriptFile,omitempty"`
	PreScriptHash       string            `json:"preScriptHash,omitempty"`
	Tools               []extractedTool   `json:"tools"`
	Prompts             []extractedPrompt `json:"prompts,omitempty"`
}

func (e extractedPlugin) toolsFile() toolsFile {
	return toolsFile{SDKVersion: plugin.OwnSDKPrefix + sdkts.Version(), ConfigSchema: e.ConfigSchema, Tools: e.Tools, Prompts: e.Prompts}
}

func (f toolsFile) encode() ([]byte, error) {
	encodedJSON, err := rawjson.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode the plugin's tools: %w", err)
	}
	return rawjson.Indent(encodedJSON), nil
}

func readPlugin(ctx context.Context, builtSource pluginSource, zod zodSource, o Options) (extractedPlugin, bundledScript, error) {
	argv := o.Extract
	if len(argv) == 0 {
		executable, err := os.Executable()
		if err != nil {
			return extractedPlugin{}, bundledScript{}, fmt.Errorf("find this program: %w", err)
		}
		argv = []string{executable, "__extract"}
	}
	timeout := o.ExtractTimeout
	if timeout <= 0 {
		timeout = defaultExtractTimeout
	}
	script, err := bundlePluginScript(extractScript(builtSource.Entry), zod, o.Cache)
	if err != nil {
		return extractedPlugin{}, bundledScript{}, err
	}
	extraction, err := runExtract(ctx, argv, script.Code, timeout, extractKillDelay)
	if err != nil {
		return extractedPlugin{}, bundledScript{}, err
	}
	if buildProblem := extraction.extractProblem(script, timeout); buildProblem != nil {
		return extractedPlugin{}, bundledScript{}, &BuildError{Dir: builtSource.Dir, Problems: []Problem{*buildProblem}}
	}
	var extractedData extractedPlugin
	if err := json.Unmarshal(extraction.Extracted, &extractedData); err != nil {
		return extractedPlugin{}, bundledScript{}, &BuildError{Dir: builtSource.Dir, Problems: []Problem{{Location: builtSource.Entry, Text: "the descriptions of the plugin's tools can't be read: " + err.Error()}}}
	}
	if len(extractedData.Problems) > 0 {
		buildErr := &BuildError{Dir: builtSource.Dir}
		for _, problemText := range slices.Compact(extractedData.Problems) {
			buildErr.Problems = append(buildErr.Problems, Problem{Location: builtSource.Entry, Text: problemText})
		}
		return extractedPlugin{}, bundledScript{}, buildErr
	}
	return extractedData, script, nil
}

func (a extractAnswer) extractProblem(script bundledScript, timeout time.Duration) *Problem {
	location := script.sourceLocation(a.Stack)
	switch {
	case a.Limit == "time":
		return &Problem{Location: location, Text: fmt.Sprintf(
			"the plugin's modules did not finish loading within %v; look for an endless loop, and move work into handlers or onActivate", timeout)}
	case a.Limit == "memory":
		return &Problem{Location: location, Text: fmt.Sprintf(
			"the plugin's modules needed more than %d MB to load; move large data out of them", extractMemoryBytes>>20)}
	case a.Error != "":
		return &Problem{Location: location, Text: fmt.Sprintf(
			"the plugin's modules could not be loaded: %s; move code that needs the page into isReady, onActivate or a handler", a.Error)}
	}
	return nil
}
