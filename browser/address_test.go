package browser

import (
	"encoding/json"
	"testing"

	"opentabs/dispatch"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// A browser writes the host in lower case and omits the default port, so both addresses have one approval.
func TestApprovalCoversOtherFormsOfAnAddress(t *testing.T) {
	f := newFixture(t)
	f.decision = allowOnce
	f.decision.Scope = wire.ScopeSession
	f.address = "https://shop.example/"
	for i, address := range []string{"https://SHOP.example/", "https://shop.example:443/", "HTTPS://Shop.Example:/", "https://shop.example/"} {
		approvals := 0
		if i == 0 {
			approvals = 1
		}
		args, _ := json.Marshal(map[string]string{"action": "new", "url": address})
		f.mustRun(approvals, "claude", "browser_tabs", string(args))
	}
	if got := originOf("http://Shop.Example:8080/a"); got != "http://shop.example:8080" {
		t.Errorf("originOf of http://Shop.Example:8080/a = %q, want http://shop.example:8080", got)
	}
}

func TestUnusualHostsAreRefused(t *testing.T) {
	f := newFixture(t)
	f.decision = allowOnce
	f.setRule("*", policy.SiteAuto)
	for _, address := range []string{"http://*/", "http://*.shop.example/", "http://[2001:db8:0:0::1]/", "http://[::ffff:192.0.2.1]/", "http://[::ffff:c000:201]/"} {
		args, _ := json.Marshal(map[string]string{"action": "new", "url": address})
		f.wantError(wire.ErrInvalidArguments, "can't be opened: write ", "claude", "browser_tabs", string(args))
	}
	f.mustRun(0, "claude", "browser_tabs", `{"action":"new","url":"http://[2001:db8::1]/"}`)
}

func TestNavigationFromNonWebPageNeedsApproval(t *testing.T) {
	f := newFixture(t)
	f.decision = allowOnce
	f.setRule("shop.example", policy.SiteAuto)
	f.output = `{"text":"Done."}`
	for address, approvals := range map[string]int{
		"file:///home/ada/form.html": 1, "chrome-extension://abc/editor.html": 1, "chrome://settings/": 1,
		"view-source:https://shop.example/": 1, "about:blank": 1, "chrome://newtab/": 0, "chrome://new-tab-page-third-party/": 0, "": 0,
	} {
		f.address = address
		f.mustRun(approvals, "claude", "browser_navigate", `{"url":"https://shop.example/"}`)
		f.mustRun(approvals, "claude", "browser_navigate", `{"go":"reload"}`)
		f.mustRun(approvals, "claude", "browser_navigate_back", `{}`)
	}
	f.address = "file:///home/ada/form.html"
	f.mustRun(1, "claude", "browser_navigate", `{"go":"reload"}`)
	if want := `claude wants to navigate tab 7, "Cart" (file: page), to another page`; f.approvalReasons[0] != want {
		t.Errorf("request for approval = %q, want %q", f.approvalReasons[0], want)
	}
	for title, isEmpty := range map[string]bool{"": true, "about:blank": true, "Print preview": false} {
		if got := isEmptyPage(dispatch.Target{URL: "about:blank", Title: title}); got != isEmpty {
			t.Errorf("isEmptyPage of about:blank with the title %q = %v, want %v", title, got, isEmpty)
		}
	}
	f.output = `{"text":"Opened.","tabId":7}`
	f.mustRun(0, "claude", "browser_tabs", `{"action":"new"}`)
	f.output = ""
	f.mustRun(0, "claude", "browser_navigate", `{"go":"reload"}`)
}
