package audit

import (
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Kind says what a [Record] is about.
type Kind string

const (
	// KindCall is a call that ended.
	KindCall Kind = "call"
	// KindDecision is what a person decided about a call.
	KindDecision Kind = "decision"
	// KindAnswer is what a person answered to a tool that waited for them.
	KindAnswer Kind = "answer"
	// KindReview, KindPermission, KindLimit and KindForget are changes of what
	// agents may do.
	KindReview     Kind = "review"
	KindPermission Kind = "permission"
	KindLimit      Kind = "limit"
	KindForget     Kind = "forget"
	// KindOpening says whether calls may open a plugin's page, and which one.
	KindOpening Kind = "opening"
	// KindCalls says whether a plugin may call the tools of another one.
	KindCalls Kind = "calls"
	// KindLateAccess says whether a plugin that starts late gets its secret settings
	// and may call other plugins.
	KindLateAccess Kind = "late-access"
	// KindSettings names the settings that were changed, and not what they are.
	KindSettings Kind = "settings"
	// KindRecommendation is what an agent said of a plugin; it changed nothing.
	KindRecommendation Kind = "recommendation"
	// KindClient is the token of an MCP client that was added or removed.
	KindClient Kind = "client"
	// KindLog is a warning or an error that a plugin has logged.
	KindLog Kind = "log"
	// KindDropped stands for records that could not be written.
	KindDropped Kind = "dropped"
)

// Record is one line. Members that do not apply are left out.
type Record struct {
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	// Tool is a full name, or that of a plugin.
	Tool string `json:"tool,omitempty"`
	// Prompt says that Tool names a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// Hash is that of the plugin's content.
	Hash   string `json:"hash,omitempty"`
	CallID string `json:"call_id,omitempty"`
	Parent string `json:"parent_call_id,omitempty"`
	// Client and Session are who called: ClientVia is the credential that the server
	// checked, Client the name of the client's token or, without one, what the client
	// calls itself. ClientClaims is what a client with a token calls itself.
	Client       string       `json:"client,omitempty"`
	ClientVia    dispatch.Via `json:"client_via,omitempty"`
	ClientClaims string       `json:"client_claims,omitempty"`
	Session      string       `json:"session,omitempty"`
	// Caller is the tool that made the call, and where that runs; nil for a call of
	// a client.
	Caller *dispatch.Caller `json:"caller,omitempty"`
	// Browser, Tab and Origin are where it ran. Origin is all of the page's
	// address that is kept.
	Browser string `json:"browser,omitempty"`
	Tab     int    `json:"tab,omitempty"`
	Origin  string `json:"origin,omitempty"`
	// Came is when the call came in, Ended when it ended. RanMs is how long its
	// tool ran, in milliseconds, without waiting for a person.
	Came   time.Time       `json:"came,omitzero"`
	Ended  time.Time       `json:"ended,omitzero"`
	RanMs  float64         `json:"ran_ms,omitempty"`
	Status wire.CallStatus `json:"status,omitempty"`
	Code   wire.ErrorCode  `json:"code,omitempty"`
	// Reason is why the call was cancelled, if whoever did said so.
	Reason string `json:"reason,omitempty"`
	// Stopped is how the page answered when it was told to stop.
	Stopped dispatch.Stopped `json:"stopped,omitempty"`
	Reports int              `json:"reports,omitempty"`
	// Approved is why the call was let through.
	Approved *Approval `json:"approved,omitempty"`
	// Decisions are those of people about the call, oldest first.
	Decisions []Decision `json:"decisions,omitempty"`
	// Audience is for whom the end of the call was.
	Audience string `json:"audience,omitempty"`
	// LastMessages are the last messages of the tool, oldest first.
	LastMessages []dispatch.LastMessage `json:"said,omitempty"`

	// By is the surface of a decision or a change.
	By string `json:"by,omitempty"`
	// Allow, Scope and ForMs are what was decided.
	Allow *bool      `json:"allow,omitempty"`
	Scope wire.Scope `json:"scope,omitempty"`
	ForMs int64      `json:"for_ms,omitempty"`
	// Old and New are a permission or a limit before and after.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`

	// Level and Message are what was logged.
	Level   wire.LogLevel `json:"level,omitempty"`
	Message string        `json:"message,omitempty"`

	// Dropped is how many records are missing here; of a log, how many of its
	// plugin are missing before it.
	Dropped int `json:"dropped,omitempty"`
}

// Approval is why a call was let through.
type Approval struct {
	Scope wire.Scope `json:"scope"`
	// By is the surface on which a person gave it, At when.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
}

// Decision is one decision about a call.
type Decision struct {
	At    time.Time  `json:"at"`
	By    string     `json:"by"`
	Allow bool       `json:"allow"`
	Scope wire.Scope `json:"scope,omitempty"`
	// Asked says what the person was asked: the name of a gate, or nothing for
	// the tool's own question.
	Asked string `json:"asked,omitempty"`
}
