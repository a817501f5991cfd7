package inbound

import (
	"net/http"
	"strings"

	"opentabs/wire"
)

// OfferedNonces returns the nonces that a request offers.
func OfferedNonces(h http.Header) []string {
	var nonces []string
	for _, p := range OfferedSubprotocols(h) {
		if nonce, ok := strings.CutPrefix(p, wire.NonceSubprotocolPrefix); ok {
			nonces = append(nonces, nonce)
		}
	}
	return nonces
}

// OffersUpgrade reports whether a request offers an upgrade to a WebSocket.
func OffersUpgrade(h http.Header) bool {
	return strings.EqualFold(strings.TrimSpace(h.Get("Upgrade")), "websocket")
}

// OfferedSubprotocols returns the subprotocols that a request offers.
func OfferedSubprotocols(h http.Header) []string {
	var subprotocols []string
	for _, line := range h.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(line, ",") {
			subprotocols = append(subprotocols, strings.TrimSpace(p))
		}
	}
	return subprotocols
}
