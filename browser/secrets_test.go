package browser

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

func TestPageWithSecretFieldNeedsApproval(t *testing.T) {
	for name, testCase := range map[string]struct {
		pattern   string
		secrets   *wire.SecretFields
		approvals int
	}{
		"wildcard":                             {"*", &wire.SecretFields{}, 0},
		"wildcard and a password field":        {"*", &wire.SecretFields{Shown: []string{"password"}}, 1},
		"wildcard and a card field":            {"*.example", &wire.SecretFields{Shown: []string{"card", "code"}}, 1},
		"wildcard and no answer":               {"*", nil, 1},
		"host and a password field":            {"shop.example", &wire.SecretFields{Shown: []string{"password"}}, 0},
		"host with port and no answer":         {"shop.example:443", nil, 0},
		"host and a field for a one-time code": {"shop.example", &wire.SecretFields{Shown: []string{"code"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.decision, f.secrets = allowOnce, testCase.secrets
			if err := f.rules.Set(testCase.pattern, policy.SiteAuto, "cli"); err != nil {
				t.Fatal(err)
			}
			f.mustRun(testCase.approvals, "claude", "browser_click", `{"target":"e1"}`)
			if testCase.approvals == 1 && name == "wildcard and a password field" && !strings.HasSuffix(f.approvalReasons[0], "; this page shows a password field") {
				t.Errorf("request for approval = %q, want the suffix: this page shows a password field", f.approvalReasons[0])
			}
			f.mustRun(0, "claude", "browser_snapshot", `{}`)
			f.mustRun(testCase.approvals, "claude", "browser_navigate", `{"go":"reload"}`)
			f.mustRun(testCase.approvals, "claude", "browser_navigate", `{"url":"https://shop.example/pay"}`)
		})
	}
}

func TestTypingIntoSecretFieldNeedsApproval(t *testing.T) {
	for name, setUpFixture := range map[string]func(f *fixture){
		"auto for the host": func(f *fixture) { f.setRule("shop.example", policy.SiteAuto) },
		"auto for all":      func(f *fixture) { f.setRule("*", policy.SiteAuto) },
		"allowed for the session": func(f *fixture) {
			f.decision = dispatch.Resolution{Allow: true, Scope: wire.ScopeSession, Surface: "cli"}
			f.mustRun(1, "claude", "browser_click", `{"target":"e1"}`)
		},
		"allowed always": func(f *fixture) {
			f.decision = dispatch.Resolution{Allow: true, Scope: wire.ScopeAlways, Surface: "cli"}
			f.mustRun(1, "claude", "browser_click", `{"target":"e1"}`)
		},
		"ask": func(*fixture) {},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			setUpFixture(f)
			f.decision = allowOnce
			f.secrets = &wire.SecretFields{Shown: []string{"card", "password"}, Typed: []string{"card", "password"}}
			for _, call := range [][2]string{
				{"browser_type", `{"target":"e1","text":"hunter2","_secrets":["code"]}`},
				{"browser_fill_form", `{"fields":[{"target":"e1","value":"hunter2"},{"target":"e2","value":"4111"}]}`},
				{"browser_press_key", `{"key":"h"}`},
				{"browser_type", `{"target":"e1","text":"hunter2"}`},
			} {
				f.approvalArgs = nil
				f.mustRun(1, "claude", call[0], call[1])
				if want := "claude wants to type into a card field and a password field on https://shop.example (" + call[0] + ")"; !slices.Equal(f.approvalReasons, []string{want}) {
					t.Errorf("requests for approval of %s = %q, want %q", call[0], f.approvalReasons, want)
				}
				if approvalArgs := strings.Join(f.approvalArgs, ""); strings.Contains(approvalArgs, "hunter2") || strings.Contains(approvalArgs, "4111") || !strings.Contains(approvalArgs, secretMask) {
					t.Errorf("arguments in the approval of %s = %s, want no typed text", call[0], approvalArgs)
				}
				toolRun := f.toolRuns[len(f.toolRuns)-1]
				if got := string(rawjson.Get(toolRun.Args, secretsArgument)); got != `["card","password"]` {
					t.Errorf("approved kinds of secret fields for %s = %s, want card and password", call[0], got)
				}
			}
			f.decision = dispatch.Resolution{Surface: "cli"}
			f.wantError(wire.ErrDenied, "the user denied it", "claude", "browser_type", `{"target":"e1","text":"x"}`)
			f.setRule("shop.example", policy.SiteRead)
			f.wantError(wire.ErrDenied, "but not to act", "claude", "browser_type", `{"target":"e1","text":"x"}`)
		})
	}
}

