package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/lazyregexp"
	"opentabs/plugin/schema"
	"opentabs/wire"
)

// Plugin is one loaded package.
type Plugin struct {
	// Name is derived from Package, the npm name of the package; see [NameOf].
	Name    string
	Package string
	Version string
	// DisplayName and Description are for users.
	DisplayName string
	Description string
	// Homepage is an http or https URL, or empty.
	Homepage string
	// Dir is the absolute path of the package. Source is the way the package was
	// installed.
	Dir    string
	Source Source
	// Matches and Excludes are match patterns; excludes take precedence. Matches is
	// empty only for a plugin whose sites come from a setting that is not set.
	Matches  []string
	Excludes []string
	// SDKVersion is the version of the SDK that built the package; empty for old
	// packages.
	SDKVersion string
	// IsForOriginalSDK reports that the original OpenTabs SDK built the package.
	IsForOriginalSDK bool
	// Hash is the SHA-256 of the whole adapter file, in hex.
	Hash string
	// ManifestHash is the SHA-256 of package.json, dist/tools.json and the
	// pre-script, in hex.
	ManifestHash string
	World        wire.World
	// PreScript reports that the plugin has a script that runs before the scripts of
	// the page. PreScriptHash is the SHA-256 of the whole pre-script file, in hex. See
	// [Plugin.PreScriptCode].
	PreScript     bool
	PreScriptHash string
	// Start is when the adapter starts in a document; empty if the package declares no
	// start.
	Start Start
	// Activates reports that the adapter has an onActivate hook. An adapter with an
	// onActivate hook starts late unless the package declares Start.
	Activates bool
	// RunsInFrames reports that the adapter may run in frames of the page's origin.
	RunsInFrames bool
	// Icon is an SVG of at most 64 KB, or empty. Show the icon only as an image, never
	// as part of a document, because an SVG may contain scripts.
	Icon string
	// Tools has at least one element, in the order of the package.
	Tools []*Tool
	// Prompts are in the order of the package. No prompt has the name of a tool.
	Prompts []*Prompt
	// Settings are the settings that the user can set, sorted by key.
	Settings []Setting
	// Instances are the sites that the user has set, by name; see [dispatch.Tool].
	// OpensAt is the page that calls may open, or empty.
	Instances []dispatch.Instance
	OpensAt   string
	// Warnings are problems that do not keep the plugin from working.
	Warnings []string

	isBuiltin         bool
	matches, excludes []Pattern
	// onFileChange is called when a file on disk differs from the loaded file; nil for
	// no call.
	onFileChange func()
}

// Start is when an adapter starts in a document.
type Start string

const (
	// StartAtOnce starts the adapter before the scripts of the page.
	StartAtOnce Start = "document_start"
	// StartIdle starts the adapter after the DOM is complete.
	StartIdle Start = "document_idle"
)

// Info returns the plugin for browsers, without Script, Base and File.
func (p *Plugin) Info() wire.PluginInfo {
	return wire.PluginInfo{
		Name: p.Name, DisplayName: p.DisplayName, Hash: p.Hash, World: p.World,
		Matches: p.Matches, Excludes: p.Excludes,
		AllFrames: p.PreScript || p.RunsInFrames, RunsInFrames: p.RunsInFrames,
		StartsEarly: p.Start == StartAtOnce, PreScript: p.PreScript,
	}
}

// ContentHash is the SHA-256, in hex, of everything that a review covers: the
// adapter and the descriptions.
func (p *Plugin) ContentHash() string {
	sum := sha256.Sum256([]byte(p.Hash + "\n" + p.ManifestHash))
	return hex.EncodeToString(sum[:])
}

// RequestReload makes the registry load the plugin again, because a file on disk
// differs from the loaded file.
func (p *Plugin) RequestReload() {
	if p.onFileChange != nil {
		p.onFileChange()
	}
}

// MatchesURL reports whether the plugin runs in a document with this URL.
func (p *Plugin) MatchesURL(url string) bool {
	return matchesAny(p.matches, url) && !matchesAny(p.excludes, url)
}

