package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"opentabs/internal/loopback"
)

// guard refuses what does not come from a program of this machine's user.
//
// A web page can reach loopback in two ways: with its own origin in Origin, or,
// after its host name was pointed at 127.0.0.1, with its own host in Host.
// Another user of the machine can send what he likes but does not know the
// token.
type guard struct {
	token   [sha256.Size]byte
	origins []string
}

func newGuard(token string, origins []string) *guard {
	return &guard{token: sha256.Sum256([]byte(token)), origins: origins}
}

// local lets a request through whose Host is this machine and whose Origin, if
// it has one, is trusted.
func (g *guard) local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.IsHost(r.Host) {
			refuse(w, http.StatusMisdirectedRequest, "the Host header is not this machine's: connect to 127.0.0.1, localhost or [::1]")
			return
		}
		if !g.trusts(r.Header.Values("Origin")) {
			refuse(w, http.StatusForbidden, "requests from web pages are refused: connect from a program, without an Origin header")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bearer lets a request through that carries the token.
func (g *guard) bearer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		// The sums have one length, so that the comparison takes one time.
		sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
		if subtle.ConstantTimeCompare(sum[:], g.token[:]) != 1 || !strings.EqualFold(scheme, "Bearer") {
			w.Header().Set("WWW-Authenticate", `Bearer realm="opentabs"`)
			refuse(w, http.StatusUnauthorized, "the token is missing or wrong: send the header Authorization: Bearer TOKEN with the token of this server's state directory (opentabs status tells where that is)")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *guard) trusts(origins []string) bool {
	switch len(origins) {
	case 0:
		return true
	case 1:
		return slices.Contains(g.origins, origins[0])
	}
	return false
}

// refuse answers with a sentence that says what to do.
func refuse(w http.ResponseWriter, status int, sentence string) {
	answer(w, status, problem{Error: sentence})
}

// problem is the body of every answer that is not a success.
type problem struct {
	Error string `json:"error"`
}

func answer(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"the answer is not JSON: report this as a bug of opentabs"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// An error means that the client has gone.
	_, _ = w.Write(append(data, '\n'))
}
