package inbound

import (
	"fmt"
	"slices"

	"opentabs/wire"
)

// The longest texts of an error that are kept, in characters.
const (
	maxErrorMessage  = 4000
	maxErrorCode     = 200
	maxErrorCategory = 100
)

// CallError converts a browser's error into one that is safe to show: a known
// code, and bounded texts without control characters.
func CallError(e *wire.RPCError) *wire.CallError {
	if e.Data == nil {
		return &wire.CallError{Code: wire.ErrInternal, Message: fmt.Sprintf("the browser rejected the call (%d): %s", e.Code, Text(e.Message, maxErrorMessage))}
	}
	out := wire.CallError{Code: e.Data.Code, Message: Text(e.Data.Message, maxErrorMessage), NotStarted: e.Data.NotStarted}
	if !slices.Contains(wire.ErrorCodes(), out.Code) {
		out.Code = wire.ErrInternal
	}
	if out.Message == "" {
		out.Message = "the browser gave no reason"
	}
	if t := e.Data.Tool; t != nil && out.Code == wire.ErrToolError {
		tool := *t
		tool.Code, tool.Category = Text(t.Code, maxErrorCode), Text(t.Category, maxErrorCategory)
		if t.RetryAfterMs != nil && *t.RetryAfterMs < 0 {
			tool.RetryAfterMs = nil
		}
		out.Tool = &tool
	}
	return &out
}
