package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/lazyregexp"
	"opentabs/plugin/schema"
	"opentabs/wire"
)

// Plugin is one loaded plugin package. A loaded Plugin is immutable.
type Plugin struct {
	// Name is the plugin's short name, derived from the npm name in Package; see
	// [NameOf].
	Name    string
	Package string
	Version string
	// DisplayName and Description are texts for users.
	DisplayName string
	Description string
	// Homepage is the http or https URL of the site, or empty.
	Homepage string
	// Dir is the absolute path of the package's folder. Source is how the user installed the
	// package, such as from npm.
	Dir    string
	Source Source
	// Matches and Excludes are match patterns of URLs. A URL that matches Excludes does
	// not match the plugin. The field Matches is empty only for a plugin whose sites come
	// from a url setting that the user has not set.
	Matches  []string
	Excludes []string
	// SDKVersion is the version of the SDK that built the package. SDKVersion is empty
	// for packages of very old SDKs.
	SDKVersion string
	// IsForOriginalSDK is true if the original OpenTabs SDK built the package.
	IsForOriginalSDK bool
	// The field Hash is the SHA-256 of the whole adapter file, in hex.
	Hash string
	// ManifestHash is the SHA-256 of package.json, dist/tools.json and the pre-script
	// together, in hex.
	ManifestHash string
	contentHash  string
	World        wire.World
	// PreScript is true if the plugin has a script that runs before the scripts of the
	// page. PreScriptHash is the SHA-256 of the whole pre-script file, in hex. See
	// [Plugin.PreScriptCode].
	PreScript     bool
	PreScriptHash string
	// Start is when the adapter starts in a document. The field Start is empty if the
	// package does not declare a start.
	Start Start
	// The field HasActivateHook is true if the adapter has an onActivate hook. An adapter with
	// an onActivate hook starts late unless the package declares Start.
	HasActivateHook bool
	// RunsInFrames is true if the adapter may run in frames that have the page's origin.
	RunsInFrames bool
	// Icon is an SVG text of at most 64 KB, or empty. Show the icon only as an image,
	// never as part of a document, because an SVG may contain scripts.
	Icon string
	// Tools has at least one element. Tools are in the order in which the package lists
	// them.
	Tools []*Tool
	// Prompts are in the order in which the package lists them. No prompt has the same
	// name as a tool.
	Prompts []*Prompt
	// The field Settings contains the settings that the user can set, sorted by key.
	Settings []Setting
	// The field Instances contains the sites that the user has set, with their names; see
	// [dispatch.Tool]. OpenURL is the URL that opentabs opens if a call finds no matching tab.
	// OpenURL is empty if the plugin's author declared no page to open.
	Instances []dispatch.Instance
	OpenURL   string
	// The field Warnings contains problems of the package that do not keep the plugin
	// from working.
	Warnings []string

	isBuiltin         bool
	matches, excludes []Pattern
	onFileChange      func()
}

// Start is the moment at which an adapter starts in a document.
type Start string

const (
	// StartAtDocumentStart starts the adapter before the scripts of the page.
	StartAtDocumentStart Start = "document_start"
	// StartAtDocumentIdle starts the adapter after the DOM is complete.
	StartAtDocumentIdle Start = "document_idle"
)

// Info returns the plugin's description for browsers. Info leaves the fields Script, Base
// and File empty.
func (p *Plugin) Info() wire.PluginInfo {
	return wire.PluginInfo{
		Name: p.Name, DisplayName: p.DisplayName, Hash: p.Hash, World: p.World,
		Matches: p.Matches, Excludes: p.Excludes,
		AllFrames: p.PreScript || p.RunsInFrames, RunsInFrames: p.RunsInFrames,
		StartsEarly: p.Start == StartAtDocumentStart, PreScript: p.PreScript,
	}
}

// ContentHash returns the SHA-256, in hex, of everything that a review covers: the
// adapter, the pre-script and the descriptions.
func (p *Plugin) ContentHash() string { return p.contentHash }

// setContentHash must be called when the fields Hash and ManifestHash are complete. Each call
// of a tool reads the hash several times, so it is computed once.
func (p *Plugin) setContentHash() {
	checksum := sha256.Sum256([]byte(p.Hash + "\n" + p.ManifestHash))
	p.contentHash = hex.EncodeToString(checksum[:])
}

// RequestReload makes the registry load the plugin again. Call RequestReload if a file of the
// plugin on disk differs from the loaded file.
func (p *Plugin) RequestReload() {
	if p.onFileChange != nil {
		p.onFileChange()
	}
}

