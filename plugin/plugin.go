package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"time"

	"opentabs/dispatch"
	"opentabs/plugin/schema"
	"opentabs/wire"
)

// Plugin is one loaded package.
type Plugin struct {
	// Name is derived from Package, the name that the package has for npm; see
	// [NameOf].
	Name    string
	Package string
	Version string
	// DisplayName and Description are for people.
	DisplayName string
	Description string
	// Homepage is an http or https URL, or empty.
	Homepage string
	// Dir is the package's absolute path, Source how it came there.
	Dir    string
	Source Source
	// Matches and Excludes are match patterns; excludes win. Matches is empty
	// only for a plugin whose tabs a setting names, before that is set.
	Matches  []string
	Excludes []string
	// SDKVersion is what built the package; empty for old packages.
	SDKVersion string
	// Legacy says that the package was built by the existing tool chain.
	Legacy bool
	// Hash is the SHA-256 of the whole adapter file, in hex.
	Hash string
	// ManifestHash is the SHA-256 of package.json, dist/tools.json and the
	// pre-script, in hex.
	ManifestHash string
	World        wire.World
	// PreScript says that the plugin has a script that runs before those of the
	// page; PreScriptHash is the SHA-256 of its whole file, in hex. See
	// [Plugin.PreScriptCode].
	PreScript     bool
	PreScriptHash string
	// Start is when the adapter is to start in a document; empty if the package does
	// not say.
	Start Start
	// Activates says that the adapter has an onActivate hook, which starts it late
	// if the package does not say otherwise.
	Activates bool
	// Frames says that the adapter may run in frames of the page's own origin.
	Frames bool
	// Icon is the text of an SVG of at most 64 KB, or empty. It is to be shown as
	// an image only, never as part of a document: its author may have put scripts
	// in it.
	Icon string
	// Tools are in the order of the package, at least one.
	Tools []*Tool
	// Prompts are in the order of the package; most plugins have none. No prompt
	// has the name of a tool.
	Prompts []*Prompt
	// Settings are what a person can set, in the order of their keys; most plugins
	// have none.
	Settings []Setting
	// Instances are the sites that the person has set, by the names they gave
	// them; see [dispatch.Tool]. OpensAt is where calls may open a tab, or empty.
	Instances []dispatch.Instance
	OpensAt   string
	// Warnings say what is odd about the package but does not keep it from
	// working.
	Warnings []string

	matches, excludes []Pattern
	// changed is called when a file is not what was loaded; nil for none.
	changed func()
}

// Start is when an adapter starts in a document.
type Start string

const (
	// StartAtOnce is before the page's own scripts.
	StartAtOnce Start = "document_start"
	// StartIdle is when the DOM is there.
	StartIdle Start = "document_idle"
)

// Info returns the plugin as a browser needs it, without Script, Base and File.
func (p *Plugin) Info() wire.PluginInfo {
	return wire.PluginInfo{
		Name: p.Name, DisplayName: p.DisplayName, Hash: p.Hash, World: p.World,
		Matches: p.Matches, Excludes: p.Excludes,
		AllFrames: p.PreScript || p.Frames, Frames: p.Frames,
		Early: p.Start == StartAtOnce, PreScript: p.PreScript,
	}
}

// ContentHash is the SHA-256, in hex, of everything that a review covers: the
// adapter and the descriptions.
func (p *Plugin) ContentHash() string {
	sum := sha256.Sum256([]byte(p.Hash + "\n" + p.ManifestHash))
	return hex.EncodeToString(sum[:])
}

// Distrust makes the registry load the plugin again, because a file on disk is not
// the loaded one.
func (p *Plugin) Distrust() {
	if p.changed != nil {
		p.changed()
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
	// DisplayName is the tool's name for people; it defaults to Name.
	DisplayName string
	// Description is for agents, at most 1,000 characters.
	Description string
	// Summary is a short text for surfaces, Group a section header in them.
	Summary string
	Group   string
	// Icon is a Lucide icon name; it defaults to "wrench".
	Icon string
	// InputSchema is a compact JSON Schema whose root is an object. A property
	// with a default is never in required: it may be left out.
	InputSchema json.RawMessage
	// OutputSchema is a compact JSON Schema.
	OutputSchema json.RawMessage
	Annotations  Annotations
	// Idle and Hard are its own limits; zero means those of the server, whose Hard
	// is never exceeded.
	Idle time.Duration
	Hard time.Duration

	arguments schema.Validator
	results   schema.Validator
}

// Annotations are an author's hints about a tool, as MCP names them; nil and
// empty mean that the author said nothing.
type Annotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// fullNameGrammar is what MCP clients accept as a tool's name.
var fullNameGrammar = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// FullName is the name agents see: <plugin>__<tool>.
func (t *Tool) FullName() string { return t.Plugin.Name + "__" + t.Name }

// Dispatch returns the tool as the dispatcher needs it.
func (t *Tool) Dispatch() dispatch.Tool {
	return dispatch.Tool{
		Plugin: t.Plugin.Name, Name: t.Name,
		PluginName: t.Plugin.DisplayName, Matches: t.Plugin.Matches, Idle: t.Idle, Hard: t.Hard,
		Instances: t.Plugin.Instances, OpensAt: t.Plugin.OpensAt,
	}
}

// Validate checks a call's arguments; see [schema.Validator.CheckArguments].
func (t *Tool) Validate(args json.RawMessage) error {
	return t.arguments.CheckArguments(t.subject(), t.InputSchema, args)
}

// DeclaresResults reports whether results must match the output schema. Packages of
// the original OpenTabs SDK (sdkVersion 0.0.x) have output schemas that were never
// checked, so agents do not receive them.
func (t *Tool) DeclaresResults() bool { return !t.Plugin.Legacy }

// ValidateResult checks what the tool returned, nil for undefined; see
// [schema.Validator.CheckResult].
func (t *Tool) ValidateResult(result json.RawMessage) error {
	return t.results.CheckResult(t.subject(), t.OutputSchema, result)
}

func (t *Tool) subject() schema.Subject {
	return schema.Subject{Name: t.FullName(), Retry: "call the tool again", Plugin: t.Plugin.Name, Version: t.Plugin.Version}
}
