package policy_test

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// Tabs are opened only at the URL that the user has allowed, and only while the
// content is reviewed.
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
	var changes []policy.Change
	p := policy.New(dir, registry.Set, policy.Options{Record: func(c policy.Change) { changes = append(changes, c) }})
	if err := p.SetOpening("mail", true, "me"); err == nil || !strings.Contains(err.Error(), "is not reviewed") {
		t.Error(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.Review("mail", one.ContentHash(), wire.PermissionAsk, "me"))
	if p.MayOpen("mail") || p.MayOpen("gone") {
		t.Error("tabs are opened without permission")
	}
	must(p.SetOpening("mail", true, "me"))
	if last := changes[len(changes)-1]; !p.MayOpen("mail") || last.Kind != "opening" || last.New != "https://mail.example.com/" {
		t.Errorf("%t, %+v", p.MayOpen("mail"), last)
	}
	plugintest.Package{Name: "mail", Matches: []string{"https://mail.example.com/*"}, Code: "var changed;"}.WriteTo(t, folder)
	two := load()
	if p.MayOpen("mail") {
		t.Error("tabs are opened for content that is not reviewed")
	}
	must(p.Review("mail", two.ContentHash(), wire.PermissionAsk, "me"))
	if !p.MayOpen("mail") {
		t.Error("another version opens the same page, and the permission is gone")
	}
	plugintest.Package{Name: "mail", Matches: []string{"https://bank.example.com/*"}}.WriteTo(t, folder)
	must(p.Review("mail", load().ContentHash(), wire.PermissionAsk, "me"))
	if p.MayOpen("mail") {
		t.Error("another page is opened than the one that was allowed")
	}
	must(p.SetOpening("mail", true, "me"))
	must(p.SetOpening("mail", false, "me"))
	if p.MayOpen("mail") {
		t.Error("switched off, and tabs are opened")
	}
}
