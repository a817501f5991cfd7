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

// local lets a request through whose Host is this machine and that no web page
// made: its Origin, if it has one, is trusted. The server has no pages, so some
// clients and proxies name its own origin, which is no other site's; they need
// the token like all others.
func (g *guard) local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.IsHost(r.Host) {
			refuse(w, http.StatusMisdirectedRequest, "the Host header is not this machine's: connect to 127.0.0.1, localhost or [::1]")
			return
		}
		origins := r.Header.Values("Origin")
		if !g.trusts(r.Host, origins) || len(origins) == 0 && fromPage(r.Header) {
			refuse(w, http.StatusForbidden, "requests from web pages are refused: connect from a program, without an Origin header")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bearer lets a request through that carries the token.
func (g *guard) bearer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Of two headers no two readers believe the same one.
		var given string
		if all := r.Header.Values("Authorization"); len(all) == 1 {
			given = all[0]
		}
		scheme, token, _ := strings.Cut(given, " ")
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

// fromPage reports whether a browser made the request for a page. A page's GET of
// an image or a script has no Origin, but this. "none" is the person's own, typed
// into the address bar, or an extension's.
func fromPage(h http.Header) bool {
	site := h.Values("Sec-Fetch-Site")
	return len(site) > 0 && !slices.Equal(site, []string{"none"})
}

// trusts reports whether a request to host may have these Origin headers.
func (g *guard) trusts(host string, origins []string) bool {
	switch len(origins) {
	case 0:
		return true
	case 1:
		return origins[0] == "http://"+host || slices.Contains(g.origins, origins[0])
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
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	w.WriteHeader(status)
	// An error means that the client has gone.
	_, _ = w.Write(append(data, '\n'))
}
