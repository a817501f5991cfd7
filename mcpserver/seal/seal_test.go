package seal_test

import (
	"crypto/rand"
	"encoding/json"
	"testing"
	"time"

	"opentabs/mcpserver/seal"
)

func TestSeal(t *testing.T) {
	s, secondSeal := seal.New(), seal.New()
	sealedContent := seal.Content{ID: rand.Text(), ExpiresAt: time.UnixMilli(1234567890123), RequestDigest: seal.HashRequest("m", "s", "n", json.RawMessage(`{}`))}
	sealedText := s.Encode(sealedContent)
	if decodedContent, ok := s.Decode(sealedText); !ok || decodedContent != sealedContent {
		t.Errorf("Decode of an unchanged sealed text returned %+v, %v; want %+v, true", decodedContent, ok, sealedContent)
	}
	if s.Encode(sealedContent) == sealedText {
		t.Error("two sealed texts with equal content are equal; want different texts")
	}
	if _, ok := secondSeal.Decode(sealedText); ok {
		t.Error("Decode accepted a text that another server sealed; want false")
	}
	for i := range sealedText {
		b := []byte(sealedText)
		if b[i]++; b[i] == '[' || b[i] == '{' || b[i] == ':' || b[i] == '.' || b[i] == '`' {
			b[i] = 'A'
		}
		if _, ok := s.Decode(string(b)); ok {
			t.Errorf("Decode accepted a sealed text with a changed byte %d; want false", i)
		}
	}
	digests := map[seal.Digest]bool{}
	for _, d := range []seal.Digest{
		seal.HashRequest("m", "s", "n", nil), seal.HashRequest("m", "s", "n", json.RawMessage(`{}`)), seal.HashRequest("m", "s", "na", nil), seal.HashRequest("m", "sn", "", nil),
		seal.HashRequest("m2", "s", "n", nil), seal.HashRequest("m", "s", "n", json.RawMessage(`{"a":9007199254740993}`)), seal.HashRequest("m", "s", "n", json.RawMessage(`{"a":9007199254740992}`)),
	} {
		digests[d] = true
	}
	if len(digests) != 7 {
		t.Errorf("the seven requests have %d different digests; want 7", len(digests))
	}
}
