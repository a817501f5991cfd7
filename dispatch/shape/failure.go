package shape

import (
	"encoding/json"

	"opentabs/dispatch"
	"opentabs/wire"
)

// The type failure is the JSON form of a call's error for programs. Fields whose names
// end in Ms are times in milliseconds.
type failure struct {
	Code        wire.ErrorCode `json:"code"`
	Retryable   bool           `json:"retryable"`
	CallID      string         `json:"call_id,omitempty"`
	RunMs       float64        `json:"ran_ms"`
	ReportCount int            `json:"reports"`
	// SinceLastReportMs is absent if the call reported no progress.
	SinceLastReportMs *float64             `json:"since_report_ms,omitempty"`
	StopOutcome       dispatch.StopOutcome `json:"stopped,omitempty"`
	ToolError         *wire.ToolErrorInfo  `json:"tool,omitempty"`
	// UserText is the text for the user if it differs from the text for agents.
	UserText string `json:"for_user,omitempty"`
}

// ErrorJSON encodes the error of a call as JSON for programs. If the error
// contains a number that JSON can't represent, ErrorJSON returns nil.
func ErrorJSON(e *dispatch.Error) json.RawMessage {
	f := failure{
		Code: e.Code, Retryable: e.Retryable, CallID: e.CallID, RunMs: float64(e.RunTime.Microseconds()) / 1000,
		ReportCount: e.ReportCount, StopOutcome: e.StopOutcome, ToolError: e.ToolError, UserText: e.UserText,
	}
	if e.ReportCount > 0 {
		sinceReportMs := float64(e.SinceLastReport.Microseconds()) / 1000
		f.SinceLastReportMs = &sinceReportMs
	}
	encodedJSON, err := json.Marshal(f)
	if err != nil { // a tool may return NaN as retryAfterMs
		return nil
	}
	return encodedJSON
}
