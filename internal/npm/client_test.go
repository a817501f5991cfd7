package npm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"opentabs/internal/npm"
	"opentabs/internal/npm/npmtest"
)

const pluginPackage = "opentabs-plugin-a"

func newClient(t *testing.T, lines ...string) *npm.Client {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := npm.LoadConfig(npm.Environment{
		Getenv: func(string) string { return "" }, Home: home, Dir: home, GOOS: "linux",
		Environ: func() []string { return []string{"npm_config_globalconfig=" + home + "/none"} },
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := npm.New(config, npm.Options{Backoff: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func serveRegistry(t *testing.T, h http.Handler) (address, host string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, strings.TrimPrefix(s.URL, "http://")
}

func validVersion() npmtest.Version {
	return npmtest.Version{Name: pluginPackage, Version: "1.0.0", File: npmtest.Pack(npmtest.NewFile("package/package.json", "{}"))}
}

func fetchLatest(t *testing.T, c *npm.Client) (npm.Tarball, error) {
	t.Helper()
	dir := t.TempDir()
	p, err := c.Package(t.Context(), pluginPackage)
	if err != nil {
		return npm.Tarball{}, err
	}
	v, err := p.ChooseVersion("")
	if err != nil {
		return npm.Tarball{}, err
	}
	file, err := c.Download(t.Context(), p, v, dir)
	if leftoverFiles, globErr := filepath.Glob(filepath.Join(dir, "*")); globErr != nil || err != nil && len(leftoverFiles) > 0 {
		t.Errorf("files after a failed download = %q, error %v; want none", leftoverFiles, globErr)
	}
	return file, err
}

func TestDownload(t *testing.T) {
	registry := &npmtest.Registry{}
	registry.Publish(validVersion())
	address, _ := serveRegistry(t, registry)
	file, err := fetchLatest(t, newClient(t, "registry="+address))
	if err != nil || file.Integrity != npmtest.Integrity(validVersion().File) {
		t.Fatalf("Download returned %+v, error %v; want the integrity hash of the file", file, err)
	}
	if err := npm.Unpack(file, filepath.Join(t.TempDir(), "p")); err != nil {
		t.Error(err)
	}
}

// TestIntegrity checks that a downloaded file is accepted only if it matches a sha512
// hash in the registry's metadata.
func TestIntegrity(t *testing.T) {
	wrongHash := npmtest.Integrity([]byte("another file"))
	correctHash := npmtest.Integrity(validVersion().File)
	for _, c := range []struct {
		description string
		dist        map[string]any
		want        string
	}{
		{"wrong", map[string]any{"integrity": wrongHash}, "the file does not match its integrity hash"},
		{"right among others", map[string]any{"integrity": "sha1-AAAA " + wrongHash + " " + correctHash}, ""},
		{"with options", map[string]any{"integrity": correctHash + "?x"}, ""},
		{"sha1 alone", map[string]any{"integrity": nil, "shasum": "da39a3ee"}, "only a sha1 hash for it, which is too weak"},
		{"a weak integrity hash", map[string]any{"integrity": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="}, "only a sha1 hash for it, which is too weak"},
		{"none", map[string]any{"integrity": ""}, "no integrity hash"},
		{"malformed", map[string]any{"integrity": "sha512-oops"}, "its integrity hash in the registry is malformed"},
		{"no http address", map[string]any{"tarball": "file:///etc/passwd"}, "an invalid address for its file"},
		{"a login in the address", map[string]any{"tarball": "http://me:pw@127.0.0.1/x"}, "an invalid address for its file"},
	} {
		v := validVersion()
		v.Dist = c.dist
		registry := &npmtest.Registry{}
		registry.Publish(v)
		address, _ := serveRegistry(t, registry)
		_, err := fetchLatest(t, newClient(t, "registry="+address))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: download error = %v, want %q", c.description, err, c.want)
		}
	}
}

// TestLoginIsNotSentToOtherHosts checks that no login is sent to another host, neither after a
// redirect nor for a tarball on another host.
func TestLoginIsNotSentToOtherHosts(t *testing.T) {
	file := validVersion().File
	var sentAuthorization atomic.Value
	otherServer, _ := serveRegistry(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sentAuthorization.Store(r.Header.Get("Authorization"))
		_, _ = w.Write(file)
	}))
	for _, redirectTo := range []bool{true, false} {
		v := validVersion()
		if !redirectTo {
			v.Dist = map[string]any{"tarball": otherServer + "/file.tgz"}
		}
		registry := &npmtest.Registry{Token: "secret"}
		registry.Publish(v)
		address, host := serveRegistry(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, ".tgz") {
				http.Redirect(w, r, otherServer+r.URL.Path, http.StatusFound)
				return
			}
			registry.ServeHTTP(w, r)
		}))
		sentAuthorization.Store("no request")
		if _, err := fetchLatest(t, newClient(t, "registry="+address, "//"+host+"/:_authToken=secret")); err != nil {
			t.Errorf("download, tarball behind a redirect = %v: error %v, want none", redirectTo, err)
		}
		if got := sentAuthorization.Load(); got != "" {
			t.Errorf("tarball behind a redirect = %v: the other host received the login %q; want %q", redirectTo, got, "")
		}
	}
}

func TestLoginErrors(t *testing.T) {
	registry := &npmtest.Registry{Token: "secret"}
	registry.Publish(validVersion())
	address, host := serveRegistry(t, registry)
	for _, c := range []struct {
		line, want string
	}{
		{"", "requires a login: it returns HTTP 401 Unauthorized (who are you); add a line such as //" + host + "/:_authToken=${NPM_TOKEN} to ~/.npmrc"},
		{"//" + host + "/:_authToken=wrong", "rejected the login in"},
		{"//" + host + "/:_authToken=${UNSET}", "the variable in ${UNSET} is not set"},
		{"//" + host + "/:_authToken=secret", ""},
	} {
		_, err := fetchLatest(t, newClient(t, "registry="+address, c.line))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("download with the setting %q: error %v, want %q", c.line, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "=wrong") {
			t.Errorf("the error contains the token, want an error without it: %v", err)
		}
	}
}

func serveHandlersInSequence(handlers ...http.HandlerFunc) (http.Handler, *atomic.Int64) {
	var requests atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(requests.Add(1)) - 1
		handlers[min(n, len(handlers)-1)](w, r)
	}), &requests
}

