package plugin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

// The page to open is one in which the plugin works.
func TestOpensAt(t *testing.T) {
	for _, test := range []struct {
		matches []string
		want    string
	}{
		{[]string{"https://mail.example.com/*"}, "https://mail.example.com/"},
		{[]string{"*://mail.example.com:8443/app/*/inbox", "*://*.example.org/*"}, "https://example.org/"},
		{[]string{"*://localhost:3000/a/*"}, "http://localhost:3000/a/"},
		{[]string{"*://127.0.0.1/*"}, "http://127.0.0.1/"},
		{[]string{}, ""},
	} {
		p := plugintest.Package{Name: "mail", Matches: test.matches, Settings: json.RawMessage(`{"site":{"type":"url","label":"Site","required":true}}`)}
		registry, _ := plugintest.Registry(t, p)
		one, ok := registry.Set().Plugin("mail")
		if !ok || one.OpensAt != test.want {
			t.Errorf("%q opens %q, want %q (%v)", test.matches, one.OpensAt, test.want, registry.Set().Failed())
		}
	}
}

// Tabs are opened for the page that the person has seen, and only while what they
// have reviewed is there.
func TestOpeningIsForOnePage(t *testing.T) {
	dir, folder := t.TempDir(), plugintest.Package{Name: "mail", Matches: []string{"https://mail.example.com/*"}}.Write(t)
	store := plugin.NewStore(dir, plugin.StoreOptions{})
	registry := plugin.NewRegistry(store, zerolog.Nop())
	load := func() *plugin.Plugin {
		t.Helper()
		if _, err := store.Add(folder); err != nil {
			t.Fatal(err)
		}
		if err := registry.Reload(); err != nil {
			t.Fatal(err)
		}
		one, _ := registry.Set().Plugin("mail")
		return one
	}
	one := load()
	var changes []plugin.Change
	policy := plugin.NewPolicy(dir, registry.Set, plugin.PolicyOptions{Record: func(c plugin.Change) { changes = append(changes, c) }})
	if err := policy.SetOpening("mail", true, "me"); err == nil || !strings.Contains(err.Error(), "is not reviewed") {
		t.Error(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(policy.Review("mail", one.ContentHash(), wire.PermissionAsk, "me"))
	if policy.MayOpen("mail") || policy.MayOpen("gone") {
		t.Error("tabs are opened and nobody has allowed it")
	}
	must(policy.SetOpening("mail", true, "me"))
	if last := changes[len(changes)-1]; !policy.MayOpen("mail") || last.Kind != "opening" || last.New != "https://mail.example.com/" {
		t.Errorf("%t, %+v", policy.MayOpen("mail"), last)
	}
	plugintest.Package{Name: "mail", Matches: []string{"https://mail.example.com/*"}, Code: "var changed;"}.WriteTo(t, folder)
	two := load()
	if policy.MayOpen("mail") {
		t.Error("tabs are opened for what nobody has reviewed")
	}
	must(policy.Review("mail", two.ContentHash(), wire.PermissionAsk, "me"))
	if !policy.MayOpen("mail") {
		t.Error("another version opens the same page, and it is asked for again")
	}
	plugintest.Package{Name: "mail", Matches: []string{"https://bank.example.com/*"}}.WriteTo(t, folder)
	must(policy.Review("mail", load().ContentHash(), wire.PermissionAsk, "me"))
	if policy.MayOpen("mail") {
		t.Error("another page is opened than the one that was allowed")
	}
	must(policy.SetOpening("mail", true, "me"))
	must(policy.SetOpening("mail", false, "me"))
	if policy.MayOpen("mail") {
		t.Error("switched off, and tabs are opened")
	}
}
