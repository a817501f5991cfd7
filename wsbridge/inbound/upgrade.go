package inbound

import (
	"net/http"
	"strings"

	"opentabs/wire"
)

// Nonces returns the nonces that a request offers.
func Nonces(h http.Header) []string {
	var nonces []string
	for _, p := range Subprotocols(h) {
		if nonce, ok := strings.CutPrefix(p, wire.NonceSubprotocolPrefix); ok {
			nonces = append(nonces, nonce)
		}
	}
	return nonces
}

// OffersUpgrade reports whether a request asks for a WebSocket.
func OffersUpgrade(h http.Header) bool {
	return strings.EqualFold(strings.TrimSpace(h.Get("Upgrade")), "websocket")
}

// Subprotocols returns the subprotocols that a request offers.
func Subprotocols(h http.Header) []string {
	var out []string
	for _, line := range h.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(line, ",") {
			out = append(out, strings.TrimSpace(p))
		}
	}
	return out
}
