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

	"opentabs/internal/rawjson"
)

// digestSize is the size of a digest and of a seal, in bytes.
const digestSize = sha256.Size

// seal makes texts that clients store for the server but cannot change. The key of the
// seal is lost when the server stops.
type seal struct{ key [digestSize]byte }

func newSeal() seal {
	var s seal
	_, _ = rand.Read(s.key[:]) // rand.Read never fails
	return s
}

// sealContent is the content of a sealed text.
type sealContent struct {
	// id is the ID of a resumableCall, sealedIDSize characters.
	id        string
	expiresAt time.Time
	// requestDigest is the digest of the request that the sealed text belongs to.
	requestDigest [digestSize]byte
}

// These constants are the sizes of the values in a sealed text, in bytes. sealedIDSize
// is the length of an id that rand.Text returned.
const (
	sealedIDSize = 26
	nonceSize    = 8
	sealedSize   = sealedIDSize + 8 + nonceSize + 2*digestSize
)

// sealText returns the content v as a sealed text. Each call of sealText returns a
// different text, because the text contains a nonce.
func (s seal) sealText(v sealContent) string {
	b := append(make([]byte, 0, sealedSize), v.id...)
	b = binary.BigEndian.AppendUint64(b, uint64(v.expiresAt.UnixMilli()))
	b = append(b, make([]byte, nonceSize)...)
	_, _ = rand.Read(b[len(b)-nonceSize:])
	b = append(b, v.requestDigest[:]...)
	return base64.RawURLEncoding.EncodeToString(append(b, s.computeMAC(b)...))
}

// openText returns the content of a sealed text, or false if this server did not make
// the text.
func (s seal) openText(text string) (sealContent, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != sealedSize {
		return sealContent{}, false
	}
	body, mac := b[:len(b)-digestSize], b[len(b)-digestSize:]
	if !hmac.Equal(mac, s.computeMAC(body)) {
		return sealContent{}, false
	}
	v := sealContent{id: string(body[:sealedIDSize]), expiresAt: time.UnixMilli(int64(binary.BigEndian.Uint64(body[sealedIDSize:])))}
	copy(v.requestDigest[:], body[sealedIDSize+8+nonceSize:])
	return v, true
}

func (s seal) computeMAC(body []byte) []byte {
	h := hmac.New(sha256.New, s.key[:])
	h.Write(body)
	return h.Sum(nil)
}

// hashRequest returns a hash of a request and its session. Arguments that differ only
// in spaces or in the order of members have equal hashes.
func hashRequest(method, session, name string, arguments json.RawMessage) [digestSize]byte {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber() // json.Number keeps all digits
	var v any
	if d.Decode(&v) == nil {
		arguments = rawjson.Encode(v)
	}
	return sha256.Sum256(rawjson.Encode([]string{method, session, name, string(arguments)}))
}
