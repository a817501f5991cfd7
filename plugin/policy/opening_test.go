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

func TestOpenPermissionIsForOneURL(t *testing.T) {
	dir, folder := t.TempDir(), plugintest.Package{Name: "mail", Matches: []string{"https://mail.example.com/*"}}.Write(t)
	store := plugin.NewStore(dir, plugin.StoreOptions{})
	registry := plugin.NewRegistry(store, zerolog.Nop())
	loadPlugin := func() *plugin.Plugin {
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
	mailPlugin := loadPlugin()
	var changes []policy.Change
	p := policy.New(dir, registry.Set, policy.Options{RecordChange: func(c policy.Change) { changes = append(changes, c) }})
	if err := p.SetMayOpenTab("mail", true, "me"); err == nil || !strings.Contains(err.Error(), "is not reviewed") {
		t.Error(err)
	}
	failOnError := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	failOnError(p.Review("mail", mailPlugin.ContentHash(), wire.PermissionAsk, "me"))
	if p.MayOpenPage("mail") || p.MayOpenPage("gone") {
		t.Error("MayOpenPage is true without the user's permission; want false")
	}
	failOnError(p.SetMayOpenTab("mail", true, "me"))
	if lastChange := changes[len(changes)-1]; !p.MayOpenPage("mail") || lastChange.Kind != "opening" || lastChange.New != "https://mail.example.com/" {
		t.Errorf("MayOpenPage = %t, last change %+v; want true, and the page https://mail.example.com/", p.MayOpenPage("mail"), lastChange)
	}
	plugintest.Package{Name: "mail", Matches: []string{"https://mail.example.com/*"}, Code: "var changed;"}.WriteTo(t, folder)
	movedPlugin := loadPlugin()
	if p.MayOpenPage("mail") {
		t.Error("MayOpenPage is true for content that is not reviewed; want false")
	}
	failOnError(p.Review("mail", movedPlugin.ContentHash(), wire.PermissionAsk, "me"))
	if !p.MayOpenPage("mail") {
		t.Error("MayOpenPage is false for another version that opens the same page; want true")
	}
	plugintest.Package{Name: "mail", Matches: []string{"https://bank.example.com/*"}}.WriteTo(t, folder)
	failOnError(p.Review("mail", loadPlugin().ContentHash(), wire.PermissionAsk, "me"))
	if p.MayOpenPage("mail") {
		t.Error("MayOpenPage is true for a page other than the allowed page; want false")
	}
	failOnError(p.SetMayOpenTab("mail", true, "me"))
	failOnError(p.SetMayOpenTab("mail", false, "me"))
	if p.MayOpenPage("mail") {
		t.Error("MayOpenPage is true after the user switched it off; want false")
	}
}
