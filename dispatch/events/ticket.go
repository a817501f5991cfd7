package events

import (
	"encoding/json"
	"net/url"
	"time"

	"opentabs/wire"
)

// WaitingTicket describes what a suspended call waits for, and until when.
type WaitingTicket struct {
	TicketID string `json:"ticket_id"`
	CallID   string `json:"call_id"`
	// Tool is the full name of the called tool.
	Tool   string          `json:"tool"`
	Kind   wire.TicketKind `json:"kind"`
	Reason string          `json:"reason"`
	// Caller is the tool that made the call, or nil if a client made the call.
	Caller *Caller `json:"caller,omitempty"`
	// Browser and TabID identify the tab that the call names. If the call names no tab,
	// Browser and TabID are zero.
	Browser string `json:"browser,omitempty"`
	TabID   int    `json:"tab_id,omitempty"`
	Title   string `json:"title,omitempty"`
	// Args is the JSON text of the call's arguments, truncated to wire.MaxShownArgsBytes.
	// ArgsBytes is the length of the complete JSON text of the arguments, in bytes.
	Args      string `json:"args,omitempty"`
	ArgsBytes int    `json:"args_bytes,omitempty"`
	// StartedAt is when the call began to wait. ExpiresAt is when the wait ends if the user
	// does not decide.
	StartedAt time.Time `json:"since"`
	ExpiresAt time.Time `json:"until"`
	// The field Scopes contains the extents of an approval that the user may choose from.
	Scopes []wire.Scope `json:"scopes"`
	// Summary describes the tool with the texts of the plugin's author.
	Summary ToolSummary `json:"about"`
	// Page describes the page in which the call would run if the user approved the call
	// now. If the page is unknown, for example because opentabs must open a tab first, Page
	// is nil.
	Page *TicketPage `json:"page,omitempty"`
}

func pendingStatus(w *WaitingTicket) wire.CallStatus {
	switch {
	case w == nil:
		return "queued"
	case w.Kind == wire.TicketUser:
		return "waiting for you"
	}
	return "waiting for approval"
}

// ToolSummary describes a tool to the user who approves or denies a call of the tool. All
// texts in a ToolSummary come from the plugin's author.
type ToolSummary struct {
	// PluginName is the display name of the plugin. Title is the display name of the
	// tool.
	PluginName  string `json:"plugin_name,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// IsReadOnly is true if the plugin's author declares that the tool changes nothing.
	IsReadOnly bool `json:"read_only"`
}

// maxTabTitle is the maximum length of a tab title in a ticket, in bytes.
const maxTabTitle = 200

// NewTicketPage describes the page in which a suspended call would run, or returns nil if
// browser is empty. The argument address is the page's URL.
func NewTicketPage(browser, browserName string, tabID int, title, address string) *TicketPage {
	if browser == "" {
		return nil
	}
	page := &TicketPage{Browser: browser, BrowserName: browserName, TabID: tabID, TabTitle: TruncateText([]byte(title), maxTabTitle)}
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		page.Site = u.Scheme + "://" + u.Host
	}
	return page
}

// TicketPage is the page in which a call would run after the user's approval.
type TicketPage struct {
	// Browser is the ID of the browser. BrowserName is the name that the user gave to the
	// browser.
	Browser     string `json:"browser"`
	BrowserName string `json:"browser_name,omitempty"`
	TabID       int    `json:"tab_id,omitempty"`
	TabTitle    string `json:"tab_title,omitempty"`
	// Site is the origin of the page, without the path, which may be secret.
	Site string `json:"site,omitempty"`
}

// Resolution is the user's decision about a suspended call.
type Resolution struct {
	TicketID string `json:"ticket_id"`
	// Gate is the name of the gate that requested the decision, or empty if the tool requested
	// the decision.
	Gate  string `json:"gate,omitempty"`
	Allow bool   `json:"allow"`
	// Scope is how far the user's approval extends, such as one call or a session. Duration
	// is how long an approval with ScopeTime lasts.
	Scope    wire.Scope    `json:"scope,omitempty"`
	Duration time.Duration `json:"for,omitempty"`
	// Data is what the user additionally entered with the decision, as JSON; nil if the user
	// entered nothing.
	Data json.RawMessage `json:"data,omitempty"`
	// Surface is where the user decided, such as "the side panel".
	Surface   string    `json:"by"`
	DecidedAt time.Time `json:"at"`
	// IsFromRecheck is true if the user did not decide about this ticket: the gates ran again
	// after a change of permissions, and the call no longer needed this ticket.
	IsFromRecheck bool `json:"-"`
}

// EncodeForTool returns the decision as JSON for the tool's context.decision.
func (r *Resolution) EncodeForTool() json.RawMessage {
	encodedJSON, err := json.Marshal(struct {
		Allow bool            `json:"allow"`
		Scope wire.Scope      `json:"scope,omitempty"`
		By    string          `json:"by"`
		Data  json.RawMessage `json:"data,omitempty"`
	}{r.Allow, r.Scope, r.Surface, r.Data})
	if err != nil { // json.Marshal can't fail, because Decide has checked that Data is JSON
		panic("events: " + err.Error())
	}
	return encodedJSON
}

// Caller is a tool that calls another tool, and the document in which the calling tool
// runs. A Caller is immutable.
type Caller struct {
	Plugin string `json:"plugin"`
	// Tool is the full name of the calling tool.
	Tool string `json:"tool"`
	// Browser, TabID and Origin describe the document in which the calling tool runs.
	Browser string `json:"browser,omitempty"`
	TabID   int    `json:"tab_id,omitempty"`
	Origin  string `json:"origin,omitempty"`
	// ParentTools are the full names of the tools that called the calling tool, directly or
	// through other tools, nearest first. ParentTools is empty if a client called the calling
	// tool.
	ParentTools []string `json:"above,omitempty"`
}

// PluginName returns the name of the calling plugin, or an empty string for a nil Caller.
func (c *Caller) PluginName() string {
	if c == nil {
		return ""
	}
	return c.Plugin
}
