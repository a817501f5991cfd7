package jsbuild

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

type fakeBrowser struct {
	handleOperation func(ctx context.Context, operation string, params map[string]any) (string, error)
	onSetResponder  func(responder func(context.Context, any) (json.RawMessage, error))

	mu        sync.Mutex // guards responder
	responder func(context.Context, any) (json.RawMessage, error)
}

var _ TestBrowser = (*fakeBrowser)(nil)

func (f *fakeBrowser) Do(ctx context.Context, operation string, params json.RawMessage) (json.RawMessage, error) {
	var p map[string]any
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	value, err := f.handleOperation(ctx, operation, p)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(value), nil
}

func (f *fakeBrowser) SetResponder(responder func(context.Context, any) (json.RawMessage, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.responder = responder
	if f.onSetResponder != nil && responder != nil {
		f.onSetResponder(responder)
		f.onSetResponder = nil
	}
}

func (f *fakeBrowser) request(ctx context.Context, url string) (string, error) {
	f.mu.Lock()
	responder := f.responder
	f.mu.Unlock()
	responseJSON, err := responder(ctx, map[string]any{"method": "GET", "url": url, "headers": map[string]string{}, "body": "", "fetched": true})
	return string(responseJSON), err
}

func runInFakeBrowser(t *testing.T, o TestOptions) map[string]string {
	t.Helper()
	o.Simulate = simulateArgs
	results := map[string]string{}
	err := RunTests(t.Context(), simulatedDir, TestFile{Name: "src/both.test.ts"}, o, func(n TestEvent) {
		if n.Op == "end" || n.Op == "skipped" {
			results[strings.TrimPrefix(n.Test, "both: ")] = n.Op + ": " + n.Error
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

const emptyResultFields = `"reports": [], "activities": [], "calls": [], "userRequests": [], "dropped": [], "tookMs": 1`

// A page's request must wait until opentabs has sent the test script to the child process.
func TestBrowserRequestBeforeFirstTest(t *testing.T) {
	browser := &fakeBrowser{}
	browser.handleOperation = func(context.Context, string, map[string]any) (string, error) { return "", errors.New("no tab") }
	cancelledCtx, cancel := context.WithCancel(t.Context())
	cancel()
	browser.onSetResponder = func(responder func(context.Context, any) (json.RawMessage, error)) {
		_, _ = responder(cancelledCtx, map[string]any{"method": "GET", "url": "https://shop.example/early"})
	}
	if results := runInFakeBrowser(t, TestOptions{Browser: browser, Timeout: time.Minute, Filter: "^both: reports"}); len(results) != 1 {
		t.Errorf("results of the browser tests = %v, want one result", results)
	}
}

func TestTestsRunInABrowser(t *testing.T) {
	browser := &fakeBrowser{}
	browser.handleOperation = func(ctx context.Context, operation string, params map[string]any) (string, error) {
		switch {
		case operation == "open" && params["url"] == nil:
			return "", errors.New("it has no address")
		case operation == "open":
			return `{"url": "https://shop.example/start", "logs": []}`, nil
		}
		input, _ := params["input"].(map[string]any)
		id, _ := input["id"].(string)
		responseJSON, err := browser.request(ctx, "https://shop.example/api/items/"+id+"?full=1")
		if err != nil {
			return "", err
		}
		switch id {
		case "7":
			if !strings.Contains(responseJSON, `"body":"{\"price\":3}"`) {
				return "", errors.New("the page got " + responseJSON)
			}
			return `{"call": {"result": {"answer": {"price": 3}}, ` + emptyResultFields + `}, "logs": [{"level": "info", "message": "buying", "data": [{"id": "7"}]}]}`, nil
		case "8":
			return `{"call": {"error": {"code": "tool_error", "message": "gone", "tool": {"code": "NOT_FOUND", "category": "not_found"}}, ` + emptyResultFields + `}}`, nil
		case "9":
			return `{"call": {"result": {"answer": {"asked": "https://shop.example/api/items/9?full=1"}}, ` + emptyResultFields + `}}`, nil
		case "10":
			if !strings.Contains(responseJSON, `"broken":true`) {
				return "", errors.New("the page got " + responseJSON)
			}
			return `{"call": {"error": {"code": "tool_error", "message": "broken", "tool": {"code": "network_error", "retryable": true}}, ` + emptyResultFields + `}}`, nil
		}
		return `{"call": {"error": {"code": "tool_error", "message": "failed"}, ` + emptyResultFields + `}}`, nil
	}
	results := runInFakeBrowser(t, TestOptions{Browser: browser, Timeout: longTimeout, Filter: "routes|reports|simulated"})
	for test, want := range map[string]string{
		"the site responds with its routes": "end: ",
		"reports come in order":             "end: it has no address",
		"simulated pages only":              "skipped: it sets preScript, which requires a simulated page: a real browser runs the pre-script itself",
	} {
		if got, ok := results[test]; !ok || got != want {
			t.Errorf("result of the test %q = %q, want %q", test, got, want)
		}
	}
}

// On a busy machine, the test after a hanging test can also exceed the timeout, so TestBrowserTestTimeout does not
// check the result of the later test.
func TestBrowserTestTimeout(t *testing.T) {
	browser := &fakeBrowser{handleOperation: func(ctx context.Context, operation string, params map[string]any) (string, error) {
		if params["url"] == nil {
			<-ctx.Done()
			return "", ctx.Err()
		}
		return "", errors.New("no page")
	}}
	results := runInFakeBrowser(t, TestOptions{Browser: browser, Timeout: time.Second, Filter: "reports|navigation"})
	if got := results["reports come in order"]; !strings.Contains(got, "the test did not end within 1 s; a real browser has no virtual clock") {
		t.Errorf("result of the test without a response = %q, want an error about the timeout of 1 s", got)
	}
	if _, ok := results["a navigation fails the call"]; !ok {
		t.Errorf("results = %v, want a result of the test that follows the timeout", results)
	}
}
