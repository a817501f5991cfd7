package shape

import (
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// AuditedCall is an ended call as the audit log records it. The JSON of an AuditedCall
// omits empty fields.
type AuditedCall struct {
	CallID       string `json:"call_id,omitempty"`
	ParentCallID string `json:"parent_call_id,omitempty"`
	dispatch.Requester
	// Caller is the tool that made the call, with its tab, or nil for a call of a client.
	Caller *dispatch.Caller `json:"caller,omitempty"`
	// Browser is the ID, and BrowserName the name, of the browser in which the call ran. The
	// audit log contains the origin of the page, but not the rest of its URL.
	Browser     string `json:"browser,omitempty"`
	BrowserName string `json:"browser_name,omitempty"`
	TabID       int    `json:"tab,omitempty"`
	Origin      string `json:"origin,omitempty"`
	// CreatedAt is when the call arrived. EndedAt is when the call ended. RanMs is how long
	// the tool ran in milliseconds, without the time in which the call waited for the user.
	CreatedAt time.Time       `json:"came,omitzero"`
	EndedAt   time.Time       `json:"ended,omitzero"`
	RanMs     float64         `json:"ran_ms,omitempty"`
	Status    wire.CallStatus `json:"status,omitempty"`
	ErrorCode wire.ErrorCode  `json:"code,omitempty"`
	// Reason is why the call was cancelled, if the canceller gave a reason.
	Reason string `json:"reason,omitempty"`
	// StopOutcome is whether the tool stopped, as the page reported after a request to stop
	// it.
	StopOutcome dispatch.StopOutcome `json:"stopped,omitempty"`
	ReportCount int                  `json:"reports,omitempty"`
}

// CallForAudit converts an ended call to the form that the audit log records.
func CallForAudit(e dispatch.EndedCall) AuditedCall {
	v := e.View
	c := AuditedCall{
		CallID: v.CallID, ParentCallID: v.ParentCallID, Requester: v.Requester, Caller: v.Caller,
		Browser: v.Browser, BrowserName: v.BrowserName, TabID: v.TabID, Origin: dispatch.OriginOf(e.Target.URL),
		CreatedAt: v.Created.UTC(), RanMs: v.RunMs, Status: v.Status, ErrorCode: v.ErrorCode, Reason: v.CancelReason,
		StopOutcome: v.StopOutcome, ReportCount: v.ReportCount,
	}
	if v.Ended != nil {
		c.EndedAt = v.Ended.UTC()
	}
	return c
}
