package idempotency

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
)

// MaxKeyChars is the maximum length of an idempotency key, in Unicode characters.
const MaxKeyChars = 255

// errInvalidKey is returned to agents, so its text is a complete sentence.
var errInvalidKey = errors.New("an idempotency key must be a string of 1 to 255 printable characters")

// ParseKey parses and validates the idempotency key in a request's JSON. ParseKey returns
// the empty string if rawJSON is empty or null.
func ParseKey(rawJSON json.RawMessage) (string, error) {
	if len(rawJSON) == 0 || string(rawJSON) == "null" {
		return "", nil
	}
	var key string
	if json.Unmarshal(rawJSON, &key) != nil {
		return "", errInvalidKey
	}
	return key, CheckKey(key)
}

// CheckKey returns an error unless key consists of 1 to [MaxKeyChars] printable
// characters in valid UTF-8.
func CheckKey(key string) error {
	if n := utf8.RuneCountInString(key); n == 0 || n > MaxKeyChars || !utf8.ValidString(key) {
		return errInvalidKey
	}
	for _, r := range key {
		if !unicode.IsPrint(r) {
			return errInvalidKey
		}
	}
	return nil
}

// The recorder stores a hash instead of the idempotency key, because a client may put personal data into the key.
func hashKey(key string, c dispatch.Call) string {
	return hashStrings(c.Client.Identity(), c.Tool.FullName(), key)
}

// hashArgs returns the same hash for arguments that differ only in the order of their JSON members.
func hashArgs(c dispatch.Call) string {
	args := c.Args
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) == nil {
		args = rawjson.Encode(value)
	}
	return hashStrings(string(args), c.Browser, fmt.Sprint(c.TabID), c.Instance)
}

func hashStrings(hashedTexts ...string) string {
	checksum := sha256.Sum256(rawjson.Encode(hashedTexts))
	return hex.EncodeToString(checksum[:])
}