// Tool is one function of a plugin.
type Tool struct {
	Plugin *Plugin
	Name   string
	// DisplayName is the name for users; the default is Name.
	DisplayName string
	// Description is for agents, at most 1,000 characters.
	Description string
	// Group is the heading under which surfaces list the tool.
	Group string
	// Icon is a Lucide icon name; it defaults to "wrench".
	Icon string
	// InputSchema is a compact JSON Schema whose root is an object. A property with a
	// default is never required.
	InputSchema json.RawMessage
	// OutputSchema is a compact JSON Schema.
	OutputSchema json.RawMessage
	Annotations  Annotations
	// IdleLimit and HardLimit are the limits of the tool; zero means the limits of the
	// server. Each call also ends at the hard limit of the server.
	IdleLimit time.Duration
	HardLimit time.Duration
	// Place is where the tool runs, and IsExclusive is set if it changes its tab; see
	// [dispatch.Tool]. Tools of packages have the zero values.
	Place       dispatch.Place
	IsExclusive bool
	// IsOptIn is true for a tool of a built-in plugin that is off until the user sets a
	// permission for the tool. The permission of the plugin is not sufficient.
	IsOptIn bool
	// Undo is how a done call of the tool is undone; nil if the author declares nothing.
	Undo *Undo

	arguments schema.Validator
	results   schema.Validator
}

// Annotations are the author's hints about a tool, as in MCP; nil and empty mean that
// there is no hint.
type Annotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// fullNameGrammar matches the tool names that MCP clients accept.
var fullNameGrammar = lazyregexp.New(`^[A-Za-z0-9_-]{1,128}$`)

// FullName returns the name that agents see; see [dispatch.Tool.FullName].
func (t *Tool) FullName() string { return t.Dispatch().FullName() }

// IsReadOnly reports whether the author declares that the tool changes nothing.
func (t *Tool) IsReadOnly() bool { return t.Annotations.ReadOnly != nil && *t.Annotations.ReadOnly }

// Dispatch returns the tool for the dispatcher.
func (t *Tool) Dispatch() dispatch.Tool {
	return dispatch.Tool{
		Plugin: t.Plugin.Name, Name: t.Name,
		PluginName: t.Plugin.DisplayName, Matches: t.Plugin.Matches, IdleLimit: t.IdleLimit, HardLimit: t.HardLimit,
		Instances: t.Plugin.Instances, OpenURL: t.Plugin.OpensAt, Place: t.Place, IsExclusive: t.IsExclusive,
		About: dispatch.ToolAbout{PluginName: t.Plugin.DisplayName, Title: t.DisplayName, Description: t.Description, IsReadOnly: t.IsReadOnly()},
	}
}

// ToolsByCategory returns the tools grouped by category, in the order of the first tool
// of each category. Tools without a category are last.
func (p *Plugin) ToolsByCategory() []*Tool {
	rank := map[string]int{}
	for i, t := range p.Tools {
		if _, isRanked := rank[t.Group]; !isRanked {
			rank[t.Group] = i
		}
	}
	rank[""] = len(p.Tools)
	tools := slices.Clone(p.Tools)
	slices.SortStableFunc(tools, func(a, b *Tool) int { return rank[a.Group] - rank[b.Group] })
	return tools
}

// otherTools is the heading of the tools without a category, if some tools have a
// category.
const otherTools = "Other"

// EachCategory calls f with each category and its tools. A plugin without categories has
// one category, "".
func (p *Plugin) EachCategory(f func(category string, tools []*Tool)) {
	tools := p.ToolsByCategory()
	for len(tools) > 0 {
		n := 1
		for n < len(tools) && tools[n].Group == tools[0].Group {
			n++
		}
		category := tools[0].Group
		if category == "" && n < len(p.Tools) {
			category = otherTools
		}
		f(category, tools[:n])
		tools = tools[n:]
	}
}
