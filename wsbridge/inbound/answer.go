package inbound

import "opentabs/wire"

// IsInParts reports whether a browser's answer refers to result parts that the browser
// has already sent, instead of containing the result.
func IsInParts(e wire.Envelope) bool {
	if e.Error != nil {
		return false
	}
	result, err := wire.DecodeDispatchResult(e.Result)
	return err == nil && result.Output == nil && result.Parts > 0
}
