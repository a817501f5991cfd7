package inbound

import "opentabs/wire"

// IsInParts reports whether a browser's answer contains no result itself, but refers to
// result parts that the browser has already sent.
func IsInParts(e wire.Envelope) bool {
	if e.Error != nil {
		return false
	}
	result, err := wire.DecodeDispatchResult(e.Result)
	return err == nil && result.Output == nil && result.Parts > 0
}
