// Package seal makes texts that clients store for the server but cannot change.
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

// Digest is the hash of a request.
type Digest [sha256.Size]byte

// Seal makes and checks sealed texts. The key of a Seal is lost when the server stops. A
// Seal is safe for concurrent use.
type Seal struct{ key [sha256.Size]byte }

// New returns a Seal with a new key.
func New() Seal {
	var s Seal
	_, _ = rand.Read(s.key[:]) // rand.Read never fails
	return s
}

// Content is the content of a sealed text.
type Content struct {
	// ID is a text that [rand.Text] returned.
	ID        string
	ExpiresAt time.Time
	// RequestDigest is the digest of the request that the sealed text belongs to.
	RequestDigest Digest
}

// These constants are the sizes of the values in a sealed text, in bytes. idSize is the
// length of a text that rand.Text returned.
const (
	idSize     = 26
	nonceSize  = 8
	sealedSize = idSize + 8 + nonceSize + 2*sha256.Size
)

// Close returns c as a sealed text. Each call of Close returns a different text, because
// the text contains a nonce.
func (s Seal) Close(c Content) string {
	b := append(make([]byte, 0, sealedSize), c.ID...)
	b = binary.BigEndian.AppendUint64(b, uint64(c.ExpiresAt.UnixMilli()))
	b = append(b, make([]byte, nonceSize)...)
	_, _ = rand.Read(b[len(b)-nonceSize:])
	b = append(b, c.RequestDigest[:]...)
	return base64.RawURLEncoding.EncodeToString(append(b, s.computeMAC(b)...))
}

// Open returns the content of a sealed text, or false if s did not make the text.
func (s Seal) Open(text string) (Content, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != sealedSize {
		return Content{}, false
	}
	body, mac := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if !hmac.Equal(mac, s.computeMAC(body)) {
		return Content{}, false
	}
	c := Content{ID: string(body[:idSize]), ExpiresAt: time.UnixMilli(int64(binary.BigEndian.Uint64(body[idSize:])))}
	copy(c.RequestDigest[:], body[idSize+8+nonceSize:])
	return c, true
}

func (s Seal) computeMAC(body []byte) []byte {
	h := hmac.New(sha256.New, s.key[:])
	h.Write(body)
	return h.Sum(nil)
}

// HashRequest returns a hash of a request and its session. Arguments that differ only
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
