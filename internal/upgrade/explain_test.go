package upgrade

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
)

func TestDownloadErrors(t *testing.T) {
	discardLogger := log.New(io.Discard, "", 0)
	serve := func(handler http.HandlerFunc) *httptest.Server {
		s := httptest.NewUnstartedServer(handler)
		s.Config.ErrorLog = discardLogger
		t.Cleanup(s.Close)
		return s
	}
	httpServer := serve(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/missing/"):
			w.WriteHeader(http.StatusNotFound)
		case strings.HasPrefix(r.URL.Path, "/busy/"):
			w.WriteHeader(http.StatusServiceUnavailable)
		case strings.HasPrefix(r.URL.Path, "/moved/"):
			http.Redirect(w, r, "http://example.com/checksums.txt", http.StatusFound)
		}
	})
	httpServer.Start()
	tlsServer := serve(func(http.ResponseWriter, *http.Request) {})
	tlsServer.StartTLS()
	const unreachableAddress = "127.0.0.1:1" // no program listens on port 1
	host := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	for _, c := range []struct{ address, want string }{
		{httpServer.URL + "/missing", "there is no file " + httpServer.URL + "/missing/checksums.txt (HTTP 404 Not Found): check the address in OPENTABS_RELEASE_URL"},
		{httpServer.URL + "/busy", httpServer.URL + "/busy/checksums.txt cannot be downloaded (HTTP 503 Service Unavailable): run the command again later"},
		{httpServer.URL + "/moved", httpServer.URL + "/moved/checksums.txt: the server sent a redirect that opentabs does not follow: http://example.com/checksums.txt is not encrypted: use an address that starts with https://"},
		{httpServer.URL + "/empty", httpServer.URL + "/empty/checksums.txt lists no archive of opentabs: check the address in OPENTABS_RELEASE_URL"},
		{tlsServer.URL, "the certificate of " + host(tlsServer) + " is not trusted (x509: certificate signed by unknown authority): check the clock of this computer, and add the certificate of your company's proxy to the system"},
		{"http://" + unreachableAddress, unreachableAddress + " cannot be reached (connect: connection refused): check the network, the proxy and the address in OPENTABS_RELEASE_URL"},
	} {
		if _, err := Fetch(t.Context(), c.address); err == nil || err.Error() != c.want {
			t.Errorf("the error for %s is\n%v\nwant\n%s", c.address, err, c.want)
		}
	}
}

func TestExplainUnknownServer(t *testing.T) {
	const want = "the server releases.example was not found: check the network and the address in OPENTABS_RELEASE_URL"
	err := &url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}}
	if err := explainError("https://releases.example/checksums.txt", err); err.Error() != want {
		t.Errorf("the error of an unknown server is %q, want %q", err, want)
	}
}

func TestExplainSlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), headerTimeout)
		defer cancel()
		<-ctx.Done()
		const want = "example.com did not answer in time: check the network and the proxy, then run the command again"
		if err := explainError("https://example.com/checksums.txt", ctx.Err()); err.Error() != want {
			t.Errorf("the error of a slow server is %q, want %q", err, want)
		}
	})
}