func TestApprovalMasksTextTypedIntoSecretField(t *testing.T) {
	f := newFixture(t)
	f.decision = allowOnce
	f.mustRun(1, "claude", "browser_type", `{"target":"e1","text":"lamp"}`)
	if !strings.Contains(f.approvalArgs[0], "lamp") {
		t.Errorf("arguments in the approval = %s, want the text of an ordinary field", f.approvalArgs[0])
	}
	f.secrets, f.approvalArgs = nil, nil
	f.mustRun(1, "claude", "browser_type", `{"target":"e1","text":"lamp"}`)
	if strings.Contains(f.approvalArgs[0], "lamp") {
		t.Errorf("arguments in the approval = %s, want no text, because the field was not inspected", f.approvalArgs[0])
	}
	batch := `{"steps":[{"tool":"browser_find","args":{"text":"found"}},{"tool":"browser_type","args":{"text":"hunter2","target":"e1"}}]}`
	got := string(maskArgsForApproval(dispatch.CallInfo{Tool: f.tool(toolBatch), Args: json.RawMessage(batch)}))
	want := `{"steps":[{"tool":"browser_find","args":{"text":"found"}},{"tool":"browser_type","args":{"text":"•••","target":"e1"}}]}`
	if got != want {
		t.Errorf("arguments of a batch as the user sees them = %s, want %s", got, want)
	}
	for tool, want := range map[string]string{
		"browser_cookies":  `{"name":"sid","value":"•••","key":"k"}`,
		"browser_navigate": `{"name":"sid","value":"hunter2","key":"k"}`,
	} {
		got := string(maskArgsForApproval(dispatch.CallInfo{Tool: f.tool(tool), Args: json.RawMessage(`{"name":"sid","value":"hunter2","key":"k"}`)}))
		if got != want {
			t.Errorf("arguments of %s as the user sees them = %s, want %s", tool, got, want)
		}
	}
}

func TestWhichFieldsAreInspectedForSecrets(t *testing.T) {
	f := newFixture(t)
	f.decision = allowOnce
	wantInspection := func(tool, args string, want *wire.TabInspection) {
		t.Helper()
		f.inspections = nil
		_, _ = f.call("claude", tool, args)
		if got := f.inspections[0]; string(rawjson.Encode(got)) != string(rawjson.Encode(want)) {
			t.Errorf("inspected fields for a call of %s with the arguments %s = %s, want %s", tool, args, rawjson.Encode(got), rawjson.Encode(want))
		}
	}
	wantInspection("browser_type", `{"target":"e4","text":"x"}`, &wire.TabInspection{Refs: []string{"e4"}})
	wantInspection("browser_press_key", `{"target":"f3e4","key":"x"}`, &wire.TabInspection{Refs: []string{"f3e4"}, Focused: true})
	wantInspection("browser_fill_form", `{"fields":[{"target":"e1","value":"a"},{"target":"e2","value":true}]}`, &wire.TabInspection{Refs: []string{"e1", "e2"}})
	wantInspection("browser_click", `{"target":"e4"}`, nil)
	f.setRule("*", policy.SiteAuto)
	wantInspection("browser_click", `{"target":"e4"}`, &wire.TabInspection{})
	wantInspection("browser_snapshot", `{}`, nil)
	wantInspection("browser_tabs", `{"action":"list"}`, nil)
}

func (f *fixture) setRule(pattern string, rule policy.SiteRule) {
	f.t.Helper()
	if err := f.rules.Set(pattern, rule, "cli"); err != nil {
		f.t.Fatal(err)
	}
}
