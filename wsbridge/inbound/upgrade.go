package inbound

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"opentabs/internal/loopback"
	"opentabs/wire"
)

// FindOfferedNonce returns the nonce among the WebSocket subprotocols of a request.
// [CheckUpgrade] must have accepted the request.
func FindOfferedNonce(h http.Header) string {
	return listOfferedWithPrefix(h, wire.NonceSubprotocolPrefix)[0]
}

// FindOfferedKeyID returns the KeyID among the WebSocket subprotocols of a request.
// FindOfferedKeyID returns "" if the request offers no KeyID or several.
func FindOfferedKeyID(h http.Header) string {
	if ids := listOfferedWithPrefix(h, wire.KeySubprotocolPrefix); len(ids) == 1 {
		return ids[0]
	}
	return ""
}

func listOfferedWithPrefix(h http.Header, prefix string) []string {
	var valueNames []string
	for _, p := range offeredSubprotocols(h) {
		if value, ok := strings.CutPrefix(p, prefix); ok {
			valueNames = append(valueNames, value)
		}
	}
	return valueNames
}

func offersUpgrade(h http.Header) bool {
	return strings.EqualFold(strings.TrimSpace(h.Get("Upgrade")), "websocket")
}

func offeredSubprotocols(h http.Header) []string {
	var subprotocols []string
	for _, line := range h.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(line, ",") {
			subprotocols = append(subprotocols, strings.TrimSpace(p))
		}
	}
	return subprotocols
}

// MaxCloseReasonBytes is the maximum length of a WebSocket close reason, in bytes (RFC
// 6455, section 5.5).
const MaxCloseReasonBytes = 123

// CheckUpgrade checks a request before the WebSocket upgrade, while the peer is still
// unauthenticated. CheckUpgrade returns the HTTP status and the text of the rejection, or
// the status 0 if the upgrade is allowed.
func CheckUpgrade(r *http.Request, allowedOrigins []string) (int, string) {
	if r.Method != http.MethodGet {
		return http.StatusMethodNotAllowed, "This is a WebSocket; connect to it with GET."
	}
	if !loopback.IsHost(r.Host) {
		return http.StatusForbidden, "This host name is not allowed; use 127.0.0.1."
	}
	if origins := r.Header.Values("Origin"); len(origins) != 1 || !slices.Contains(allowedOrigins, origins[0]) {
		return http.StatusForbidden, "This origin is not allowed; only the opentabs extension may connect."
	}
	if !offersUpgrade(r.Header) {
		return http.StatusUpgradeRequired, "This is a WebSocket; request an upgrade to it."
	}
	offeredNonces := listOfferedWithPrefix(r.Header, wire.NonceSubprotocolPrefix)
	switch {
	case len(offeredNonces) != 1 || !wire.IsNonce(offeredNonces[0]):
		return http.StatusBadRequest, "Offer one nonce of 16 to 128 letters and digits as the subprotocol " + wire.NonceSubprotocolPrefix +
			"<nonce>. An older extension sends none: run `opentabs extension install` again and reload the extension."
	case !slices.Contains(offeredSubprotocols(r.Header), wire.Subprotocol):
		return http.StatusBadRequest, "The subprotocol " + wire.Subprotocol + " is missing; offer it beside the nonce."
	}
	return 0, ""
}

// FormatVersionMismatch returns the error text for a browser with another protocol version. The
// error text is short enough for a WebSocket close frame.
func FormatVersionMismatch(peerVersion int) string {
	updateInstruction := "the extension: run `opentabs extension install`, then reload it"
	if peerVersion > wire.Version {
		updateInstruction = "opentabs, then start it again"
	}
	return Truncate(fmt.Sprintf("Protocol versions differ: opentabs %d, extension %d. Update %s.", wire.Version, peerVersion, updateInstruction), MaxCloseReasonBytes)
}
