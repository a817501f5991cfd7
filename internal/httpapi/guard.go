package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"opentabs/internal/httpjson"
	"opentabs/internal/loopback"
)

// requestGuard rejects requests that do not come from a program of the user who runs the
// server.
//
// A web page can send requests to the loopback address, but the browser adds the page's
// origin in the Origin header. In a DNS rebinding attack, the Host header has the page's
// host name. Another user of the machine can send any request, but does not have the
// token.
type requestGuard struct {
	token   [sha256.Size]byte
	clients ClientTokens
	origins []string
}

func newGuard(token string, clients ClientTokens, origins []string) *requestGuard {
	return &requestGuard{token: sha256.Sum256([]byte(token)), clients: clients, origins: origins}
}

// Requests with the server's own origin are harmless, because the server has no web pages and requires the token.
func (g *requestGuard) requireLocal(nextHandler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.IsHost(r.Host) {
			httpjson.SendError(w, http.StatusMisdirectedRequest, "the Host header is not this machine's: connect to 127.0.0.1, localhost or [::1]")
			return
		}
		origins := r.Header.Values("Origin")
		if !g.isTrustedOrigin(r.Host, origins) || len(origins) == 0 && isWebPageRequest(r.Header) {
			httpjson.SendError(w, http.StatusForbidden, "requests from web pages are refused: connect from a program, without an Origin header")
			return
		}
		nextHandler.ServeHTTP(w, r)
	})
}

// Caller identifies the sender of a request. The guard sets the Caller after checking the
// token.
type Caller struct {
	// Client is the name of the MCP client to which the token belongs. The field Client
	// is empty if the request has the administrator token.
	Client string
}

type callerKey struct{}

// CallerOf returns the sender of a request from the request context that Options.MCP and
// Options.Stdio receive.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

func (g *requestGuard) requireToken(nextHandler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := bearerTokenOf(r.Header)
		if g.isAdministrator(token) {
			nextHandler.ServeHTTP(w, r)
			return
		}
		if name, _, endRequest, ok := g.authenticateClient(r.Context(), token); ok {
			endRequest()
			httpjson.SendError(w, http.StatusForbidden, fmt.Sprintf("the token of the MCP client %s opens /mcp and nothing else: use the opentabs command for this", name))
			return
		}
		writeUnauthorized(w)
	})
}

// requireClient rejects the administrator token, so that no MCP client has a reason to store it.
func (g *requestGuard) requireClient(nextHandler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := bearerTokenOf(r.Header)
		name, ctx, endRequest, ok := g.authenticateClient(r.Context(), token)
		switch {
		case ok:
		case g.isAdministrator(token):
			httpjson.SendError(w, http.StatusForbidden, "the administrator's token does not open /mcp: create a token for this MCP client with `opentabs client add NAME`, and send that token")
			return
		default:
			writeUnauthorized(w)
			return
		}
		defer endRequest()
		nextHandler.ServeHTTP(w, r.WithContext(context.WithValue(ctx, callerKey{}, Caller{Client: name})))
	})
}

func (g *requestGuard) authenticateClient(ctx context.Context, token string) (name string, requestCtx context.Context, endRequest func(), ok bool) {
	if g.clients == nil || len(token) == 0 {
		return "", nil, nil, false
	}
	return g.clients.Enter(ctx, token)
}

// A request with two Authorization headers has no token, because proxies and servers disagree on which is valid.
func bearerTokenOf(h http.Header) string {
	headerValues := h.Values("Authorization")
	if len(headerValues) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(headerValues[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// The tokens are compared in constant time, because their hashes have equal length.
func (g *requestGuard) isAdministrator(token string) bool {
	checksum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(checksum[:], g.token[:]) == 1
}

func writeUnauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="opentabs"`)
	httpjson.SendError(w, http.StatusUnauthorized, "the token is missing or wrong: send the header Authorization: Bearer TOKEN to /mcp with a token that `opentabs client add NAME` made; for everything else use the opentabs command")
}

// When a page loads an image or a script, the request has the header Sec-Fetch-Site but no Origin. Sec-Fetch-Site is
// "none" for URLs that the user entered, and for requests of extensions.
func isWebPageRequest(h http.Header) bool {
	site := h.Values("Sec-Fetch-Site")
	return len(site) > 0 && !slices.Equal(site, []string{"none"})
}

func (g *requestGuard) isTrustedOrigin(host string, origins []string) bool {
	switch len(origins) {
	case 0:
		return true
	case 1:
		return origins[0] == "http://"+host || slices.Contains(g.origins, origins[0])
	}
	return false
}

func writeConfirmationHeader(w http.ResponseWriter) {
	httpjson.Send(w, http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
}
