package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"opentabs/internal/goldentest"
)

func TestGoldenResponses(t *testing.T) {
	f := startFixture(t)
	token := "Authorization: Bearer " + testToken
	var b bytes.Buffer
	for _, request := range []struct {
		method, path string
		header       []string
	}{
		{http.MethodGet, "/healthz", nil},
		{http.MethodGet, "/healthz?challenge=x", nil},
		{http.MethodGet, "/status", nil},
		{http.MethodGet, "/status", []string{token, "Origin: https://evil.example"}},
		{http.MethodGet, "/calls", []string{token}},
		{http.MethodPost, "/calls", []string{token}},
		{http.MethodGet, "/calls/none", []string{token}},
		{http.MethodPost, "/calls/none/decide", []string{token, "Content-Length: 0"}},
		{http.MethodPost, "/plugins/reload", []string{token, "Content-Length: 0"}},
		{http.MethodGet, "/none", []string{token}},
		{http.MethodGet, "/mcp", []string{token}},
		{http.MethodGet, "/stdio", []string{token}},
		{http.MethodGet, "/logs?level=none", []string{token}},
	} {
		resp, body := f.send(t, requestText(request.method, request.path, append([]string{"Host: 127.0.0.1"}, request.header...)...))
		if resp == nil {
			t.Fatalf("%s %s has no response; want a response", request.method, request.path)
		}
		resp.Header.Del("Date")
		fmt.Fprintf(&b, "%s %s\n%s\n", request.method, request.path, resp.Status)
		if err := resp.Header.Write(&b); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", body)
	}
	goldentest.Compare(t, "testdata/responses.txt", bytes.ReplaceAll(b.Bytes(), []byte("\r\n"), []byte("\n")))
}
