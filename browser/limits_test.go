package browser

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

func TestTabRateLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRateLimitedFixture(t, Limits{ActingCallsPerMinute: 3, PicturesPerMinute: 2})
		f.setRule("shop.example", policy.SiteAuto)
		const click, picture = `{"target":"e1"}`, `{}`
		for range 3 {
			f.mustRun(0, "claude", "browser_click", click)
			time.Sleep(10 * time.Second)
		}
		f.wantError(wire.ErrRateLimited, "browser tools run at most 3 acts a minute in one tab, and tab 7 has reached that; the next call may run in 30s", "claude", "browser_press_key", `{"key":"a"}`)
		f.mustRun(0, "claude", "browser_snapshot", `{}`)
		f.mustRun(0, "claude", "browser_take_screenshot", picture)
		f.mustRun(0, "claude", "browser_take_screenshot", picture)
		f.wantError(wire.ErrRateLimited, "at most 2 pictures a minute in one tab", "claude", "browser_take_screenshot", picture)
		f.wantError(wire.ErrRateLimited, "the next call may run in 30s", "claude", toolBatch, `{"steps":[{"tool":"browser_click","args":{"target":"e1","tabId":7}}]}`)
		time.Sleep(30 * time.Second)
		f.mustRun(0, "claude", "browser_click", click)
		f.wantError(wire.ErrRateLimited, "the next call may run in 10s", "claude", "browser_click", click)
		time.Sleep(30 * time.Second)
		f.mustRun(0, "claude", "browser_take_screenshot", picture)
	})
}

func TestSiteOfCall(t *testing.T) {
	f := newFixture(t)
	callInfo := dispatch.CallInfo{Tool: f.tool("browser_click"), Target: dispatch.Target{URL: "https://shop.example/cart"}}
	for output, want := range map[string]string{
		"":                                 "https://shop.example",
		`{"text":"Done."}`:                 "https://shop.example",
		`{"site":"https://other.example"}`: "https://other.example",
	} {
		if got := SiteOfCall(callInfo, dispatch.EndedCall{Output: json.RawMessage(output)}); got != want {
			t.Errorf("SiteOfCall for a call with the output %q = %q, want %q", output, got, want)
		}
	}
	if got := SiteOfCall(dispatch.CallInfo{Tool: dispatch.Tool{Plugin: "messages"}}, dispatch.EndedCall{}); got != "" {
		t.Errorf("SiteOfCall for a call of a plugin's tool = %q, want none", got)
	}
}
