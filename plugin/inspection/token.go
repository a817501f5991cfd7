package inspection

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"sync"
	"time"
)

const (
	// tokenLifetime is how long a token is valid.
	tokenLifetime = 10 * time.Minute
	// maxTokens is how many tokens are kept. If there are more tokens, the oldest token
	// is dropped.
	maxTokens = 200
)

// Tokens are proofs that an agent has inspected a plugin. An agent receives a token
// with an inspection and returns the token with a recommendation. A token has 256
// random bits. Each token is valid once, for 10 minutes, for one content of one plugin.
// The zero value is ready for use. Tokens are safe for concurrent use.
type Tokens struct {
	mu     sync.Mutex    // guards issued
	issued []issuedToken // issued tokens, oldest first
}

type issuedToken struct {
	token, name, hash string
	validUntil        time.Time
}

// Issue returns a token for an inspection.
func (r *Tokens) Issue(inspected *Inspection) string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // rand.Read never fails
	token := base64.RawURLEncoding.EncodeToString(random[:])
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.issued) == maxTokens {
		r.issued = r.issued[1:]
	}
	r.issued = append(r.issued, issuedToken{token, inspected.Plugin.Name, inspected.Hash, time.Now().Add(tokenLifetime)})
	return token
}

// errToken is the error for every invalid token, whatever the reason.
var errToken = errors.New("the review token is not valid (any more): each is for one plugin, once, and for 10 minutes; inspect the plugin again for a new one")

// Redeem returns the hash of the inspected content. A token is used up by the first
// attempt, even if that attempt fails.
func (r *Tokens) Redeem(token, name string) (hash string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, issued := range r.issued {
		if issued.token != token {
			continue
		}
		r.issued = append(r.issued[:i:i], r.issued[i+1:]...)
		if issued.name != name || !time.Now().Before(issued.validUntil) {
			return "", errToken
		}
		return issued.hash, nil
	}
	return "", errToken
}
