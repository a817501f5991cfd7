package httpapi

import (
	"net/http"
	"testing"

	"opentabs/dispatch/hops"
)

func TestRequestsAreTracedByHeader(t *testing.T) {
	isTraced := make(chan bool, 1)
	api := New(Options{Token: testToken, MCP: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		isTraced <- hops.FromContext(r.Context()) != nil
	})})
	url := serveAPI(t, api)
	for _, want := range []bool{true, false} {
		req, err := http.NewRequest(http.MethodPost, url+CommandPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+testToken)
		if want {
			req.Header.Set(hops.Header, "1")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := <-isTraced; got != want {
			t.Errorf("request with a trace header = %t: traced = %t, want %t", want, got, want)
		}
	}
}
