package realtab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func startSite(t *testing.T, responder func(context.Context, Request) (Answer, error)) (*Site, *http.Client) {
	t.Helper()
	s, err := Listen(responder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", s.Port()))
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return s, &http.Client{Transport: transport}
}

func sendRequest(t *testing.T, c *http.Client, method, url string, headers map[string]string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	for name, headerValue := range headers {
		r.Header.Set(name, headerValue)
	}
	resp, err := c.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func answerNothing(context.Context, Request) (Answer, error) { return Answer{Missing: true}, nil }

func TestSitePage(t *testing.T) {
	s, client := startSite(t, answerNothing)
	for _, pageURL := range []string{"https://shop.example/a?b=1", "http://localhost:3000/a?b=1"} {
		s.Show(Page{URL: pageURL + "#part", HTML: "<p>Hello</p>", Cookies: "a=1; b=2"})
		resp, body, err := sendRequest(t, client, "GET", pageURL, map[string]string{"Sec-Fetch-Dest": "document"})
		if err != nil || body != "<!doctype html><p>Hello</p>" {
			t.Fatalf("%s: %q, %v; want %q", pageURL, body, err, "<!doctype html><p>Hello</p>")
		}
		if cookies := resp.Header["Set-Cookie"]; len(cookies) != 2 || cookies[1] != "b=2; Path=/" {
			t.Errorf("%s: cookies %q", pageURL, cookies)
		}
		_, body, err = sendRequest(t, client, "GET", pageURL+"&c", map[string]string{"Accept": "text/html"})
		if err != nil || body != "<!doctype html>" {
			t.Errorf("elsewhere: %q, %v; want %q", body, err, "<!doctype html>")
		}
	}
}

func TestRoutesOfSimulatedSite(t *testing.T) {
	var receivedRequests []Request
	_, client := startSite(t, func(_ context.Context, r Request) (Answer, error) {
		receivedRequests = append(receivedRequests, r)
		switch r.URL {
		case "https://api.example/found":
			return Answer{Status: 201, Headers: map[string]string{"x-a": "1"}, Body: "text"}, nil
		case "https://api.example/broken":
			return Answer{Broken: true}, nil
		case "https://api.example/odd":
			return Answer{}, errors.New("the test threw")
		}
		return Answer{Missing: true}, nil
	})
	// Chromium's own requests, such as for /favicon.ico, reach the simulated site, because
	// all host names resolve to this site.
	browserHeaders := map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "empty", "Origin": "https://www.google.com"}
	if resp, _, err := sendRequest(t, client, "POST", "https://accounts.google.com/ListAccounts", browserHeaders); err != nil || resp.StatusCode != 404 || len(receivedRequests) > 0 {
		t.Fatalf("the browser's own request came to the test: %v, %v, %v", resp, err, receivedRequests)
	}
	fetchHeaders := map[string]string{"Sec-Fetch-Dest": "empty", "Origin": "https://shop.example", "X-Own": "v"}
	resp, body, err := sendRequest(t, client, "POST", "https://api.example/found", fetchHeaders)
	if err != nil || resp.StatusCode != 201 || body != "text" || resp.Header.Get("X-A") != "1" {
		t.Fatalf("%v, %q, %v", resp, body, err)
	}
	if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "https://shop.example" {
		t.Errorf("another origin's page may not read it: %q", got)
	}
	if r := receivedRequests[0]; r.Method != "POST" || !r.Fetched || r.Headers["x-own"] != "v" {
		t.Errorf("the test received %+v", r)
	}
	for _, path := range []string{"broken", "odd", "missing"} {
		if _, _, err := sendRequest(t, client, "GET", "https://api.example/"+path, fetchHeaders); err == nil {
			t.Errorf("%s: the connection did not break", path)
		}
	}
	resp, _, err = sendRequest(t, client, "GET", "https://api.example/picture", map[string]string{"Sec-Fetch-Dest": "image"})
	if err != nil || resp.StatusCode != 404 {
		t.Errorf("an image that is not there: %v, %v", resp, err)
	}
	requestsBefore := len(receivedRequests)
	resp, _, err = sendRequest(t, client, "OPTIONS", "https://api.example/found",
		map[string]string{"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-own", "Origin": "https://shop.example"})
	if err != nil || resp.StatusCode != 204 || resp.Header.Get("Access-Control-Allow-Headers") != "x-own" || len(receivedRequests) != requestsBefore {
		t.Errorf("a preflight: %v, %v", resp, err)
	}
}

func TestFind(t *testing.T) {
	programVariable := func(name string) func(string) string {
		return func(string) string { return name }
	}
	_, err := Find(programVariable(filepath.Join(t.TempDir(), "nothing")))
	if err == nil || !strings.Contains(err.Error(), "set it to the path of a Chromium") {
		t.Errorf("starting a missing program: %v", err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Find(programVariable(executable)); err != nil || got != executable {
		t.Errorf("found %s, %v", got, err)
	}
}

func TestStartReportsOutputOfTheProgram(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Program: executable, Profile: t.TempDir(), Extension: "x", ExtensionID: "y"}
	if _, err = Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), executable+" did not start: ") {
		t.Errorf("starting a program that is not a browser: %v", err)
	}
	o.Program = filepath.Join(t.TempDir(), "nothing")
	if _, err = Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "did not start: ") {
		t.Errorf("starting a missing program: %v", err)
	}
}
