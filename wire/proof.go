package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// ServerProof returns the server's proof of the handshake: an HMAC-SHA256 under
// the key of browsers, in hex. It covers both nonces, so it fits one connection,
// and the port, so that a program on another port cannot pass a challenge on.
func ServerProof(key string, port int, browserNonce, serverNonce string) string {
	return prove(key, "opentabs link server", port, browserNonce, serverNonce)
}

// BrowserProof returns the browser's proof of the handshake. The browser sends it
// only to a server that has proved the same.
func BrowserProof(key string, port int, browserNonce, serverNonce string) string {
	return prove(key, "opentabs link browser", port, browserNonce, serverNonce)
}

func prove(key, role string, port int, browserNonce, serverNonce string) string {
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s\n%d\n%s\n%s", role, port, browserNonce, serverNonce)
	return hex.EncodeToString(mac.Sum(nil))
}

// The length of a nonce, in characters.
const (
	minNonce = 16
	maxNonce = 128
)

// IsNonce reports whether s may be a browser's nonce: 16 to 128 letters and digits.
func IsNonce(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(s) >= minNonce && len(s) <= maxNonce
}
