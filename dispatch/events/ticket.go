package events

import (
	"encoding/json"
	"net/url"
	"time"

	"opentabs/wire"
)

// WaitingTicket is what a suspended call waits for.
type WaitingTicket struct {
	TicketID string `json:"ticket_id"`
	CallID   string `json:"call_id"`
	// Tool is the full name of the tool that would run.
	Tool   string          `json:"tool"`
	Kind   wire.TicketKind `json:"kind"`
	Reason string          `json:"reason"`
	// Caller is the tool that made the call; nil for a call of a client.
	Caller *Caller `json:"caller,omitempty"`
	// Browser and TabID are the tab that the call names; zero values if the call names
	// no tab.
	Browser string `json:"browser,omitempty"`
	TabID   int    `json:"tab_id,omitempty"`
	Title   string `json:"title,omitempty"`
	// Args are the call's arguments, JSON text, truncated to wire.MaxShownArgsBytes bytes;
	// ArgsBytes is their full size.
	Args      string `json:"args,omitempty"`
	ArgsBytes int    `json:"args_bytes,omitempty"`
	// StartedAt is the start of the wait. ExpiresAt is the end of the wait if the user
	// does not decide.
	StartedAt time.Time `json:"since"`
	ExpiresAt time.Time `json:"until"`
	// Scopes are the scopes that the user may choose for an approval.
	Scopes []wire.Scope `json:"scopes"`
	// About describes the tool with the texts of the plugin's author.
	About ToolAbout `json:"about"`
	// Page is where the call would run if the user approved the call now. Page is nil if
	// the page is unknown, for example because opentabs must open a tab first.
	Page *TicketPage `json:"page,omitempty"`
}

// ToolAbout describes a tool to the user who approves or denies a call of the tool. The
// author of the plugin wrote the texts in ToolAbout.
type ToolAbout struct {
	// PluginName is the display name of the plugin. Title is the display name of the
	// tool.
	PluginName  string `json:"plugin_name,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// IsReadOnly is true if the plugin's author declares that the tool changes nothing.
	IsReadOnly bool `json:"read_only"`
}

// maxTabTitle is the maximum length of a tab title in a ticket, in bytes. The limit is
// necessary because the page chooses its title.
const maxTabTitle = 200

// NewTicketPage returns the page of a ticket, or nil if browser is "". The argument
// address is the URL of the page.
func NewTicketPage(browser, browserName string, tabID int, title, address string) *TicketPage {
	if browser == "" {
		return nil
	}
	page := &TicketPage{Browser: browser, BrowserName: browserName, TabID: tabID, TabTitle: CutText([]byte(title), maxTabTitle)}
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		page.Site = u.Scheme + "://" + u.Host
	}
	return page
}

// TicketPage is the page in which a call would run after the user's approval.
type TicketPage struct {
	// Browser is the ID of the browser. BrowserName is the name that the user gave the
	// browser.
	Browser     string `json:"browser"`
	BrowserName string `json:"browser_name,omitempty"`
	TabID       int    `json:"tab_id,omitempty"`
	TabTitle    string `json:"tab_title,omitempty"`
	// Site is the origin of the page. The path is omitted because the path may be secret.
	Site string `json:"site,omitempty"`
}

// Resolution is the user's decision about a ticket.
type Resolution struct {
	TicketID string `json:"ticket_id"`
	// Gate is the name of the gate that requested the decision; empty for a request of
	// the tool.
	Gate  string `json:"gate,omitempty"`
	Allow bool   `json:"allow"`
	// Scope is the extent of an approval; Duration is the duration of a ScopeTime.
	Scope    wire.Scope    `json:"scope,omitempty"`
	Duration time.Duration `json:"for,omitempty"`
	// Data is additional input of the user: JSON, or nil.
	Data json.RawMessage `json:"data,omitempty"`
	// Surface is where the user decided, such as "the side panel".
	Surface   string    `json:"by"`
	DecidedAt time.Time `json:"at"`
}

// EncodeForTool returns the decision as JSON for the tool's context.decision.
func (r *Resolution) EncodeForTool() json.RawMessage {
	text, err := json.Marshal(struct {
		Allow bool            `json:"allow"`
		Scope wire.Scope      `json:"scope,omitempty"`
		By    string          `json:"by"`
		Data  json.RawMessage `json:"data,omitempty"`
	}{r.Allow, r.Scope, r.Surface, r.Data})
	if err != nil { // impossible: Decide has checked that Data is JSON
		panic("events: " + err.Error())
	}
	return text
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
