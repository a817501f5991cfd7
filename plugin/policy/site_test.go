package policy_test

import (
	"strings"
	"testing"

	"opentabs/plugin/policy"
)

func TestParseSite(t *testing.T) {
	for siteText, want := range map[string]string{
		"shop.example":                     "shop.example",
		" Shop.Example ":                   "shop.example",
		"https://shop.example/cart?x#y":    "shop.example",
		"http://localhost:3000/":           "localhost:3000",
		"*.shop.example":                   "*.shop.example",
		"*.shop.example:8443":              "*.shop.example:8443",
		"*":                                "*",
		"[::1]:8080":                       "[::1]:8080",
		"192.168.1.1":                      "192.168.1.1",
		"xn--bcher-kva.example":            "xn--bcher-kva.example",
		"[2001:DB8:0:0::1]:8080":           "[2001:db8::1]:8080",
		"shop.example/":                    "shop.example",
		"":                                 "",
		"shop example":                     "",
		"shop.example/cart":                "",
		"*shop.example":                    "",
		"a.*.example":                      "",
		"file:///etc/passwd":               "",
		"shop..example":                    "",
		"user@shop.example":                "",
		"-shop.example":                    "",
		"bücher.example":                   "",
		strings.Repeat("a", 300) + ".test": "",
	} {
		got, err := policy.ParseSite(siteText)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("ParseSite(%q) = %q, %v, want %q", siteText, got, err, want)
		}
	}
}

func TestInvalidSitesAreOff(t *testing.T) {
	w := newPolicyFixture(t)
	sites := policy.NewSites(w.policy)
	for _, testCase := range []struct{ file, address, pattern, problemText string }{
		{`{"version":1,"sites":[]}`, "https://shop.example/", "*", "sites is an array; all sites are off until it is an object"},
		{`{"version":1,"sites":{"shop.example":7}}`, "https://shop.example/", "shop.example", "is no object; the site is off"},
		{`{"version":1,"sites":{"shop.example":{"permission":"yes"}}}`, "https://shop.example/", "shop.example", `"yes" is not a permission of a site`},
	} {
		w.write(testCase.file)
		pattern, siteEntry := sites.RuleFor(testCase.address)
		if problems := strings.Join(w.policy.Problems(), "; "); pattern != testCase.pattern || siteEntry.Rule != policy.SiteOff || !strings.Contains(problems, testCase.problemText) {
			t.Errorf("permissions.json %s: rule of %q = %+v, problems %q; want off for %q and the problem %q", testCase.file, pattern, siteEntry, problems, testCase.pattern, testCase.problemText)
		}
	}
	w.write(`{"version":1,"sites":{"shop.example/x":{"permission":"auto"},"shop.example":{"permission":"read","allowed":[{"client":7},{"client":"laptop","class":"act"}]}}}`)
	_, siteEntry := sites.RuleFor("https://shop.example/x")
	if siteEntry.Rule != policy.SiteRead || len(siteEntry.Allowed) != 1 || len(w.policy.Problems()) == 0 {
		t.Errorf("rule = %+v, problems %q; want read, 1 allowed client and some problems", siteEntry, w.policy.Problems())
	}
}

func TestSitesAreNormalized(t *testing.T) {
	w := newPolicyFixture(t)
	sites := policy.NewSites(w.policy)
	w.write(`{"version":1,"sites":{"BANK.example":{"permission":"off"},"https://mail.example":{"permission":"off"},"SHOP.example":{"permission":"off"},"shop.example":{"permission":"auto"},"a b":{"permission":"off"}}}`)
	for _, address := range []string{"https://bank.example/", "https://mail.example/", "https://shop.example/"} {
		if pattern, entry := sites.RuleFor(address); entry.Rule != policy.SiteOff {
			t.Errorf("rule of %s = %q, from the pattern %q; want off", address, entry.Rule, pattern)
		}
	}
	problems := strings.Join(w.policy.Problems(), "; ")
	for _, want := range []string{"sites.a b: is no site; the entry has no effect", "is another name of shop.example"} {
		if !strings.Contains(problems, want) {
			t.Errorf("want the text %q in the problems %s", want, problems)
		}
	}
	if _, isListed := sites.All()["a b"]; isListed {
		t.Error("All lists a rule without effect; want it left out")
	}
	w.failOnError(sites.Set("shop.example", policy.SiteAuto, "x"))
	if _, entry := sites.RuleFor("https://shop.example/"); entry.Rule != policy.SiteAuto {
		t.Errorf("rule after the change = %q; want auto", entry.Rule)
	}
}

func TestSitePermissionsAreStored(t *testing.T) {
	w := newPolicyFixture(t)
	sites := policy.NewSites(w.policy)
	w.write(`{"version":1,"plugins":{"a":{"permission":"off"}},"later":1}`)
	w.failOnError(sites.Allow("https://shop.example", "laptop", "act", "x"))
	w.failOnError(sites.Set("*.example", policy.SiteRead, "x"))
	if !sites.IsAlwaysAllowed("https://shop.example/a", "laptop", "read") || sites.IsAlwaysAllowed("https://shop.example/a", "other", "read") || sites.IsAlwaysAllowed("https://b.example/", "laptop", "read") {
		t.Errorf("permissions of the sites = %+v; want read allowed only for laptop on https://shop.example", sites.All())
	}
	if pattern, siteEntry := sites.RuleFor("https://shop.example/"); pattern != "*.example" || siteEntry.Rule != policy.SiteRead || siteEntry.By != "x" {
		t.Errorf("rule of the pattern %q = %+v; want read by x for *.example", pattern, siteEntry)
	}
	w.failOnError(sites.Set("shop.example", "", "x"))
	if sites.IsAlwaysAllowed("https://shop.example/a", "laptop", "act") {
		t.Error("the client is still always allowed to act on the site; want no permission")
	}
	if got := w.policy.State("a").Permission; got != "off" {
		t.Errorf("permission of the plugin = %q; want off", got)
	}
	if err := sites.Set("shop example", policy.SiteOff, "x"); err == nil {
		t.Error("Set stored the invalid site \"shop example\"; want an error")
	}
}
