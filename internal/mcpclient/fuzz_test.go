package mcpclient

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answers is a server that answers every request in the same way.
type answers struct {
	status int
	kind   string
	body   []byte
}

// RoundTrip implements http.RoundTripper.
func (r answers) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: r.status, Header: http.Header{"Content-Type": {r.kind}, "Mcp-Session-Id": {"s"}},
		Body: io.NopCloser(bytes.NewReader(r.body)), Request: req,
	}, nil
}

// FuzzAnswer checks arbitrary responses of a server: the client must not panic or
// hang, and accepts only a response with the call's ID.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],"isError":true}}`,
		`{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}`,
		`{"error":"the token is wrong"}`, "null", "", "[]", "<html>",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n" +
			"data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
		"event: message\ndata: nonsense\n\n",
	} {
		f.Add(200, true, []byte(body))
		f.Add(404, false, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, events bool, body []byte) {
		kind := "application/json"
		if events {
			kind = "text/event-stream"
		}
		c := New(Options{URL: "http://127.0.0.1/mcp", Transport: answers{status % 1000, kind, body}})
		_, err := c.CallTool(t.Context(), "t", []byte(`{}`), func(Progress) {})
		if err == nil && !bytes.Contains(body, []byte("1")) {
			t.Errorf("%q is taken for the answer to request 1", body)
		}
		var rpc *RPCError
		var wrong *statusError
		if err != nil && !errors.As(err, &rpc) && !errors.As(err, &wrong) && !strings.HasPrefix(err.Error(), "tools/call: ") &&
			!strings.HasPrefix(err.Error(), "read the answer of tools/call: ") {
			t.Errorf("%q: the error does not name the failure: %v", body, err)
		}
		if wrong != nil && len(wrong.Sentence) > 1000 {
			t.Errorf("a sentence of %d bytes", len(wrong.Sentence))
		}
	})
}
