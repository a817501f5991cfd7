package browser

import (
	"maps"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

const evaluateArgs = `{"function":"() => document.title"}`

// A call with the argument "cursor" only reads, so the call needs only the permission to read the site.
func TestEvaluateWithCursorOnlyReads(t *testing.T) {
	f := newFixture(t)
	f.decision = allowOnce
	for _, args := range []string{`{}`, `{"function":"1","cursor":"0a1b2c3d:50000"}`, `{"cursor":"0a1b2c3d:50000","function":"1"}`} {
		f.wantError(wire.ErrInvalidArguments, `takes either "function" or "cursor"`, "claude", toolEvaluate, args)
	}
	longArgs := `{"function":"` + strings.Repeat("1+", wire.MaxShownArgsBytes/2) + `1"}`
	f.wantError(wire.ErrInvalidArguments, "split the code", "claude", toolEvaluate, longArgs)
	f.mustRun(1, "claude", toolEvaluate, evaluateArgs)
	if want := "claude wants to use a dangerous tool on https://shop.example (browser_evaluate); this tool is dangerous"; f.approvalReasons[0] != want {
		t.Errorf("request for approval = %q, want %q", f.approvalReasons[0], want)
	}
	f.mustRun(1, "claude", toolEvaluate, evaluateArgs)
	f.mustRun(1, "claude", toolEvaluate, `{"cursor":"0a1b2c3d:50000"}`)
	f.mustRun(0, "claude", toolEvaluate, `{"cursor":"0a1b2c3d:50000"}`)
}

func TestWildcardsDoNotAllowFramesForDangerousTools(t *testing.T) {
	f := newFixture(t)
	for pattern, rule := range map[string]policy.SiteRule{"cdn.example": policy.SiteAuto, "*.news.example": policy.SiteAuto, "bank.example": policy.SiteOff, "mail.example": policy.SiteRead} {
		if err := f.rules.Set(pattern, rule, "x"); err != nil {
			t.Fatal(err)
		}
	}
	gate := &siteGate{rules: f.rules, ownAddress: "127.0.0.1:9527"}
	want := map[string]bool{
		"*": false, "shop.example:443": true, "cdn.example": true, "*.news.example": false, "bank.example": false, "mail.example": false,
		"127.0.0.1:9527": false, "localhost:9527": false, "[::1]:9527": false,
	}
	if got := gate.frameRules(classDangerous, "https://Shop.example./cart"); !maps.Equal(got, want) {
		t.Errorf("frame rules for a dangerous tool = %v, want %v", got, want)
	}
}

func TestAttackByTools(t *testing.T) {
	setRule := func(t *testing.T, pattern string, rule policy.SiteRule) *fixture {
		t.Helper()
		f := newFixture(t)
		if err := f.rules.Set(pattern, rule, "x"); err != nil {
			t.Fatal(err)
		}
		return f
	}
	batch := `{"steps":[{"tool":"browser_evaluate","args":{"function":"() => 1","tabId":7}}]}`
	t.Run("a wildcard rule does not allow code", func(t *testing.T) {
		for _, pattern := range []string{"*", "*.example"} {
			f := setRule(t, pattern, policy.SiteAuto)
			f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
			f.wantError(wire.ErrDenied, "the user denied it", "claude", toolEvaluate, evaluateArgs)
			f.wantError(wire.ErrDenied, "the user denied it", "claude", toolBatch, batch)
			f.caller = &dispatch.Caller{Plugin: "tickets", Tool: "tickets__file", TabID: 7, Origin: "https://shop.example"}
			f.wantError(wire.ErrDenied, "the user denied it", "claude", toolEvaluate, evaluateArgs)
		}
	})
	t.Run("a rule to read does not allow code", func(t *testing.T) {
		f := setRule(t, "shop.example", policy.SiteRead)
		f.wantError(wire.ErrDenied, "allows browser tools to read on https://shop.example, but not to act", "claude", toolEvaluate, evaluateArgs)
		f.wantError(wire.ErrDenied, "allows browser tools to read", "claude", toolBatch, batch)
	})
	t.Run("an approval to act does not allow code", func(t *testing.T) {
		f := newFixture(t)
		f.decision = dispatch.Resolution{Allow: true, Scope: wire.ScopeAlways, Surface: "x"}
		f.mustRun(1, "claude", "browser_click", `{"target":"e1"}`)
		f.decision = dispatch.Resolution{Surface: "x"}
		f.wantError(wire.ErrDenied, "the user denied it", "claude", toolEvaluate, evaluateArgs)
		f.wantError(wire.ErrDenied, "the user denied it", "claude", toolBatch, batch)
	})
}
