package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"opentabs/wire"
)

// Tool names what to run and how long it may take.
type Tool struct {
	Plugin string
	Name   string
	// PluginName is the plugin's name for people; Matches are its URL patterns.
	// Both are used in errors only.
	PluginName string
	Matches    []string
	// Instances are the sites that the plugin knows by its settings, several with
	// one name among them if it has several such settings. Empty for a plugin
	// whose sites are the same for everybody.
	Instances []Instance
	// OpensAt is the URL of the page to open if there is no tab, for calls that
	// may; empty if the plugin has none.
	OpensAt string
	// Prompt says that Name is that of a prompt of the plugin, not of a tool.
	Prompt bool
	// Idle and Hard replace the dispatcher's limits if they are positive. Idle is
	// never longer than Options.MaxIdle, Hard never longer than Options.Hard.
	Idle time.Duration
	Hard time.Duration
}

// FullName is the name agents see: <plugin>__<tool>.
func (t Tool) FullName() string { return t.Plugin + "__" + t.Name }

// Client is who asked for a call.
type Client struct {
	// Session names the MCP session, and is no secret; waiting calls of
	// different sessions take turns.
	Session string
	// Shared says that Session stands for every client of this name, because their
	// protocol has no sessions: nothing can be allowed for one.
	Shared bool
	// Via is the credential that the client came with; empty if that is not known.
	Via Via
	// Token is the name of the client's token; set for ViaToken only. The user gave
	// it, and the server has checked the token.
	Token string
	// Name is what the client calls itself. Any client can claim any name.
	Name string
}

// Via is the credential by which the server knows a client.
type Via string

const (
	// ViaToken is a token of the client alone (opentabs client add).
	ViaToken Via = "token"
	// ViaCommandLine is the administrator's token, which `opentabs call` has.
	ViaCommandLine Via = "command line"
	// ViaStdio is a program of the user that started `opentabs mcp`.
	ViaStdio Via = "stdio"
)

// OwnPrefix begins what our own commands call themselves.
const OwnPrefix = "opentabs "

// Known names the client by what the server knows. Different clients never share
// it but for those that come without a token of their own.
func (c Client) Known() string {
	switch c.Via {
	case ViaToken:
		return "client " + c.Token
	case ViaCommandLine:
		return "the command line"
	case ViaStdio:
		return "stdio client"
	}
	return ""
}

// Identity names the client where permissions are kept for it: by its token alone,
// whatever it calls itself. The user's own programs, which have none, are told
// apart by what they call themselves.
func (c Client) Identity() string {
	if c.Via == ViaToken {
		return c.Known()
	}
	return c.String()
}

// String names the client for people: what the server knows, then what the client
// calls itself.
func (c Client) String() string {
	known := c.Known()
	own := c.Via == ViaCommandLine && strings.HasPrefix(c.Name, OwnPrefix) // a command of ours says no more
	if known == "" || c.Name == "" || c.Name == c.Token || own {
		return cmp.Or(known, c.Name)
	}
	return known + " (" + c.Name + ")"
}

// Call asks for one execution of a tool.
type Call struct {
	Tool Tool
	// Args is a JSON object, validated by the caller.
	Args json.RawMessage
	// Browser and TabID name the target; zero values leave the choice to the
	// dispatcher. Instance is the name of one of Tool.Instances, or empty.
	Browser  string
	TabID    int
	Instance string
	Client   Client
	// Progress takes what an MCP client should receive, one notification at a time,
	// never after Call returned. It may block, which delays this call's
	// notifications and its return. Nil means that the client wants none.
	Progress func(Progress)
	// Asked takes what the call waits for a person for, so that an MCP client can
	// ask its own. It is called on a goroutine of its own for each ticket, also of
	// calls that this one makes; ctx ends when the ticket is settled or withdrawn.
	// It answers by [Dispatcher.Decide]. Nil asks nobody.
	Asked func(ctx context.Context, w Waiting)
	// ParentCallID and ParentNodeID are set for a call that another made.
	ParentCallID string
	ParentNodeID string
	// Caller is the tool that made the call; nil for a call of a client.
	Caller *Caller
}

// Caller is a tool that calls another one, and the document it runs in. It never
// changes.
type Caller struct {
	Plugin string `json:"plugin"`
	// Tool is the full name of the tool.
	Tool string `json:"tool"`
	// Browser, TabID and Origin are where the tool runs.
	Browser string `json:"browser,omitempty"`
	TabID   int    `json:"tab_id,omitempty"`
	Origin  string `json:"origin,omitempty"`
	// Above are the full names of the tools that led to this one, the nearest
	// first; none if a client called it.
	Above []string `json:"above,omitempty"`
}

// PluginName is the calling plugin, or empty if a client made the call.
func (c *Caller) PluginName() string {
	if c == nil {
		return ""
	}
	return c.Plugin
}

// Progress is one notification for an MCP client: Progress increases strictly
// over the notifications of one call.
type Progress struct {
	Progress float64
	// Total is present if HasTotal.
	Total    float64
	HasTotal bool
	Message  string
	// StatusWord is the tool's own word for what it does, as in "indexing".
	StatusWord string
	// Audience is as the tool said: "" and "internal" mean internal.
	Audience string
}

// Result is what a call that succeeded returned.
type Result struct {
	CallID string
	// Output is the JSON text as the page wrote it; nil for undefined.
	Output json.RawMessage
	Target Target
	// Ran is the time since Running began.
	Ran time.Duration
	// Reports counts all reports the page made.
	Reports int
	// Audience is for whom the end is: "" and "internal" mean internal.
	Audience string
}

// Stopped says how a page answered when it was told to stop.
type Stopped = wire.CancelOutcome
