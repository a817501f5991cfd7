package inbound

import (
	"fmt"
	"slices"

	"opentabs/wire"
)

const (
	maxErrorMessageChars  = 4000
	maxErrorCodeChars     = 200
	maxErrorCategoryChars = 100
	maxPageTextBytes      = 20_000
)

// ToCallError converts a browser's error into an error that is safe to show. The returned
// error has a known code, and texts of limited length without control characters.
func ToCallError(e *wire.RPCError) *wire.CallError {
	if e.Data == nil {
		return &wire.CallError{Code: wire.ErrInternal, Message: fmt.Sprintf("the browser rejected the call (%d): %s", e.Code, CleanText(e.Message, maxErrorMessageChars))}
	}
	callErr := wire.CallError{Code: e.Data.Code, Message: CleanText(e.Data.Message, maxErrorMessageChars), UserText: CleanText(e.Data.UserText, maxErrorMessageChars), NotStarted: e.Data.NotStarted, PageText: Truncate(e.Data.PageText, maxPageTextBytes)}
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

// NewInternalError returns the error of a call for which the browser sent an invalid
// answer.
func NewInternalError(errorMessage string) *wire.CallError {
	return &wire.CallError{Code: wire.ErrInternal, Message: errorMessage}
}

// NewTooLargeError returns the error of a call whose result is larger than limit bytes.
func NewTooLargeError(limit int) *wire.CallError {
	return &wire.CallError{Code: wire.ErrResultTooLarge, Message: fmt.Sprintf("the result is larger than %d bytes", limit)}
}

// NewNotJSONError returns the error of a call whose result is not valid JSON.
func NewNotJSONError() *wire.CallError {
	return &wire.CallError{Code: wire.ErrInvalidResult, Message: "the tool's result is not valid JSON"}
}

// DecodeAnswer decodes a browser's answer to a request into result, or returns the
// browser's error.
func DecodeAnswer(e wire.Envelope, result any) error {
	if e.Error != nil {
		return fmt.Errorf("the browser rejected the request (%d): %s", e.Error.Code, CleanText(e.Error.Message, 500))
	}
	return wire.DecodeBody(e.Result, result)
}
