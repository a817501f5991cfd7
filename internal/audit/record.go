package audit

import (
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/wire"
)

// Kind is the kind of event that a [Record] describes.
type Kind string

const (
	// KindCall is a finished call.
	KindCall Kind = "call"
	// KindDecision is a decision of the user about a call.
	KindDecision Kind = "decision"
	// KindAnswer is the user's answer to a tool that waits for input.
	KindAnswer Kind = "answer"
	// KindReview, KindPermission, KindLimit and KindForget are changes of what
	// agents may do.
	KindReview     Kind = "review"
	KindPermission Kind = "permission"
	KindLimit      Kind = "limit"
	KindForget     Kind = "forget"
	// KindOpening is a change of whether calls may open a plugin's page, and of
	// which page.
	KindOpening Kind = "opening"
	// KindCalls is a change of whether a plugin may call the tools of another plugin.
	KindCalls Kind = "calls"
	// KindLateAccess is a change of whether a plugin that starts late gets its secret
	// settings and may call other plugins.
	KindLateAccess Kind = "late-access"
	// KindSite is a change of what browser tools may do on a site.
	KindSite Kind = "site"
	// KindSettings has the names of the settings that changed, without their values.
	KindSettings Kind = "settings"
	// KindRecommendation is an agent's recommendation about a plugin.
	// KindRecommendation changes nothing.
	KindRecommendation Kind = "recommendation"
	// KindClient means that a token of an MCP client was added or removed.
	KindClient Kind = "client"
	// KindLog is a warning or an error that a plugin logged.
	KindLog Kind = "log"
	// KindDropped is a record that replaces records that could not be written.
	KindDropped Kind = "dropped"
)

// Record is one line of the log. Members that do not apply to the kind of a record are
// left out.
type Record struct {
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	// Tool is the full name of a tool, or the name of a plugin.
	Tool string `json:"tool,omitempty"`
	// Prompt is true if Tool names a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// Hash is the hash of the plugin's content.
	Hash string `json:"hash,omitempty"`
	// AuditedCall describes the call and where the call ran. Records of kinds other
	// than KindCall set only some fields of AuditedCall.
	shape.AuditedCall
	// Approved is why the call was allowed.
	Approved *Approval `json:"approved,omitempty"`
	// Decisions are the user's decisions about the call, oldest first.
	Decisions []Decision `json:"decisions,omitempty"`
	// Audience is who the outcome of the call was for.
	Audience string `json:"audience,omitempty"`
	// LastMessages are the last messages of the tool, oldest first.
	LastMessages []dispatch.ToolMessage `json:"last_messages,omitempty"`

	// By is the surface on which the decision or change was made.
	By string `json:"by,omitempty"`
	// Allow, Scope and ForMs describe the decision: its result, its scope, and its
	// duration in milliseconds.
	Allow *bool      `json:"allow,omitempty"`
	Scope wire.Scope `json:"scope,omitempty"`
	ForMs int64      `json:"for_ms,omitempty"`
	// Old and New are a permission or a limit before and after the change.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`

	// Level and Message are a line of the plugin's log.
	Level   wire.LogLevel `json:"level,omitempty"`
	Message string        `json:"message,omitempty"`

	// Dropped is the number of records that are missing before this record. For
	// KindLog, Dropped counts only log records of the same plugin.
	Dropped int `json:"dropped,omitempty"`
}

// RecordOfCall returns the record of a call that has ended, without the decisions about
// the call.
func RecordOfCall(e dispatch.EndedCall) Record {
	return Record{
		Kind: KindCall, Tool: e.View.ToolName, Prompt: e.View.Prompt, AuditedCall: shape.CallForAudit(e),
		Audience: e.View.EndAudience, LastMessages: e.LastMessages,
	}
}

// Approval is why a call was allowed.
type Approval struct {
	Scope wire.Scope `json:"scope"`
	// By is the surface on which the user approved, and At is the time of the approval.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
}

// Decision is one decision about a call.
type Decision struct {
	At    time.Time  `json:"at"`
	By    string     `json:"by"`
	Allow bool       `json:"allow"`
	Scope wire.Scope `json:"scope,omitempty"`
	// Asked is the name of the gate that asked the user. Asked is empty for a question
	// of the tool.
	Asked string `json:"asked,omitempty"`
}
