package mcpserver

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"
)

// digestSize is the size of a digest and of a seal, in bytes.
const digestSize = sha256.Size

// seal makes texts that clients keep for the server and cannot change. Its key
// lives as long as the server.
type seal struct{ key [digestSize]byte }

func newSeal() seal {
	var s seal
	_, _ = rand.Read(s.key[:]) // it never fails
	return s
}

// sealed is what such a text says.
type sealed struct {
	// id names what the server holds, idSize characters.
	id      string
	expires time.Time
	// bound is the digest of the request that the text belongs to.
	bound [digestSize]byte
}

// The sizes of what is sealed, in bytes: an id is a rand.Text.
const (
	idSize     = 26
	nonceSize  = 8
	sealedSize = idSize + 8 + nonceSize + 2*digestSize
)

// close returns the text, which is another one each time.
func (s seal) close(v sealed) string {
	b := append(make([]byte, 0, sealedSize), v.id...)
	b = binary.BigEndian.AppendUint64(b, uint64(v.expires.UnixMilli()))
	b = append(b, make([]byte, nonceSize)...)
	_, _ = rand.Read(b[len(b)-nonceSize:])
	b = append(b, v.bound[:]...)
	return base64.RawURLEncoding.EncodeToString(append(b, s.mac(b)...))
}

// open reads a text. It reports false for one that this server has not made.
func (s seal) open(text string) (sealed, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != sealedSize {
		return sealed{}, false
	}
	body, mac := b[:len(b)-digestSize], b[len(b)-digestSize:]
	if !hmac.Equal(mac, s.mac(body)) {
		return sealed{}, false
	}
	v := sealed{id: string(body[:idSize]), expires: time.UnixMilli(int64(binary.BigEndian.Uint64(body[idSize:])))}
	copy(v.bound[:], body[idSize+8+nonceSize:])
	return v, true
}

func (s seal) mac(body []byte) []byte {
	h := hmac.New(sha256.New, s.key[:])
	h.Write(body)
	return h.Sum(nil)
}

// digest says in few bytes what a request asks for and who asks: requests whose
// arguments differ in the order of members or in spaces have the same.
func digest(method, session, name string, arguments json.RawMessage) [digestSize]byte {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber() // all digits count
	var v any
	if d.Decode(&v) == nil {
		arguments = encode(v)
	}
	return sha256.Sum256(encode([]string{method, session, name, string(arguments)}))
}
