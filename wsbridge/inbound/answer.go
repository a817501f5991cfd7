package inbound

import "opentabs/wire"

// IsResultInParts reports whether the browser sent the result in parts before its answer, so
// that the answer itself contains no result.
func IsResultInParts(e wire.Envelope) bool {
	if e.Error != nil {
		return false
	}
	result, err := wire.DecodeDispatchResult(e.Result)
	return err == nil && result.Output == nil && result.Parts > 0
}
