package inbound

import (
	"fmt"
	"slices"

	"opentabs/wire"
)

// These constants are the maximum lengths of the texts in a browser's error, in
// characters or bytes.
const (
	maxErrorMessageChars  = 4000
	maxErrorCodeChars     = 200
	maxErrorCategoryChars = 100
	maxPageTextBytes      = 20_000
)

// ToCallError converts a browser's error into an error that is safe to show. The
// returned error has a known code, and bounded texts without control characters.
func ToCallError(e *wire.RPCError) *wire.CallError {
	if e.Data == nil {
		return &wire.CallError{Code: wire.ErrInternal, Message: fmt.Sprintf("the browser rejected the call (%d): %s", e.Code, CleanText(e.Message, maxErrorMessageChars))}
	}
	callErr := wire.CallError{Code: e.Data.Code, Message: CleanText(e.Data.Message, maxErrorMessageChars), NotStarted: e.Data.NotStarted, PageText: Truncate(e.Data.PageText, maxPageTextBytes)}
	if !slices.Contains(wire.ErrorCodes(), callErr.Code) {
		callErr.Code = wire.ErrInternal
	}
	if callErr.Message == "" {
		callErr.Message = "the browser gave no reason"
	}
	if t := e.Data.Tool; t != nil && callErr.Code == wire.ErrToolError {
		tool := *t
		tool.Code, tool.Category = CleanText(t.Code, maxErrorCodeChars), CleanText(t.Category, maxErrorCategoryChars)
		if t.RetryAfterMs != nil && *t.RetryAfterMs < 0 {
			tool.RetryAfterMs = nil
		}
		callErr.Tool = &tool
	}
	return &callErr
}
