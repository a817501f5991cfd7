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

func respondNotFound(context.Context, Request) (Answer, error) { return Answer{IsMissing: true}, nil }

func TestSitePage(t *testing.T) {
	s, client := startSite(t, respondNotFound)
	for _, pageURL := range []string{"https://shop.example/a?b=1", "http://localhost:3000/a?b=1"} {
		s.ShowPage(Page{URL: pageURL + "#part", HTML: "<p>Hello</p>", Cookies: "a=1; b=2"})
		resp, body, err := sendRequest(t, client, "GET", pageURL, map[string]string{"Sec-Fetch-Dest": "document"})
		if err != nil || body != "<!doctype html><p>Hello</p>" {
			t.Fatalf("body of %s = %q, error %v; want %q", pageURL, body, err, "<!doctype html><p>Hello</p>")
		}
		if cookies := resp.Header["Set-Cookie"]; len(cookies) != 2 || cookies[1] != "b=2; Path=/" {
			t.Errorf("cookies of %s = %q, want two with b=2 as the second", pageURL, cookies)
		}
		_, body, err = sendRequest(t, client, "GET", pageURL+"&c", map[string]string{"Accept": "text/html"})
		if err != nil || body != "<!doctype html>" {
			t.Errorf("body of another URL = %q, error %v; want %q", body, err, "<!doctype html>")
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
			return Answer{IsBroken: true}, nil
		case "https://api.example/odd":
			return Answer{}, errors.New("the test threw")
		}
		return Answer{IsMissing: true}, nil
	})
	// Chromium's own requests, such as for /favicon.ico, reach the simulated site, because
	// all host names resolve to this site.
	browserHeaders := map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "empty", "Origin": "https://www.google.com"}
	if resp, _, err := sendRequest(t, client, "POST", "https://accounts.google.com/ListAccounts", browserHeaders); err != nil || resp.StatusCode != 404 || len(receivedRequests) > 0 {
		t.Fatalf("request that the browser made on its own: response %v, error %v, requests that reached the test %v; want status 404 and no request in the test", resp, err, receivedRequests)
	}
	fetchHeaders := map[string]string{"Sec-Fetch-Dest": "empty", "Origin": "https://shop.example", "X-Own": "v"}
	resp, body, err := sendRequest(t, client, "POST", "https://api.example/found", fetchHeaders)
	if err != nil || resp.StatusCode != 201 || body != "text" || resp.Header.Get("X-A") != "1" {
		t.Fatalf("response to the fetch = %v, body %q, error %v; want status 201, the header X-A and the body text", resp, body, err)
	}
	if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "https://shop.example" {
		t.Errorf("Access-Control-Allow-Origin = %q, want https://shop.example so that the page can read the response", got)
	}
	if r := receivedRequests[0]; r.Method != "POST" || !r.IsFetchRequest || r.Headers["x-own"] != "v" {
		t.Errorf("the test received the request %+v, want a fetched POST with the header x-own", r)
	}
	for _, path := range []string{"broken", "odd", "missing"} {
		if _, _, err := sendRequest(t, client, "GET", "https://api.example/"+path, fetchHeaders); err == nil {
			t.Errorf("fetch of %s returned a response, want a closed connection", path)
		}
	}
	resp, _, err = sendRequest(t, client, "GET", "https://api.example/picture", map[string]string{"Sec-Fetch-Dest": "image"})
	if err != nil || resp.StatusCode != 404 {
		t.Errorf("response for a missing image = %v, error %v; want status 404", resp, err)
	}
	oldRequestCount := len(receivedRequests)
	resp, _, err = sendRequest(t, client, "OPTIONS", "https://api.example/found",
		map[string]string{"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-own", "Origin": "https://shop.example"})
	if err != nil || resp.StatusCode != 204 || resp.Header.Get("Access-Control-Allow-Headers") != "x-own" || len(receivedRequests) != oldRequestCount {
		t.Errorf("response to a preflight = %v, error %v; want status 204, the header x-own, and no request to the test", resp, err)
	}
}

func TestFindBrowserProgram(t *testing.T) {
	programVariable := func(name string) func(string) string {
		return func(string) string { return name }
	}
	_, err := Find(programVariable(filepath.Join(t.TempDir(), "nothing")))
	if err == nil || !strings.Contains(err.Error(), "set it to the path of a Chromium") {
		t.Errorf("Find of a missing program returned %v, want advice to set the path", err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Find(programVariable(executable)); err != nil || got != executable {
		t.Errorf("Find = %s, error %v; want the test program", got, err)
	}
}

func TestStartReportsOutputOfTheProgram(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Program: executable, Profile: t.TempDir(), Extension: "x", ExtensionID: "y"}
	if _, err = Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), executable+" did not start: ") {
		t.Errorf("Start of a program that is not a browser returned %v, want an error with the program", err)
	}
	o.Program = filepath.Join(t.TempDir(), "nothing")
	if _, err = Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "did not start: ") {
		t.Errorf("Start of a missing program returned %v, want an error with the program", err)
	}
}