func respondStatus(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func respondText(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s) }
}

func breakConnection(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	fmt.Fprint(w, "{")
	panic(http.ErrAbortHandler)
}

func TestTemporaryFailuresAreRetried(t *testing.T) {
	registry := &npmtest.Registry{}
	registry.Publish(validVersion())
	for _, firstHandler := range []http.HandlerFunc{respondStatus(503), respondStatus(429), breakConnection} {
		h, requests := serveHandlersInSequence(firstHandler, firstHandler, registry.ServeHTTP)
		address, _ := serveRegistry(t, h)
		if _, err := newClient(t, "registry="+address).Package(t.Context(), pluginPackage); err != nil || requests.Load() != 3 {
			t.Errorf("the client sent %d requests, error %v; want 3 requests and no error", requests.Load(), err)
		}
	}
}

func TestRegistryErrorsSuggestAction(t *testing.T) {
	redirectTo := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	for _, c := range []struct {
		description string
		handler     http.HandlerFunc
		want        string
		requests    int64
	}{
		{"unknown", respondStatus(404), "(HTTP 404 Not Found); check the name", 1},
		{"broken", respondStatus(500), "failed: it returns HTTP 500 Internal Server Error; try again later", 3},
		{"busy", respondStatus(429), "limits the rate of requests: it returns HTTP 429 Too Many Requests; try again later", 3},
		{"rejects", respondStatus(418), "rejected the request: it returns HTTP 418 I'm a teapot", 1},
		{"no registry", respondText("<html>"), "its response is not valid registry metadata", 1},
		{"another package", respondText(`{"name":"evil","versions":{"1.0.0":{}}}`), `returns the package "evil"`, 1},
		{"no versions", respondText(`{"name":"` + pluginPackage + `"}`), "has no version on the registry", 1},
		{"versions of another", respondText(`{"name":"` + pluginPackage + `","versions":{"1.0.0":{"name":"evil","version":"1.0.0"}}}`), "has no version on the registry", 1},
		{"a redirect loop", redirectTo("/"), "redirects more than 5 times", 6},
		{"a redirect to a file", redirectTo("file:///etc/passwd"), "which is not safe", 1},
	} {
		h, requests := serveHandlersInSequence(c.handler)
		address, _ := serveRegistry(t, h)
		_, err := newClient(t, "registry="+address).Package(t.Context(), pluginPackage)
		if err == nil || !strings.Contains(err.Error(), c.want) || requests.Load() != c.requests {
			t.Errorf("%s: the client sent %d requests, error %v; want an error that contains %q", c.description, requests.Load(), err, c.want)
		}
		if c.description == "unknown" != errors.Is(err, npm.ErrNotFound) {
			t.Errorf("%s: error %v; want ErrNotFound only for an unknown package", c.description, err)
		}
	}
}

