// Package seal creates signed texts that clients store for the server but cannot modify.
package seal

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	"opentabs/internal/rawjson"
)

// Digest is the SHA-256 hash of a request.
type Digest [sha256.Size]byte

// Seal signs and verifies texts with a random key. The key exists only in memory, so
// sealed texts become invalid when the server restarts. A Seal is safe for concurrent
// use.
type Seal struct{ key [sha256.Size]byte }

// New returns a Seal with a new random key.
func New() Seal {
	var s Seal
	_, _ = rand.Read(s.key[:]) // rand.Read never fails
	return s
}

// Content is the data in a sealed text.
type Content struct {
	// ID is a random ID from [rand.Text].
	ID        string
	ExpiresAt time.Time
	// RequestDigest is the digest of the request for which the text was sealed.
	RequestDigest Digest
}

const (
	callIDBytes     = 26
	nonceBytes      = 8
	sealedTextBytes = callIDBytes + 8 + nonceBytes + 2*sha256.Size
)

// Encode encodes and signs c as a sealed text. Each call of Encode returns a different
// text, because the text contains a nonce.
func (s Seal) Encode(c Content) string {
	b := append(make([]byte, 0, sealedTextBytes), c.ID...)
	b = binary.BigEndian.AppendUint64(b, uint64(c.ExpiresAt.UnixMilli()))
	b = append(b, make([]byte, nonceBytes)...)
	_, _ = rand.Read(b[len(b)-nonceBytes:])
	b = append(b, c.RequestDigest[:]...)
	return base64.RawURLEncoding.EncodeToString(append(b, s.computeMAC(b)...))
}

// Decode returns the content of a sealed text, or false if the signature is invalid.
func (s Seal) Decode(sealedText string) (Content, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(sealedText)
	if err != nil || len(b) != sealedTextBytes {
		return Content{}, false
	}
	body, mac := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if !hmac.Equal(mac, s.computeMAC(body)) {
		return Content{}, false
	}
	c := Content{ID: string(body[:callIDBytes]), ExpiresAt: time.UnixMilli(int64(binary.BigEndian.Uint64(body[callIDBytes:])))}
	copy(c.RequestDigest[:], body[callIDBytes+8+nonceBytes:])
	return c, true
}

func (s Seal) computeMAC(requestBody []byte) []byte {
	h := hmac.New(sha256.New, s.key[:])
	h.Write(requestBody)
	return h.Sum(nil)
}

// HashRequest returns the hash of a request and its session. Arguments that differ only
// in spaces or in the order of members have equal hashes.
func HashRequest(method, session, name string, arguments json.RawMessage) Digest {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber() // json.Number keeps all digits
	var v any
	if d.Decode(&v) == nil {
		arguments = rawjson.Encode(v)
	}
	return sha256.Sum256(rawjson.Encode([]string{method, session, name, string(arguments)}))
}
