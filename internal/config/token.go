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

const tokenBytes = 32

// Token returns the administrator token of this installation, and creates the token if it
// is missing. Processes that call Token concurrently get the same token. The state
// directory must exist before a call of Token.
func (d Dirs) Token() (string, error) {
	token, err := readToken(d.TokenFile())
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	randomBytes := make([]byte, tokenBytes)
	if _, err := rand.Read(randomBytes); err != nil { // rand.Read never returns an error
		return "", fmt.Errorf("make a token: %w", err)
	}
	if err := statefile.Create(d.TokenFile(), []byte(base64.RawURLEncoding.EncodeToString(randomBytes)+"\n")); err != nil {
		return "", err
	}
	return readToken(d.TokenFile())
}

// ExistingToken returns the administrator token of this installation, or an empty string
// if no token has been created.
func (d Dirs) ExistingToken() (string, error) {
	token, err := readToken(d.TokenFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return token, err
}

// BrowserKey returns the key with which the extension and the server of one installation
// authenticate each other. BrowserKey derives the browser key from the administrator
// token. The extension's folder contains the browser key instead of the token, because
// the browser key opens only the WebSocket.
func BrowserKey(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("opentabs browsers"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// TokenError describes a token file that opentabs cannot use. A TokenError is also
// [ErrDamaged].
type TokenError struct {
	// File is the path of the token file.
	File string
	// Problem describes what is wrong with the file, such as "is empty".
	Problem string
	// IsForbidden is true if the user has no permission to read the file.
	IsForbidden bool
}

func (e *TokenError) Error() string {
	return fmt.Sprintf("the token file %s %s", e.File, e.Problem)
}

func (e *TokenError) Unwrap() error { return ErrDamaged }

// ErrDamaged is the error for a token file that opentabs cannot use.
var ErrDamaged = errors.New("damaged")

const maxTokenFileBytes = 4 << 10

func readToken(path string) (string, error) {
	fileInfo, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission): // the file is a link into a folder of another user
		return "", &TokenError{path, "cannot be read: permission denied", true}
	case err != nil:
		return "", fmt.Errorf("read the token: %w", err)
	case fileInfo.IsDir():
		return "", &TokenError{path, "is a folder", false}
	case !fileInfo.Mode().IsRegular(): // reading a named pipe would block
		return "", &TokenError{path, "is not a regular file", false}
	case fileInfo.Size() > maxTokenFileBytes:
		return "", &TokenError{path, fmt.Sprintf("has %d bytes, which is too long for a token", fileInfo.Size()), false}
	}
	fileContent, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrPermission) {
		return "", &TokenError{path, "cannot be read: permission denied", true}
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(fileContent))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	tokenChars := base64.RawURLEncoding.EncodedLen(tokenBytes)
	switch {
	case token == "":
		return "", &TokenError{path, "is empty", false}
	case strings.Trim(token, alphabet) != "":
		return "", &TokenError{path, "contains bytes that no token has", false}
	case len(token) < tokenChars:
		return "", &TokenError{path, fmt.Sprintf("contains only %d of the %d characters of a token", len(token), tokenChars), false}
	}
	if _, err := base64.RawURLEncoding.DecodeString(token); err != nil {
		return "", &TokenError{path, fmt.Sprintf("contains %d characters, which is no length of a token", len(token)), false}
	}
	return token, nil
}
