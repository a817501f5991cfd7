package idempotency

import (
	"cmp"
	"errors"
	"fmt"

	"opentabs/dispatch"
	"opentabs/wire"
)

func newArgumentsMismatchError(e *entry) *dispatch.Error {
	return &dispatch.Error{
		Code: wire.ErrInvalidArguments, CallID: e.callID,
		Message: fmt.Sprintf("%s was not called: this idempotency key belongs to %s, which has other arguments (invalid_arguments). "+
			"Repeat those arguments for a retry, or use a new key for another call.", e.tool, e.callID),
	}
}

func newUnknownOutcomeError(e *entry) *dispatch.Error {
	code := wire.ErrShutdown
	if e.err != nil {
		code = e.err.Code
	}
	errorSentence := fmt.Sprintf("%s was not called again: %s with the same idempotency key ended with %s, and may have acted (%s).", e.tool, e.callID, code, code)
	return &dispatch.Error{
		Code: code, CallID: e.callID, MayHaveActed: true,
		Message: errorSentence + " Check in the page whether it took effect; the user can look the call up with `opentabs calls show " + e.callID + "`. " +
			"To act anyway, use a new key.",
		UserText: errorSentence + " Check in the page whether it took effect, and see `opentabs calls show " + e.callID + "`. To act anyway, use a new key.",
	}
}

// The error of a tool can advise the agent to call the tool again. A new call needs another idempotency key.
func describeReplayedError(err error, callID string) error {
	var e *dispatch.Error
	if !errors.As(err, &e) {
		return err
	}
	replayed := *e
	noteText := "The tool was not called again: this is the error of " + callID + ", which has the same idempotency key."
	if isPageError(e.Code) {
		noteText += " To call the tool again, use another key."
	}
	replayed.UserText = noteText + "\n" + cmp.Or(e.UserText, e.Message)
	replayed.Message = noteText + "\n" + e.Message
	return &replayed
}
