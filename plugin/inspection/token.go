package inspection

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"sync"
	"time"
)

const (
	// tokenLife is how long a review token holds.
	tokenLife = 10 * time.Minute
	// maxTokens is how many are kept; the oldest goes first.
	maxTokens = 200
)

// Tokens are what an agent gets when it inspects a plugin, and gives back
// when it recommends what it has seen: 256 random bits, for 10 minutes, once, for
// one content of one plugin. The zero value is ready; it is safe for concurrent
// use.
type Tokens struct {
	mu     sync.Mutex    // guards issued
	issued []issuedToken // oldest first
}

type issuedToken struct {
	token, name, hash string
	until             time.Time
}

// Issue returns a token for what was inspected.
func (r *Tokens) Issue(in *Inspection) string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // it never fails
	token := base64.RawURLEncoding.EncodeToString(random[:])
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.issued) == maxTokens {
		r.issued = r.issued[1:]
	}
	r.issued = append(r.issued, issuedToken{token, in.Plugin.Name, in.Hash, time.Now().Add(tokenLife)})
	return token
}

// errToken says the same of every token that does not do.
var errToken = errors.New("the review token is not valid (any more): each is for one plugin, once, and for 10 minutes; inspect the plugin again for a new one")

// Redeem takes a token back and returns the hash of the content that was
// inspected. A token is gone after the first try, whatever comes of it.
func (r *Tokens) Redeem(token, name string) (hash string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, one := range r.issued {
		if one.token != token {
			continue
		}
		r.issued = append(r.issued[:i:i], r.issued[i+1:]...)
		if one.name != name || !time.Now().Before(one.until) {
			return "", errToken
		}
		return one.hash, nil
	}
	return "", errToken
}
