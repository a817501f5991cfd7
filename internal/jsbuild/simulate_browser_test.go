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
	onOperation func(ctx context.Context, operation string, params map[string]any) (string, error)
	onResponder func(answer func(context.Context, any) (json.RawMessage, error))

	mu     sync.Mutex // the mutex guards the field answer
	answer func(context.Context, any) (json.RawMessage, error)
}

var _ TestBrowser = (*fakeBrowser)(nil)

func (f *fakeBrowser) Do(ctx context.Context, operation string, params json.RawMessage) (json.RawMessage, error) {
	var p map[string]any
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	value, err := f.onOperation(ctx, operation, p)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(value), nil
}

func (f *fakeBrowser) SetResponder(answer func(context.Context, any) (json.RawMessage, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
	if f.onResponder != nil && answer != nil {
		f.onResponder(answer)
		f.onResponder = nil
	}
}

func (f *fakeBrowser) request(ctx context.Context, url string) (string, error) {
	f.mu.Lock()
	answer := f.answer
	f.mu.Unlock()
	text, err := answer(ctx, map[string]any{"method": "GET", "url": url, "headers": map[string]string{}, "body": "", "fetched": true})
	return string(text), err
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

const emptyCall = `"reports": [], "activities": [], "calls": [], "userRequests": [], "dropped": [], "tookMs": 1`

// A page's request must wait until opentabs has sent the test script to the child process.
func TestBrowserRequestBeforeFirstTest(t *testing.T) {
	browser := &fakeBrowser{}
	browser.onOperation = func(context.Context, string, map[string]any) (string, error) { return "", errors.New("no tab") }
	cancelledCtx, cancel := context.WithCancel(t.Context())
	cancel()
	browser.onResponder = func(answer func(context.Context, any) (json.RawMessage, error)) {
		_, _ = answer(cancelledCtx, map[string]any{"method": "GET", "url": "https://shop.example/early"})
	}
	if results := runInFakeBrowser(t, TestOptions{Browser: browser, Timeout: time.Minute, Filter: "^both: reports"}); len(results) != 1 {
		t.Errorf("the tests did not run: %v", results)
	}
}

func TestTestsRunInABrowser(t *testing.T) {
	browser := &fakeBrowser{}
	browser.onOperation = func(ctx context.Context, operation string, params map[string]any) (string, error) {
		switch {
		case operation == "open" && params["url"] == nil:
			return "", errors.New("it has no address")
		case operation == "open":
			return `{"url": "https://shop.example/start", "logs": []}`, nil
		}
		input, _ := params["input"].(map[string]any)
		id, _ := input["id"].(string)
		answer, err := browser.request(ctx, "https://shop.example/api/items/"+id+"?full=1")
		if err != nil {
			return "", err
		}
		switch id {
		case "7":
			if !strings.Contains(answer, `"body":"{\"price\":3}"`) {
				return "", errors.New("the page got " + answer)
			}
			return `{"call": {"result": {"answer": {"price": 3}}, ` + emptyCall + `}, "logs": [{"level": "info", "message": "buying", "data": [{"id": "7"}]}]}`, nil
		case "8":
			return `{"call": {"error": {"code": "tool_error", "message": "gone", "tool": {"code": "NOT_FOUND", "category": "not_found"}}, ` + emptyCall + `}}`, nil
		case "9":
			return `{"call": {"result": {"answer": {"asked": "https://shop.example/api/items/9?full=1"}}, ` + emptyCall + `}}`, nil
		case "10":
			if !strings.Contains(answer, `"broken":true`) {
				return "", errors.New("the page got " + answer)
			}
			return `{"call": {"error": {"code": "tool_error", "message": "broken", "tool": {"code": "network_error", "retryable": true}}, ` + emptyCall + `}}`, nil
		}
		return `{"call": {"error": {"code": "tool_error", "message": "failed"}, ` + emptyCall + `}}`, nil
	}
	results := runInFakeBrowser(t, TestOptions{Browser: browser, Timeout: longTimeout, Filter: "routes|reports|simulated"})
	for test, want := range map[string]string{
		"the site responds with its routes": "end: ",
		"reports come in order":             "end: it has no address",
		"simulated pages only":              "skipped: it sets preScript, which requires a simulated page: a real browser runs the pre-script itself",
	} {
		if got, ok := results[test]; !ok || got != want {
			t.Errorf("%s: %q, want %q", test, got, want)
		}
	}
}

// On a busy machine, the test after a hanging test can also exceed the timeout, so its result is not checked.
func TestBrowserTestTimeout(t *testing.T) {
	browser := &fakeBrowser{onOperation: func(ctx context.Context, operation string, params map[string]any) (string, error) {
		if params["url"] == nil {
			<-ctx.Done()
			return "", ctx.Err()
		}
		return "", errors.New("no page")
	}}
	results := runInFakeBrowser(t, TestOptions{Browser: browser, Timeout: time.Second, Filter: "reports|navigation"})
	if got := results["reports come in order"]; !strings.Contains(got, "the test did not end within 1 s; a real browser has no virtual clock") {
		t.Errorf("the test without a response: %q", got)
	}
	if _, ok := results["a navigation fails the call"]; !ok {
		t.Errorf("the test after it did not run: %v", results)
	}
}
