package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

const settingsWithSecrets = `{
	"pin": {"type":"string","label":"Pin","secret":true},
	"apiToken": {"type":"string","label":"Token"},
	"authorName": {"type":"string","label":"Author","secret":false},
	"size": {"type":"number","label":"Size"}
}`

func TestLateStartPluginReceivesNoSecrets(t *testing.T) {
	lateStartPackage := newLateStartPackage("a")
	lateStartPackage.Settings = json.RawMessage(settingsWithSecrets)
	w := newPolicyFixture(t, lateStartPackage)
	w.review("a", permissionAuto)
	loadedPlugin, _ := w.Set().Plugin("a")
	v := settings.New(t.TempDir(), settings.Options{})
	w.failOnError(v.Change(loadedPlugin, rawSettings("pin", `"4711-4711"`, "apiToken", `"t-123456"`, "authorName", `"Ann"`, "size", "3"), "me"))
	page := func() string {
		return string(v.SettingsForPage(loadedPlugin, w.policy.IsRestricted(loadedPlugin)).Values)
	}
	if got := page(); got != `{"authorName":"Ann","size":3}` {
		t.Errorf("settings that the page gets = %s; want %q", got, `{"authorName":"Ann","size":3}`)
	}
	tool := dispatch.Tool{Plugin: "a", Name: "send"}
	forAgent, forUser := w.enforcer.FailureNote(tool, v)
	const withheldSettingsText = "The plugin a did not get the settings apiToken and pin, because it starts after the page's scripts. "
	if !strings.HasPrefix(forAgent, withheldSettingsText) || !strings.Contains(forAgent, "ask the user") || forUser != withheldSettingsText+"To allow it, run `opentabs plugin permission a --late-access on`, or use the side panel." {
		t.Errorf("note for the agent = %q, for the user = %q; want the fact, and the command that gives late access", forAgent, forUser)
	}
	w.failOnError(w.policy.SetLateStartAccess("a", true, "x"))
	if got := page(); !strings.Contains(got, "4711") || !strings.Contains(got, "t-123456") {
		t.Errorf("settings that the page gets with late access = %s; want both secrets", got)
	}
	if forAgent, forUser := w.enforcer.FailureNote(tool, v); forAgent+forUser != "" {
		t.Errorf("note for the agent = %q, for the user = %q; want empty texts", forAgent, forUser)
	}
}

func TestLateStartPluginLacksRequiredSecret(t *testing.T) {
	lateStartPackage := newLateStartPackage("a")
	lateStartPackage.Settings = json.RawMessage(strings.Replace(settingsWithSecrets, `"secret":true`, `"secret":true,"required":true`, 1))
	w := newPolicyFixture(t, lateStartPackage)
	w.review("a", permissionAuto)
	loadedPlugin, _ := w.Set().Plugin("a")
	v := settings.New(t.TempDir(), settings.Options{})
	w.failOnError(v.Change(loadedPlugin, rawSettings("pin", `"4711-4711"`), "me"))
	gate := w.enforcer.SecretsGate(v)
	callInfo := dispatch.CallInfo{Tool: dispatch.Tool{Plugin: "a", Name: "send"}}
	verdict := gate.Decide(callInfo)
	if verdict.BlockError == nil || verdict.BlockError.Code != wire.ErrNeedsSettings || !strings.Contains(verdict.BlockError.Message, "`opentabs plugin permission a --late-access on`") ||
		!strings.HasPrefix(verdict.BlockError.UserText, "The plugin a does not get the setting pin, which it needs") {
		t.Errorf("verdict = %+v; want the error needs_settings with the command that gives late access", verdict)
	}
	w.failOnError(w.policy.SetLateStartAccess("a", true, "x"))
	if v := gate.Decide(callInfo); v.BlockError != nil {
		t.Errorf("block with late access = %v; want none", v.BlockError)
	}
}

func TestIsSecretSetting(t *testing.T) {
	loadedPlugin := plugintest.Load(t, plugintest.Package{Settings: json.RawMessage(settingsWithSecrets)})
	got := map[string]bool{}
	for _, s := range loadedPlugin.Settings {
		got[s.Key] = s.IsSecret()
	}
	for key, want := range map[string]bool{"pin": true, "apiToken": true, "authorName": false, "size": false} {
		if got[key] != want {
			t.Errorf("IsSecret of the setting %s = %t; want %v", key, got[key], want)
		}
	}
	v := settings.New(t.TempDir(), settings.Options{})
	if err := v.Change(loadedPlugin, rawSettings("pin", `"4711-4711"`, "authorName", `"Ann Author"`), "me"); err != nil {
		t.Fatal(err)
	}
	if secrets := v.SecretValues(plugin.NewSet([]*plugin.Plugin{loadedPlugin}, nil)); len(secrets) != 1 || secrets[0] != "4711-4711" {
		t.Errorf("secrets that logs leave out = %q; want only 4711-4711", secrets)
	}
	invalidPackage := plugintest.Package{Settings: json.RawMessage(`{"site":{"type":"url","label":"Site","secret":true},"x":{"type":"string","label":"X","secret":"yes"}}`)}
	if _, err := plugin.Load(invalidPackage.Write(t)); err == nil || !strings.Contains(err.Error(), "configSchema.site.secret is true for a setting of type url; only a string can be secret") ||
		!strings.Contains(err.Error(), "configSchema.x.secret is a string; make it true or false") {
		t.Errorf("error = %v; want the two invalid secret settings", err)
	}
}

func rawSettings(pairs ...string) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return m
}
