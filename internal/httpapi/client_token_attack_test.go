package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

const clientTokenInTest = "otc_of-the-laptop"

type fakeClientTokens struct {
	mu      sync.Mutex // the mutex guards all fields below
	removed bool
	cancels []context.CancelFunc
}

func (o *fakeClientTokens) Enter(ctx context.Context, token string) (string, context.Context, func(), bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if token != clientTokenInTest || o.removed {
		return "", nil, nil, false
	}
	clientCtx, cancel := context.WithCancel(ctx)
	o.cancels = append(o.cancels, cancel)
	return "laptop", clientCtx, cancel, true
}

func (o *fakeClientTokens) Reload() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.removed = true
	for _, cancel := range o.cancels {
		cancel()
	}
	return nil
}

func TestAttackByClient(t *testing.T) {
	f := startFixture(t)
	clients := &fakeClientTokens{}
	f.api.guard.clients = clients
	bearer := map[string]string{"Authorization": "Bearer " + clientTokenInTest}
	paths := map[string]string{
		"/nothing": "GET", "/": "GET", "/mcp/": "POST", "/mcp/../status": "GET", "//mcp": "POST", "/mcp/status": "GET", "/MCP": "POST", CommandPath: "POST",
		"/plugins/a/permission?by=x": "POST", "/debug/pprof/heap": "GET",
	}
	for path, methods := range f.api.routeTable() {
		for method := range methods {
			paths[strings.NewReplacer("{id}", "x", "{name}", "messages").Replace(path)] = method
		}
	}
	if len(paths) < 25 {
		t.Fatalf("%d paths; the table of routes is empty", len(paths))
	}
	for path, method := range paths {
		for _, method := range []string{method, "GET", "POST", "DELETE", "OPTIONS", "HEAD"} {
			t.Run("the token of a client on "+method+" "+path, func(t *testing.T) {
				req, err := http.NewRequest(method, f.url+path, strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Authorization", bearer["Authorization"])
				// Redirects are not followed, so that the test can check them.
				noRedirects := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
				resp, err := noRedirects.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				isRedirect := resp.StatusCode/100 == 3 && len(body) < 200
				hasSentence := method == "HEAD" || strings.Contains(string(body), "the token of the MCP client laptop opens /mcp and nothing else")
				if !isRedirect && (resp.StatusCode != http.StatusForbidden || !hasSentence) {
					t.Errorf("%d %s", resp.StatusCode, body)
				}
			})
		}
	}
	t.Run("beside these attacks, the client itself on /mcp", func(t *testing.T) {
		if resp, body := f.sendRequest(t, "POST", "/mcp", bearer); resp.StatusCode != http.StatusOK || body != "mcp" {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
	})
	t.Run("the token of a client as the proof that it is the server", func(t *testing.T) {
		const challenge = "0123456789abcdef"
		_, body := f.sendRequest(t, "GET", "/healthz?challenge="+challenge, nil)
		if strings.Contains(body, computeProof(clientTokenInTest, f.port, challenge)) {
			t.Errorf("the server proves itself with a client's token: %s", body)
		}
	})
	t.Run("a token that was removed", func(t *testing.T) {
		if resp, body := f.sendRequest(t, "POST", "/clients/reload", map[string]string{"Authorization": "Bearer " + testToken}); resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", resp.StatusCode, body)
		}
		for _, path := range []string{"/mcp", "/status"} {
			if resp, body := f.sendRequest(t, "POST", path, bearer); resp.StatusCode != http.StatusUnauthorized || !strings.Contains(body, "opentabs client add NAME") {
				t.Errorf("%s: %d %s", path, resp.StatusCode, body)
			}
		}
	})
}

// TestAdministratorIsRefusedOnMCP checks that /mcp rejects the administrator token for
// every HTTP method, and that the error names the command to use instead.
func TestAdministratorIsRefusedOnMCP(t *testing.T) {
	f := startFixture(t)
	f.api.guard.clients = &fakeClientTokens{}
	for _, method := range allMethods {
		resp, body := f.send(t, requestText(method, "/mcp", "Host: localhost", "Authorization: Bearer "+testToken))
		if resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s /mcp: %v %s", method, resp, body)
			continue
		}
		if method != http.MethodHead && !strings.Contains(body, "the administrator's token does not open /mcp: create a token for this MCP client with `opentabs client add NAME`") {
			t.Errorf("%s /mcp: %s", method, body)
		}
	}
}

// TestCallerIsNamed checks that the handler of /mcp receives the client's name from the
// guard, and that removing the token ends the client's request.
func TestCallerIsNamed(t *testing.T) {
	clients := &fakeClientTokens{}
	callerNames := make(chan string, 3)
	callErrors := make(chan error, 1)
	api := New(Options{Token: testToken, Clients: clients, MCP: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		callerNames <- fmt.Sprintf("%q", CallerOf(r.Context()).Client)
		if r.URL.RawQuery == "wait" {
			<-r.Context().Done()
			callErrors <- r.Context().Err()
		}
	})})
	url := serveAPI(t, api)
	sendRequest := func(token, path string) {
		req, err := http.NewRequest(http.MethodGet, url+path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("X-Client", "desk")
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
		}
	}
	sendRequest(clientTokenInTest, "/mcp?client=desk")
	sendRequest(testToken, CommandPath)
	if a, b := <-callerNames, <-callerNames; a != `"laptop"` || b != `""` {
		t.Errorf("callers %s and %s", a, b)
	}
	go sendRequest(clientTokenInTest, "/mcp?wait")
	<-callerNames
	if err := clients.Reload(); err != nil {
		t.Fatal(err)
	}
	if err := <-callErrors; err == nil {
		t.Error("the request goes on")
	}
}

func serveAPI(t *testing.T, api *API) string {
	t.Helper()
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	return server.URL
}
