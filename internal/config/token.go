package config

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"opentabs/internal/statefile"
)

// tokenBytes is the length of the token before it is encoded: 256 bits.
const tokenBytes = 32

// Token returns the bearer token of this installation, and creates a missing token.
// Processes that call Token at the same time get the same token. The directories d must
// exist before the call of Token.
func (d Dirs) Token() (string, error) {
	token, err := readToken(d.TokenFile())
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	random := make([]byte, tokenBytes)
	if _, err := rand.Read(random); err != nil { // rand.Read never returns an error
		return "", fmt.Errorf("make a token: %w", err)
	}
	if err := statefile.Create(d.TokenFile(), []byte(base64.RawURLEncoding.EncodeToString(random)+"\n")); err != nil {
		return "", err
	}
	return readToken(d.TokenFile())
}

// ExistingToken returns the bearer token of this installation, or "" if it was not
// created yet.
func (d Dirs) ExistingToken() (string, error) {
	token, err := readToken(d.TokenFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return token, err
}

// BrowserKey returns the key with which an extension and the server of one installation
// authenticate each other. The key is derived from the token and gives access to the
// WebSocket only, so that the extension's folder does not contain the token.
func BrowserKey(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("opentabs browsers"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func readToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	decoded, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(decoded) < tokenBytes || strings.ContainsAny(token, "\r\n") { // the decoder skips line ends
		return "", fmt.Errorf("the token in %s is %w: restart the server, which puts it aside and makes a new one", path, ErrDamaged)
	}
	return token, nil
}

// ErrDamaged is the error for a malformed token file.
var ErrDamaged = errors.New("damaged")
