package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"opentabs/dispatch/activity"
	"opentabs/dispatch/progress"
	"opentabs/wire"
)

// Tool identifies a tool or a prompt, and its limits.
type Tool struct {
	Plugin string
	Name   string
	// PluginName is the plugin's display name; Matches are its URL patterns. PluginName
	// and Matches are used in errors only.
	PluginName string
	Matches    []string
	// Instances are the sites in the plugin's settings. Instances of different settings
	// may share a name. A plugin with fixed sites has no Instances.
	Instances []Instance
	// OpenURL is the URL of the page to open for a permitted call without a tab; empty
	// if the plugin has none.
	OpenURL string
	// Prompt is set if Name is the name of a prompt, not of a tool.
	Prompt bool
	// IdleLimit and HardLimit replace the dispatcher's limits if they are positive, up
	// to Options.MaxIdleLimit and Options.HardLimit.
	IdleLimit time.Duration
	HardLimit time.Duration
}

// FullName is the name for agents: <plugin>__<tool>.
func (t Tool) FullName() string { return t.Plugin + "__" + t.Name }

// Client identifies the client of a call.
type Client struct {
	// Session identifies the MCP session and is not secret. Waiting calls of different
	// sessions take turns.
	Session string
	// IsSessionShared is set if all clients of this name share a Session, because their
	// protocol has no sessions. A permission can't be limited to a shared Session.
	IsSessionShared bool
	// Credential is the client's credential; empty if unknown.
	Credential CredentialKind
	// Token is the name that the user gave to the client's token; set for CredentialToken
	// only. The server has verified the token.
	Token string
	// Name is the client's name for itself, not verified.
	Name string
}

// CredentialKind is the kind of credential that a client has.
type CredentialKind string

const (
	// CredentialToken is a token for one client (opentabs client add).
	CredentialToken CredentialKind = "token"
	// CredentialCommandLine is the administrator token, which `opentabs call` uses.
	CredentialCommandLine CredentialKind = "command line"
	// CredentialStdio is a local program that started `opentabs mcp`.
	CredentialStdio CredentialKind = "stdio"
)

// CommandNamePrefix is the prefix of the client names that the commands of opentabs use.
const CommandNamePrefix = "opentabs "

// VerifiedName returns a name from the client's verified credential. Only clients
// without a token share a name.
func (c Client) VerifiedName() string {
	switch c.Credential {
	case CredentialToken:
		return "client " + c.Token
	case CredentialCommandLine:
		return "the command line"
	case CredentialStdio:
		return "stdio client"
	}
	return ""
}

// Identity returns the key for the stored permissions of the client: the name of its
// token. Identity distinguishes clients without a token by their names.
func (c Client) Identity() string {
	if c.Credential == CredentialToken {
		return c.VerifiedName()
	}
	return c.String()
}

// String names the client for users: its verified credential, then the name that it sent.
func (c Client) String() string {
	verifiedName := c.VerifiedName()
	isOwnCommand := c.Credential == CredentialCommandLine && strings.HasPrefix(c.Name, CommandNamePrefix) // the user need not see the name of the command
	if verifiedName == "" || c.Name == "" || c.Name == c.Token || isOwnCommand {
		return cmp.Or(verifiedName, c.Name)
	}
	return verifiedName + " (" + c.Name + ")"
}

// Call requests one execution of a tool.
type Call struct {
	Tool Tool
	// Args is a JSON object, validated by the caller.
	Args json.RawMessage
	// Browser and TabID identify the target; zero values leave the choice to the
	// dispatcher. Instance is the name of one of Tool.Instances, or empty.
	Browser  string
	TabID    int
	Instance string
	Client   Client
	// Progress receives the notifications for an MCP client, one at a time, never after
	// Call has returned. Progress may block, which delays only this call. A nil
	// Progress means that the client wants no notifications.
	Progress func(Progress)
	// OnTicket receives each ticket of the call and of its nested calls, so that an MCP
	// client can ask its user. OnTicket runs on a separate goroutine; ctx ends when the
	// ticket is decided or withdrawn. OnTicket sends the decision with
	// [Dispatcher.Decide]. A nil OnTicket means that the client cannot ask its user.
	OnTicket func(ctx context.Context, w WaitingTicket)
	// ParentCallID and ParentNodeID are set for a nested call.
	ParentCallID string
	ParentNodeID string
	// Caller is the tool that made the call; nil for a call of a client.
	Caller *Caller
}

// Caller is a tool that calls another tool, and its document. Caller is immutable.
type Caller struct {
	Plugin string `json:"plugin"`
	// Tool is the full name of the tool.
	Tool string `json:"tool"`
	// Browser, TabID and Origin describe the tool's document.
	Browser string `json:"browser,omitempty"`
	TabID   int    `json:"tab_id,omitempty"`
	Origin  string `json:"origin,omitempty"`
	// ParentTools are the full names of the tools above this tool, the nearest first.
	// ParentTools is empty if a client called the tool.
	ParentTools []string `json:"above,omitempty"`
}

// PluginName is the calling plugin, or empty if a client made the call.
func (c *Caller) PluginName() string {
	if c == nil {
		return ""
	}
	return c.Plugin
}

// Progress is one notification for an MCP client.
type Progress = progress.Notification

// AudienceUser is the audience of content for the user; all others are internal.
const AudienceUser = progress.AudienceUser

// ActivityView is one activity of a call.
type ActivityView = activity.View

// Result is the result of a successful call.
type Result struct {
	CallID string
	// Output is the page's JSON text, unchanged; nil for undefined.
	Output json.RawMessage
	Target Target
	// RunTime is the time since the call began, without suspensions.
	RunTime time.Duration
	// ReportCount counts all reports of the page.
	ReportCount int
	// Audience is the audience of the result: "user", or internal for every other value.
	Audience string
}

// StopOutcome is the page's answer to the request to stop a run.
type StopOutcome = wire.CancelOutcome
