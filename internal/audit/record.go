package audit

import (
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/wire"
)

// Kind is the kind of event that a [Record] describes, such as "call" or "decision".
type Kind string

const (
	// KindCall means that a call has ended.
	KindCall Kind = "call"
	// KindDecision means that the user allowed or denied a call.
	KindDecision Kind = "decision"
	// KindAnswer means that the user answered a tool that waited for input.
	KindAnswer Kind = "answer"
	// KindReview, KindPermission, KindLimit and KindForget are changes by the user: a
	// review, a permission, a rate limit, and the removal of a plugin.
	KindReview     Kind = "review"
	KindPermission Kind = "permission"
	KindLimit      Kind = "limit"
	KindForget     Kind = "forget"
	// KindTabOpening means that the user changed whether calls may open a new tab for a
	// plugin, or at which address.
	KindTabOpening Kind = "opening"
	// KindCalls means that the user changed whether a plugin may call another plugin's
	// tools.
	KindCalls Kind = "calls"
	// KindLateAccess means that the user gave or withdrew late access: a plugin that
	// starts after the scripts of the page may read secret settings and call other
	// plugins.
	KindLateAccess Kind = "late-access"
	// KindSite means that the user changed what browser tools may do on a site.
	KindSite Kind = "site"
	// KindSettings means that settings of a plugin changed. The audit log has the names
	// of the changed settings, but not their values.
	KindSettings Kind = "settings"
	// KindRecommendation means that an agent recommended a permission for a plugin. A
	// recommendation changes no permission.
	KindRecommendation Kind = "recommendation"
	// KindClient means that the token of an MCP client was added or removed.
	KindClient Kind = "client"
	// KindLog means that a plugin logged a warning or an error.
	KindLog Kind = "log"
	// KindDropped means that records could not be written and are missing from the audit
	// log.
	KindDropped Kind = "dropped"
)

// Record is one line of the audit log. The JSON of an audit record omits the fields that
// do not apply to the record's kind.
type Record struct {
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	// Tool is the full name of a tool, such as "messages__send"; or the name of a plugin
	// if the event concerns the whole plugin.
	Tool string `json:"tool,omitempty"`
	// The field Prompt is true if Tool is the name of a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// The field Hash is the hash of the plugin's content at the time of the event.
	Hash string `json:"hash,omitempty"`
	// AuditedCall describes the call and the page in which the call ran.
	shape.AuditedCall
	// The field Approval is the user's permission or approval that allowed the call; nil
	// if the call was not allowed.
	Approval *Approval `json:"approved,omitempty"`
	// The field Decisions contains the user's decisions about the call, oldest first.
	Decisions []Decision `json:"decisions,omitempty"`
	// Audience is who the result or error of the call was for: "user" or "internal".
	Audience string `json:"audience,omitempty"`
	// LastMessages are the last progress messages of the tool, oldest first.
	LastMessages []dispatch.ToolMessage `json:"last_messages,omitempty"`

	// The field By is the surface on which the user made the decision or the change, such
	// as "the side panel".
	By string `json:"by,omitempty"`
	// The field Allow is true if the user allowed the call. Scope describes which later
	// calls the same approval allows, and DurationMs is how long the approval is valid, in
	// milliseconds.
	Allow      *bool      `json:"allow,omitempty"`
	Scope      wire.Scope `json:"scope,omitempty"`
	DurationMs int64      `json:"for_ms,omitempty"`
	// The fields Old and New are the values of a permission or limit before and after a
	// change, such as "ask" and "auto".
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`

	// Level and Message are the level and the text of a line in a plugin's log.
	Level   wire.LogLevel `json:"level,omitempty"`
	Message string        `json:"message,omitempty"`

	// The field Dropped is how many records before this record could not be written. For
	// KindLog, Dropped counts only log lines of the same plugin.
	Dropped int `json:"dropped,omitempty"`
}

// RecordOfCall returns the audit record of a call that has ended. The fields Approval and
// Decisions of the audit record are empty and must be set by the caller.
func RecordOfCall(e dispatch.EndedCall) Record {
	return Record{
		Kind: KindCall, Tool: e.View.ToolName, Prompt: e.View.Prompt, AuditedCall: shape.CallForAudit(e),
		Audience: e.View.EndAudience, LastMessages: e.LastMessages,
	}
}

// Approval is the reason why a call was allowed: the user's decision, a grant or a permission.
type Approval struct {
	Scope wire.Scope `json:"scope"`
	// The field By is the surface on which the user allowed the call, and the field At is
	// the time of this decision.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
}

// Decision is one of the user's decisions about a call. A call can need several decisions, for
// example if the tool asks a question.
type Decision struct {
	At    time.Time  `json:"at"`
	By    string     `json:"by"`
	Allow bool       `json:"allow"`
	Scope wire.Scope `json:"scope,omitempty"`
	// RequestReason is the name of the gate that required the decision, such as "permission". If a tool
	// requested the decision with waitForUser, RequestReason is empty.
	RequestReason string `json:"asked,omitempty"`
}