// MatchesURL reports whether the plugin runs in a document with the given URL.
func (p *Plugin) MatchesURL(url string) bool {
	return matchesAny(p.matches, url) && !matchesAny(p.excludes, url)
}

// Tool is one function of a plugin that agents can call.
type Tool struct {
	Plugin *Plugin
	Name   string
	// DisplayName is the tool's name for users; the default is Name.
	DisplayName string
	// Description is for agents, at most 1,000 characters.
	Description string
	// Group is the heading under which surfaces list the tool.
	Group string
	// Icon is the name of a Lucide icon; the default is "wrench".
	Icon string
	// InputSchema is a compact JSON Schema for the tool's arguments, whose root is an
	// object. A property with a default is never required.
	InputSchema json.RawMessage
	// OutputSchema is a compact JSON Schema for the tool's result.
	OutputSchema json.RawMessage
	Annotations  Annotations
	// IdleLimit and HardLimit are the tool's time limits. If IdleLimit or HardLimit is zero,
	// the server's limit applies. The server's hard limit applies to each call, even if the
	// tool's HardLimit is longer than the server's.
	IdleLimit time.Duration
	HardLimit time.Duration
	// TargetKind is the kind of target in which the tool runs. IsExclusive is true for a tool
	// that changes its tab; see [dispatch.Tool]. Only built-in tools set TargetKind and
	// IsExclusive.
	TargetKind  dispatch.TargetKind
	IsExclusive bool
	// IsOffByDefault is true for a built-in tool that is off until the user sets a permission for the
	// tool itself. A tool with IsOffByDefault stays off even if the user allows its whole plugin.
	IsOffByDefault bool
	// The field Undo defines how opentabs undoes a finished call of the tool. The field Undo
	// is nil if the author declares no undo.
	Undo *Undo

	arguments schema.Validator
	results   schema.Validator
	// outputKindOnce computes hasObjectOutput once, because each call needs hasObjectOutput.
	outputKindOnce  sync.Once
	hasObjectOutput bool
}

// Annotations are the author's hints about a tool, as in MCP. A nil or empty field of
// Annotations means that the author gives no hint.
type Annotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// fullNameGrammar matches the full tool names that MCP clients accept.
var fullNameGrammar = lazyregexp.New(`^[A-Za-z0-9_-]{1,128}$`)

// FullName returns the tool's name for agents, such as messages__export; see
// [dispatch.Tool.FullName].
func (t *Tool) FullName() string { return t.Dispatch().FullName() }

// IsReadOnly reports whether the author declares that the tool changes nothing.
func (t *Tool) IsReadOnly() bool { return t.Annotations.ReadOnly != nil && *t.Annotations.ReadOnly }

// Dispatch returns the tool's description for the dispatcher.
func (t *Tool) Dispatch() dispatch.Tool {
	return dispatch.Tool{
		Output: t,
		Plugin: t.Plugin.Name, Name: t.Name,
		PluginName: t.Plugin.DisplayName, Matches: t.Plugin.Matches, IdleLimit: t.IdleLimit, HardLimit: t.HardLimit,
		Instances: t.Plugin.Instances, OpenURL: t.Plugin.OpenURL, TargetKind: t.TargetKind, IsExclusive: t.IsExclusive,
		Summary: dispatch.ToolSummary{PluginName: t.Plugin.DisplayName, Title: t.DisplayName, Description: t.Description, IsReadOnly: t.IsReadOnly()},
	}
}

// ToolsByCategory returns the plugin's tools grouped by category, with the categories in
// the order of their first tools. Tools without a category are last.
func (p *Plugin) ToolsByCategory() []*Tool {
	rank := map[string]int{}
	for i, t := range p.Tools {
		if _, hasRank := rank[t.Group]; !hasRank {
			rank[t.Group] = i
		}
	}
	rank[""] = len(p.Tools)
	tools := slices.Clone(p.Tools)
	slices.SortStableFunc(tools, func(a, b *Tool) int { return rank[a.Group] - rank[b.Group] })
	return tools
}

const ungroupedToolsHeading = "Other"

// EachCategory calls f with each category and the category's tools. For a plugin without
// categories, EachCategory calls f once, with the category "".
func (p *Plugin) EachCategory(f func(category string, tools []*Tool)) {
	tools := p.ToolsByCategory()
	for len(tools) > 0 {
		n := 1
		for n < len(tools) && tools[n].Group == tools[0].Group {
			n++
		}
		category := tools[0].Group
		if category == "" && n < len(p.Tools) {
			category = ungroupedToolsHeading
		}
		f(category, tools[:n])
		tools = tools[n:]
	}
}
