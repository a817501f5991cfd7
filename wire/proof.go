package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// ServerProof returns the server's proof for the handshake, a hexadecimal HMAC-SHA256 with
// the shared key. Because the proof covers the nonces of server and browser, the proof is
// valid for one link only. Because the proof covers the port, a program that listens on
// another port can't relay the server's challenge.
func ServerProof(key string, port int, browserNonce, serverNonce string) string {
	return computeProof(key, "opentabs link server", port, browserNonce, serverNonce)
}

// BrowserProof returns the browser's proof for the handshake, a hexadecimal HMAC-SHA256
// with the shared key. The browser sends its proof only after verifying the server's proof.
func BrowserProof(key string, port int, browserNonce, serverNonce string) string {
	return computeProof(key, "opentabs link browser", port, browserNonce, serverNonce)
}

func computeProof(key, role string, port int, browserNonce, serverNonce string) string {
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s\n%d\n%s\n%s", role, port, browserNonce, serverNonce)
	return hex.EncodeToString(mac.Sum(nil))
}

// PairingKey derives a browser's key from its pairing code, as a hexadecimal SHA-256 sum. A
// key that PairingKey returns can't be guessed, because a pairing code has 100 random bits.
func PairingKey(code string) string { return hexSHA256("opentabs pairing\n" + code) }

const keyIDChars = 32

// KeyID returns the public ID of a browser's secret key. The secret key can't be computed
// from the KeyID.
func KeyID(key string) string { return hexSHA256("opentabs key\n" + key)[:keyIDChars] }

func hexSHA256(hashedText string) string {
	checksum := sha256.Sum256([]byte(hashedText))
	return hex.EncodeToString(checksum[:])
}

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
