package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// ServerProof returns the server's proof for the handshake, an HMAC-SHA256 with the
// shared key, in hexadecimal. Because the proof covers the nonces of server and
// browser, the proof is valid for one link only. Because the proof covers the port, a
// program on another port can't relay a challenge.
func ServerProof(key string, port int, browserNonce, serverNonce string) string {
	return computeProof(key, "opentabs link server", port, browserNonce, serverNonce)
}

// BrowserProof returns the browser's proof for the handshake. The browser sends its
// proof only after it has verified the ServerProof.
func BrowserProof(key string, port int, browserNonce, serverNonce string) string {
	return computeProof(key, "opentabs link browser", port, browserNonce, serverNonce)
}

// computeProof returns the HMAC of the peer's role, the server's port and the nonces of
// both peers.
func computeProof(key, role string, port int, browserNonce, serverNonce string) string {
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s\n%d\n%s\n%s", role, port, browserNonce, serverNonce)
	return hex.EncodeToString(mac.Sum(nil))
}

// PairingKey returns the key of a browser that is paired with a code: the SHA-256 sum of
// the code, in hexadecimal. The key is not guessable, because a code has 100 random bits.
func PairingKey(code string) string { return hexSHA256("opentabs pairing\n" + code) }

// keyIDChars is the length of a KeyID, in characters.
const keyIDChars = 32

// KeyID returns the ID of a browser's key. A KeyID is not secret, and the key cannot be
// computed from its KeyID.
func KeyID(key string) string { return hexSHA256("opentabs key\n" + key)[:keyIDChars] }

// hexSHA256 returns the SHA-256 sum of a text, in hexadecimal.
func hexSHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Limits of the length of a nonce, in characters.
const (
	minNonceChars = 16
	maxNonceChars = 128
)

// IsNonce reports whether s is a valid nonce: 16 to 128 ASCII letters and digits.
func IsNonce(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(s) >= minNonceChars && len(s) <= maxNonceChars
}