func TestSilentRegistryTimesOut(t *testing.T) {
	done := make(chan struct{})
	address, _ := serveRegistry(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"name":`)
		_ = http.NewResponseController(w).Flush()
		<-done
	}))
	t.Cleanup(func() { close(done) }) // close done before the server closes, because the server waits for its handlers
	config, err := npm.LoadConfig(npm.Environment{
		Getenv: func(string) string { return "" }, Home: t.TempDir(), Dir: t.TempDir(), GOOS: "linux",
		Environ: func() []string { return []string{"npm_config_registry=" + address} },
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := npm.New(config, npm.Options{SilenceTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Package(t.Context(), pluginPackage); err == nil || !strings.Contains(err.Error(), "its response stalled for 50ms") {
		t.Errorf("error of a registry that stops sending = %v; want an error that contains %q", err, "its response stalled for 50ms")
	}
}

func TestOffline(t *testing.T) {
	const address = "127.0.0.1:1" // no program listens on port 1
	_, err := newClient(t, "registry=http://"+address).Package(t.Context(), pluginPackage)
	if err == nil || !strings.Contains(err.Error(), "the registry http://"+address+" can't be reached") ||
		!strings.Contains(err.Error(), "check the network, the registry in .npmrc and the proxy, or install a file") {
		t.Errorf("error without a registry = %v, want the address of the registry and advice", err)
	}
}

func TestHugeFilesAreRejected(t *testing.T) {
	registry := &npmtest.Registry{}
	registry.Publish(validVersion())
	address, _ := serveRegistry(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".tgz") {
			registry.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(51<<20))
		w.WriteHeader(http.StatusOK)
	}))
	if _, err := fetchLatest(t, newClient(t, "registry="+address)); err == nil || !strings.Contains(err.Error(), "more than the 50 MB allowed") {
		t.Errorf("download of a huge file with a Content-Length: error %v; want an error that contains %q", err, "more than the 50 MB allowed")
	}
	address, _ = serveRegistry(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".tgz") {
			registry.ServeHTTP(w, r)
			return
		}
		block := make([]byte, 1<<20)
		for range 60 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	if _, err := fetchLatest(t, newClient(t, "registry="+address)); err == nil || !strings.Contains(err.Error(), "more than the 50 MB allowed") {
		t.Errorf("download of a huge file without a Content-Length: error %v, want an error about the limit of 50 MB", err)
	}
}

func TestInterruptedDownload(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	address, _ := serveRegistry(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stop()
		<-r.Context().Done()
	}))
	if _, err := newClient(t, "registry="+address).Package(ctx, pluginPackage); !errors.Is(err, context.Canceled) {
		t.Errorf("error of an interrupted download = %v; want %v", err, context.Canceled)
	}
}

func TestSearch(t *testing.T) {
	registry := &npmtest.Registry{}
	for _, name := range []string{"opentabs-plugin-chat", "opentabs-plugin-mail", "chat"} {
		v := validVersion()
		v.Name, v.Manifest = name, map[string]any{"keywords": []string{"opentabs-plugin"}, "description": "about " + name}
		if name == "chat" {
			v.Manifest = nil
		}
		registry.Publish(v)
	}
	address, _ := serveRegistry(t, registry)
	results, err := newClient(t, "registry="+address).Search(t.Context(), "opentabs-plugin", "chat", 20)
	if err != nil || len(results) != 1 || results[0] != (npm.SearchResult{Name: "opentabs-plugin-chat", Version: "1.0.0", Description: "about opentabs-plugin-chat", Publisher: "acme"}) {
		t.Errorf("Search returned %+v, error %v; want only opentabs-plugin-chat 1.0.0 by acme", results, err)
	}
	address, _ = serveRegistry(t, respondStatus(404))
	if _, err := newClient(t, "registry="+address).Search(t.Context(), "opentabs-plugin", "", 20); err == nil || !strings.Contains(err.Error(), "does not support searching") {
		t.Errorf("Search in a registry without a search: error %v; want an error that contains %q", err, "does not support searching")
	}
}

func TestProxy(t *testing.T) {
	registry := &npmtest.Registry{}
	registry.Publish(validVersion())
	var proxiedRequests atomic.Int64
	proxy, _ := serveRegistry(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host == "registry.example" {
			proxiedRequests.Add(1)
		}
		registry.ServeHTTP(w, r)
	}))
	for _, key := range []string{"https-proxy", "proxy"} {
		proxiedRequests.Store(0)
		if _, err := newClient(t, "registry=http://registry.example/", key+"="+proxy).Package(t.Context(), pluginPackage); err != nil || proxiedRequests.Load() != 1 {
			t.Errorf("setting %s: the proxy received %d requests, error %v; want 1 request", key, proxiedRequests.Load(), err)
		}
	}
	proxiedRequests.Store(0)
	address, _ := serveRegistry(t, registry) // requests to localhost bypass the proxy
	if _, err := newClient(t, "registry="+address, "https-proxy=http://127.0.0.1:1").Package(t.Context(), pluginPackage); err != nil {
		t.Error(err)
	}
	home := t.TempDir()
	config, err := npm.LoadConfig(npm.Environment{Getenv: os.Getenv, Dir: home, Environ: func() []string { return []string{"npm_config_proxy=nonsense"} }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := npm.New(config, npm.Options{}); err == nil || !strings.Contains(err.Error(), "proxy in the environment variable npm_config_proxy is not a URL") {
		t.Errorf("New with an invalid proxy: error %v; want an error that contains %q", err, "proxy in the environment variable npm_config_proxy is not a URL")
	}
}

func TestCertificates(t *testing.T) {
	s := httptest.NewTLSServer(respondStatus(404))
	defer s.Close()
	s.Config.ErrorLog = nil
	if _, err := newClient(t, "registry="+s.URL).Package(t.Context(), pluginPackage); err == nil || !strings.Contains(err.Error(), "is not trusted") || !strings.Contains(err.Error(), "name your company's certificates with cafile") {
		t.Errorf("error of a registry with an untrusted certificate = %v, want advice to set cafile", err)
	}
	for content, want := range map[string]string{"": "read the certificates", "no certificate": "contains no certificate"} {
		home := t.TempDir()
		file := filepath.Join(home, "ca.pem")
		if content != "" {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		config, err := npm.LoadConfig(npm.Environment{Getenv: os.Getenv, Dir: home, Environ: func() []string { return []string{"npm_config_cafile=" + file} }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := npm.New(config, npm.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New with a cafile that contains %q: error %v; want an error that contains %q", content, err, want)
		}
	}
}
