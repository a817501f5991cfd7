package mcpclient

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

type fixedResponse struct {
	httpStatus  int
	contentType string
	body        []byte
}

func (r fixedResponse) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: r.httpStatus, Header: http.Header{"Content-Type": {r.contentType}, "Mcp-Session-Id": {"s"}},
		Body: io.NopCloser(bytes.NewReader(r.body)), Request: req,
	}, nil
}

// The client must neither panic nor hang, and must accept only the response that has the ID of its request.
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
	f.Fuzz(func(t *testing.T, httpStatus int, isEventStream bool, requestBody []byte) {
		contentType := "application/json"
		if isEventStream {
			contentType = "text/event-stream"
		}
		c := New(Options{URL: "http://127.0.0.1/mcp", Transport: fixedResponse{httpStatus % 1000, contentType, requestBody}})
		_, err := c.CallTool(t.Context(), "t", []byte(`{}`), func(Progress) {})
		if err == nil && !bytes.Contains(requestBody, []byte("1")) {
			t.Errorf("the client accepted %q as the response to request 1, want an error", requestBody)
		}
		var rpcErr *RPCError
		var statusErr *statusError
		if err != nil && !errors.As(err, &rpcErr) && !errors.As(err, &statusErr) && !strings.HasPrefix(err.Error(), "tools/call: ") &&
			!strings.HasPrefix(err.Error(), "read the answer of tools/call: ") {
			t.Errorf("response %q: error %v; want an error that describes the failure", requestBody, err)
		}
		if statusErr != nil && len(statusErr.ReasonText) > 1000 {
			t.Errorf("the error message of the server has %d bytes, want at most 1000", len(statusErr.ReasonText))
		}
	})
}
