package inbound

import "opentabs/wire"

// IsInParts reports whether the answer to a run is a result whose output was sent before,
// in parts.
func IsInParts(e wire.Envelope) bool {
	if e.Error != nil {
		return false
	}
	result, err := wire.DecodeDispatchResult(e.Result)
	return err == nil && result.Output == nil && result.Parts > 0
}
