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
		mailPlugin, _ := registry.Set().Plugin("mail")
		return mailPlugin
	}
	mailPlugin := load()
	var changes []policy.Change
	p := policy.New(dir, registry.Set, policy.Options{RecordChange: func(c policy.Change) { changes = append(changes, c) }})
	if err := p.SetOpening("mail", true, "me"); err == nil || !strings.Contains(err.Error(), "is not reviewed") {
		t.Error(err)
	}
	failOnError := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	failOnError(p.Review("mail", mailPlugin.ContentHash(), wire.PermissionAsk, "me"))
	if p.MayOpen("mail") || p.MayOpen("gone") {
		t.Error("tabs are opened without permission")
	}
	failOnError(p.SetOpening("mail", true, "me"))
	if lastChange := changes[len(changes)-1]; !p.MayOpen("mail") || lastChange.Kind != "opening" || lastChange.New != "https://mail.example.com/" {
		t.Errorf("%t, %+v", p.MayOpen("mail"), lastChange)
	}
	plugintest.Package{Name: "mail", Matches: []string{"https://mail.example.com/*"}, Code: "var changed;"}.WriteTo(t, folder)
	movedPlugin := load()
	if p.MayOpen("mail") {
		t.Error("tabs are opened for content that is not reviewed")
	}
	failOnError(p.Review("mail", movedPlugin.ContentHash(), wire.PermissionAsk, "me"))
	if !p.MayOpen("mail") {
		t.Error("another version opens the same page, and the permission is gone")
	}
	plugintest.Package{Name: "mail", Matches: []string{"https://bank.example.com/*"}}.WriteTo(t, folder)
	failOnError(p.Review("mail", load().ContentHash(), wire.PermissionAsk, "me"))
	if p.MayOpen("mail") {
		t.Error("the permission applies to another page than the allowed page")
	}
	failOnError(p.SetOpening("mail", true, "me"))
	failOnError(p.SetOpening("mail", false, "me"))
	if p.MayOpen("mail") {
		t.Error("switched off, and tabs are opened")
	}
}
