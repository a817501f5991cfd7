package browser

import (
	"encoding/json"
	"testing"

	"opentabs/plugin/policy"
	"opentabs/wire"
)

func TestNetworkToolClasses(t *testing.T) {
	for _, testCase := range []struct {
		tool, args string
		want       toolClass
	}{
		{"browser_network_requests", `{}`, classRead},
		{"browser_har_export", `{"bodies":true}`, classRead},
		{"browser_network_conditions", `{"preset":"offline"}`, classAct},
		{"browser_route", `{"action":"list"}`, classRead},
		{"browser_route", `{"action":"add","pattern":"*","abort":true}`, classDangerous},
		{"browser_route", `{"action":"remove"}`, classDangerous},
	} {
		if got := classOfTool(testCase.tool, json.RawMessage(testCase.args)); got != testCase.want {
			t.Errorf("class of %s with the arguments %s = %s, want %s", testCase.tool, testCase.args, got, testCase.want)
		}
	}
	for _, d := range networkTools {
		needsDebugger := CheckCapability(d.name, nil) != nil
		if want := d.name != "browser_network_requests"; needsDebugger != want {
			t.Errorf("tool %s needs the debugger: %t, want %t", d.name, needsDebugger, want)
		}
	}
}

func TestNetworkToolsObeySiteRules(t *testing.T) {
	f := newFixture(t)
	f.decision = allowOnce
	if err := f.rules.Set("*", policy.SiteAuto, "x"); err != nil {
		t.Fatal(err)
	}
	f.mustRun(0, "claude", "browser_network_requests", `{}`)
	f.mustRun(1, "claude", "browser_route", `{"action":"add","pattern":"*","abort":true}`)
	f.mustRun(1, "claude", "browser_route", `{"action":"add","pattern":"*","abort":true}`)
	if err := f.rules.Set("shop.example", policy.SiteOff, "x"); err != nil {
		t.Fatal(err)
	}
	f.wantError(wire.ErrDenied, "shop.example", "claude", "browser_network_requests", `{}`)
	f.wantError(wire.ErrDenied, "shop.example", "claude", "browser_har_export", `{}`)
}
