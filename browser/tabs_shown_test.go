package browser

import (
	"strings"
	"testing"

	"opentabs/plugin/policy"
)

func TestPageIsShownOnlyAfterItChanged(t *testing.T) {
	f := newFixture(t)
	if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
		t.Fatal(err)
	}
	cartPage := `"page":{"url":"https://shop.example/cart","title":"Cart"}`
	for i, testCase := range []struct {
		client, output string
		want           string
	}{
		{"claude", `{"text":"Clicked.",` + cartPage + `}`, `page: "Cart" https://shop.example/cart`},
		{"claude", `{"text":"Clicked.",` + cartPage + `}`, ""},
		{"claude", `{"text":"Clicked.","content":"+ row",` + cartPage + `}`, ""},
		{"cursor", `{"text":"Clicked.",` + cartPage + `}`, `page: "Cart" https://shop.example/cart`},
		{"claude", `{"text":"Clicked.","page":{"url":"https://shop.example/cart","title":"Cart (2)"}}`, `page: "Cart (2)"`},
		{"claude", `{"text":"Snapshot s7.","content":"main","snapshot":"s7","page":{"url":"https://shop.example/cart","title":"Cart (2)"}}`, `page: "Cart (2)" https://shop.example/cart [snapshot s7]`},
	} {
		f.output = testCase.output
		tool := "browser_click"
		if testCase.client == "cursor" || strings.Contains(testCase.output, "s7") {
			tool = "browser_snapshot" // another client holds the tab, so only reading is allowed
		}
		got := f.mustRun(0, testCase.client, tool, `{"target":"e1"}`)
		if testCase.want == "" && strings.Contains(got, "page:") || !strings.Contains(got, testCase.want) {
			t.Errorf("result of call %d = %q, want a result that contains %q", i, got, testCase.want)
		}
	}
}

func TestContentIsHiddenAfterSiteIsTurnedOff(t *testing.T) {
	f := newFixture(t)
	f.setRule("shop.example", policy.SiteAuto)
	f.output = `{"text":"Waited.","page":{"url":"https://shop.example/","title":"Cart"},"content":"heading Cart","image":{"data":"AAAA","mimeType":"image/png"}}`
	f.beforeResult = func() { f.setRule("shop.example", policy.SiteOff) }
	got := f.mustRun(0, "claude", "browser_wait_for", `{"time":3}`)
	if want := "Waited.\npage: https://shop.example. The user does not allow browser tools on this site, so its content is left out."; got != want {
		t.Errorf("result on a site that is off = %q, want %q", got, want)
	}
}

func TestLongAddressesAreShortened(t *testing.T) {
	f := newFixture(t)
	f.setRule("shop.example", policy.SiteAuto)
	path := "/cart" + strings.Repeat("a", 2<<20)
	for _, testCase := range []struct{ tool, args, output, want string }{
		{"browser_snapshot", `{}`, `{"text":"Snapshot s7.","content":"main","snapshot":"s7","page":{"url":"https://shop.example/cart?` + path + `","title":"Cart"}}`, "[snapshot s7]"},
		{"browser_click", `{"target":"e1"}`, `{"text":"Clicked.","page":{"url":"https://shop.example/cart#` + path + `","title":"Cart"}}`, "Clicked."},
		{"browser_tabs", `{"action":"new"}`, `{"tabs":[{"tabId":1,"url":"https://shop.example` + path + `","title":"Cart"}]}`, "tab 1"},
	} {
		f.output = testCase.output
		got := f.mustRun(0, "claude", testCase.tool, testCase.args)
		if len(got) > 1500 {
			t.Errorf("result of %s with an address of 2 MB has %d bytes, want at most 1500", testCase.tool, len(got))
			continue
		}
		for _, want := range []string{testCase.want, "https://shop.example/cart", "… (shortened, the whole address has 2"} {
			if !strings.Contains(got, want) {
				t.Errorf("result of %s = %q, want a result that contains %q", testCase.tool, got, want)
			}
		}
	}
}
