package mcpserver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"opentabs/internal/goldentest"
)

func TestGoldenHTTPResponses(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{Version: "1.2.3"})
	open, sessionlessPeer := s.open(t, "a"), s.sessionlessClient(t)
	modernClient := s.sessionlessClient(t)
	modernClient.version = "2026-07-28"
	var b bytes.Buffer
	record := func(name string, r *http.Request) {
		resp := open.do(r)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Header.Del("Date")
		if resp.Header.Get("Mcp-Session-Id") != "" {
			resp.Header.Set("Mcp-Session-Id", "...")
		}
		fmt.Fprintf(&b, "%s\n%s, length %d\n", name, resp.Status, resp.ContentLength)
		if err := resp.Header.Write(&b); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n\n", body)
	}
	postRequest := func(c *client, requestBody string) *http.Request {
		return c.newRequest(t.Context(), http.MethodPost, requestBody)
	}
	record("PUT", open.newRequest(t.Context(), http.MethodPut, ""))
	record("no JSON", postRequest(open, "x"))
	record("no request", postRequest(open, "[]"))
	plainRequest := postRequest(open, "{}")
	plainRequest.Header.Set("Content-Type", "text/plain")
	record("text", plainRequest)
	record("without a session", postRequest(sessionlessPeer, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	record("initialize", postRequest(sessionlessPeer, initializeText("b")))
	record("notification", postRequest(open, `{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	record("ping", postRequest(open, `{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	record("list", postRequest(open, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	record("prompts", postRequest(open, `{"jsonrpc":"2.0","id":"p","method":"prompts/list"}`))
	record("unknown method", postRequest(open, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`))
	record("call", postRequest(open, callText("2", `{"a":1.50}`, "{}")))
	record("bad params", postRequest(open, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":1}}`))
	jsonOnlyRequest := open.newRequest(t.Context(), http.MethodGet, "")
	jsonOnlyRequest.Header.Set("Accept", "application/json")
	record("GET for JSON", jsonOnlyRequest)
	record("modern without headers", postRequest(modernClient, callText("4", "{}", "{}")))
	record("DELETE", open.newRequest(t.Context(), http.MethodDelete, ""))
	record("after the end", postRequest(open, `{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	goldentest.Compare(t, "testdata/responses.txt", bytes.ReplaceAll(b.Bytes(), []byte("\r\n"), []byte("\n")))
}
