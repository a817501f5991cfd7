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
	mu          sync.Mutex // the mutex guards all fields below
	isRemoved   bool
	cancelFuncs []context.CancelFunc
}

func (o *fakeClientTokens) Enter(ctx context.Context, token string) (string, context.Context, func(), bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if token != clientTokenInTest || o.isRemoved {
		return "", nil, nil, false
	}
	clientCtx, cancel := context.WithCancel(ctx)
	o.cancelFuncs = append(o.cancelFuncs, cancel)
	return "laptop", clientCtx, cancel, true
}

func (o *fakeClientTokens) Reload() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.isRemoved = true
	for _, cancel := range o.cancelFuncs {
		cancel()
	}
	return nil
}

func TestAttackByClient(t *testing.T) {
	f := startFixture(t)
	clients := &fakeClientTokens{}
	f.api.guard.clients = clients
	bearerHeader := map[string]string{"Authorization": "Bearer " + clientTokenInTest}
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
		t.Fatalf("the test has %d paths; want at least 25 from the table of routes", len(paths))
	}
	for path, method := range paths {
		for _, method := range []string{method, "GET", "POST", "DELETE", "OPTIONS", "HEAD"} {
			t.Run("client token on "+method+" "+path, func(t *testing.T) {
				req, err := http.NewRequest(method, f.url+path, strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Authorization", bearerHeader["Authorization"])
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
				hasExplanation := method == "HEAD" || strings.Contains(string(body), "the token of the MCP client laptop opens /mcp and nothing else")
				if !isRedirect && (resp.StatusCode != http.StatusForbidden || !hasExplanation) {
					t.Errorf("status %d, body %s; want 403 and the reason", resp.StatusCode, body)
				}
			})
		}
	}
	t.Run("client token on its own route /mcp", func(t *testing.T) {
		if resp, body := f.sendRequest(t, "POST", "/mcp", bearerHeader); resp.StatusCode != http.StatusOK || body != "mcp" {
			t.Errorf("POST /mcp with a client token: status %d, body %s; want 200", resp.StatusCode, body)
		}
	})
	t.Run("client token as the key of the server's proof", func(t *testing.T) {
		const challenge = "0123456789abcdef"
		_, body := f.sendRequest(t, "GET", "/healthz?challenge="+challenge, nil)
		if strings.Contains(body, computeProof(clientTokenInTest, f.port, challenge)) {
			t.Errorf("response of /healthz = %s; want no proof that is computed with a client token", body)
		}
	})
	t.Run("removed client token", func(t *testing.T) {
		if resp, body := f.sendRequest(t, "POST", "/clients/reload", map[string]string{"Authorization": "Bearer " + testToken}); resp.StatusCode != http.StatusOK {
			t.Fatalf("POST /clients/reload: status %d, body %s; want 200", resp.StatusCode, body)
		}
		for _, path := range []string{"/mcp", "/status"} {
			if resp, body := f.sendRequest(t, "POST", path, bearerHeader); resp.StatusCode != http.StatusUnauthorized || !strings.Contains(body, "opentabs client add NAME") {
				t.Errorf("%s with a removed token: status %d, body %s; want 401 and the command for a new token", path, resp.StatusCode, body)
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
			t.Errorf("%s /mcp with the administrator token: response %v, body %s; want status 403", method, resp, body)
			continue
		}
		if method != http.MethodHead && !strings.Contains(body, "the administrator's token does not open /mcp: create a token for this MCP client with `opentabs client add NAME`") {
			t.Errorf("%s /mcp with the administrator token: body %s; want the command that creates a client token", method, body)
		}
	}
}

// TestHandlerReceivesClientName checks that the handler of /mcp receives the client's name from the
// guard, and that removing the token ends the client's request.
func TestHandlerReceivesClientName(t *testing.T) {
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
		t.Errorf("callers = %s and %s; want \"laptop\" for the client token and \"\" for the administrator token", a, b)
	}
	go sendRequest(clientTokenInTest, "/mcp?wait")
	<-callerNames
	if err := clients.Reload(); err != nil {
		t.Fatal(err)
	}
	if err := <-callErrors; err == nil {
		t.Error("the client's request continued after its token was removed; want a cancelled request")
	}
}

func serveAPI(t *testing.T, api *API) string {
	t.Helper()
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	return server.URL
}
