package inspection

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"sync"
	"time"
)

const (
	// tokenLifetime is how long a review token is valid after its inspection.
	tokenLifetime = 10 * time.Minute
	// maxTokens is the maximum number of stored review tokens. If maxTokens review tokens are
	// already stored, a new token replaces the oldest one.
	maxTokens = 200
)

// Tokens are proofs that an agent has inspected a plugin. An agent receives a token with an
// inspection and sends the token back with a recommendation. A token has 256 random bits. A
// review token is valid for one use, within 10 minutes, for one content of one plugin. The
// zero Tokens is ready for use and safe for concurrent use.
type Tokens struct {
	mu           sync.Mutex // the mutex guards the field issuedTokens
	issuedTokens []issuedToken
}

type issuedToken struct {
	token, name, hash string
	validUntil        time.Time
}

// Issue returns a new token for an inspection.
func (r *Tokens) Issue(inspection *Inspection) string {
	var randomBytes [32]byte
	_, _ = rand.Read(randomBytes[:]) // rand.Read never fails
	token := base64.RawURLEncoding.EncodeToString(randomBytes[:])
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.issuedTokens) == maxTokens {
		r.issuedTokens = r.issuedTokens[1:]
	}
	r.issuedTokens = append(r.issuedTokens, issuedToken{token, inspection.Plugin.Name, inspection.Hash, time.Now().Add(tokenLifetime)})
	return token
}

// The text of errInvalidToken does not reveal why the token is invalid.
var errInvalidToken = errors.New("the review token is not valid (any more): each is for one plugin, once, and for 10 minutes; inspect the plugin again for a new one")

// Redeem returns the hash of the content that the agent inspected to get the token. A review token can be redeemed only
// once. A failed attempt to redeem a token makes the token invalid.
func (r *Tokens) Redeem(token, name string) (hash string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, issued := range r.issuedTokens {
		if issued.token != token {
			continue
		}
		r.issuedTokens = append(r.issuedTokens[:i:i], r.issuedTokens[i+1:]...)
		if issued.name != name || !time.Now().Before(issued.validUntil) {
			return "", errInvalidToken
		}
		return issued.hash, nil
	}
	return "", errInvalidToken
}
