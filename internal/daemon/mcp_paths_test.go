package daemon

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"opentabs/internal/httpapi"
)

// A request with one token cannot use a session that was opened with another token.
func TestMCPPathsAcceptOneCredentialKind(t *testing.T) {
	withFakeTimeDaemon(t, func(w *fakeTimeDaemon) {
		postRequest := func(path, token, session, requestBody string) (*http.Response, string) {
			req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, "http://127.0.0.1"+path, strings.NewReader(requestBody))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json")
			if session != "" {
				req.Header.Set("Mcp-Session-Id", session)
			}
			resp, err := w.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			responseBody, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return resp, string(responseBody)
		}
		const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
		const listRequest = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
		sessions := map[string]string{}
		tokens := map[string]string{"/mcp": w.clientToken, httpapi.CommandPath: w.token}
		wrongPathOf := map[string]string{"/mcp": httpapi.CommandPath, httpapi.CommandPath: "/mcp"}
		for path, token := range tokens {
			resp, responseBody := postRequest(path, token, "", initialize)
			sessions[path] = resp.Header.Get("Mcp-Session-Id")
			if resp.StatusCode != http.StatusOK || sessions[path] == "" {
				t.Errorf("%s with its own token: status %s, body %s; want 200 and a session", path, resp.Status, responseBody)
			}
			if resp, responseBody := postRequest(wrongPathOf[path], token, "", initialize); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s with the token for %s: status %s, body %s; want 403", wrongPathOf[path], path, resp.Status, responseBody)
			}
		}
		for path, wrongPath := range wrongPathOf {
			if resp, responseBody := postRequest(path, tokens[path], sessions[wrongPath], listRequest); resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s with the session of %s: status %s, body %s; want 404", path, wrongPath, resp.Status, responseBody)
			}
			if resp, responseBody := postRequest(path, tokens[path], sessions[path], listRequest); resp.StatusCode != http.StatusOK {
				t.Errorf("%s with its own session: status %s, body %s; want 200", path, resp.Status, responseBody)
			}
		}
	})
}
