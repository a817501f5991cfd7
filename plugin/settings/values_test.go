package settings_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

const wikiSettings = `{
	"site": {"type": "url", "label": "Site", "required": true},
	"token": {"type": "string", "label": "Token"},
	"size": {"type": "number", "label": "Size"},
	"loud": {"type": "boolean", "label": "Loud"},
	"mode": {"type": "select", "label": "Mode", "options": ["fast", "slow"]}
}`

func wikiPlugin(t *testing.T) *plugin.Plugin {
	t.Helper()
	return plugintest.Load(t, plugintest.Package{Name: "wiki", Matches: []string{}, Settings: json.RawMessage(wikiSettings)})
}

func rawSettings(pairs ...string) map[string]json.RawMessage {
	raw := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		raw[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return raw
}

func TestSettingValuesKeepTypes(t *testing.T) {
	dir, p := t.TempDir(), wikiPlugin(t)
	var changes []string
	v := settings.New(dir, settings.Options{RecordChange: func(name string, keys []string, by string) {
		changes = append(changes, fmt.Sprint(name, keys, by))
	}})
	err := v.Change(p, rawSettings("site", `"https://wiki.example.com/base"`, "token", `"s3cret-text"`, "size", `1.50`, "loud", `false`, "mode", `"slow"`), "me")
	if err != nil {
		t.Fatal(err)
	}
	page := settings.New(dir, settings.Options{}).SettingsForPage(p, false) // new Values have no cached content, as in another process
	if got, want := string(page.Values), `{"loud":false,"mode":"slow","size":1.50,"token":"s3cret-text"}`; got != want {
		t.Errorf("settings for the page = %s, want %s", got, want)
	}
	if got, want := string(page.URLs), `{"site":{"default":"https://wiki.example.com/base"}}`; got != want {
		t.Errorf("URLs for the page = %s, want %s", got, want)
	}
	if fileInfo, err := os.Stat(filepath.Join(dir, "settings.json")); err != nil || fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("settings.json = %v, error %v; want the mode 0600", fileInfo, err)
	}
	if want := []string{"wiki[loud mode site size token]me"}; !slices.Equal(changes, want) {
		t.Errorf("recorded changes = %q, want the keys without values", changes)
	}
	if err := v.Change(p, rawSettings("token", `null`, "mode", `" "`, "site", `{}`), "me"); err != nil {
		t.Fatal(err)
	}
	if got := v.ValidValues(p); len(got) != 2 || string(got["size"]) != "1.50" || string(got["loud"]) != "false" {
		t.Errorf("settings after three values are removed = %s; want only size and loud", got)
	}
}

func TestInvalidSettingValuesAreRejected(t *testing.T) {
	p := wikiPlugin(t)
	v := settings.New(t.TempDir(), settings.Options{})
	for _, testCase := range []struct{ key, value, want string }{
		{"size", `"12"`, "the setting size is a string; make it a number"},
		{"size", `1e999`, "the setting size is a number that does not fit"},
		{"loud", `"yes"`, "the setting loud is a string; make it true or false"},
		{"mode", `"fastest"`, `the setting mode is "fastest"; use one of fast, slow`},
		{"token", `12`, "the setting token is a number; make it a text"},
		{"token", `"` + strings.Repeat("x", 16385) + `"`, "the setting token has 16385 characters; shorten it to at most 16384"},
		{"site", `true`, "the setting site is a boolean; make it a URL, or an object of URLs by instance"},
		{"site", `{"work":1}`, "has an instance that is no text"},
		{"site", `"wiki.example.com"`, `the setting site is "wiki.example.com"; use an http or https URL`},
		{"site", `"javascript:alert(1)"`, "use an http or https URL"},
		{"site", `"https://ann:pw@wiki.example.com"`, "has a name or a password in its URL"},
		{"site", `"https://*.example.com"`, "which browser extensions cannot access"},
		{"site", `"https://[2001:db8::1]/"`, "which browser extensions cannot access"},
		{"site", `{"two words":"https://a.example"}`, `has an instance called "two words"`},
		{"site", `{"a":"http://localhost:8080/x","b":"http://127.0.0.1:8080"}`, "has two instances of one site, a and b"},
		{"tokn", `"x"`, `the plugin wiki has no setting "tokn" (did you mean token?); name one of loud, mode, site, size, token`},
		{"mode", `{`, "the setting mode is no JSON"},
	} {
		err := v.Change(p, rawSettings("loud", "true", testCase.key, testCase.value), "me")
		if err == nil || !strings.Contains(err.Error(), testCase.want) {
			t.Errorf("Change of %s to %.40s: error %v, want %s", testCase.key, testCase.value, err, testCase.want)
		}
	}
	if got := v.ValidValues(p); len(got) != 0 {
		t.Errorf("settings stored together with an invalid one = %s; want none", got)
	}
	if err := v.Change(p, rawSettings("tokn", `"x"`), "me"); !errors.Is(err, plugin.ErrUnknown) {
		t.Errorf("error for an unknown setting = %v; want ErrUnknown", err)
	}
}

func TestParseSettingText(t *testing.T) {
	declaredSettings := map[string]plugin.Setting{}
	for _, s := range wikiPlugin(t).Settings {
		declaredSettings[s.Key] = s
	}
	for _, testCase := range []struct{ key, input, want, wantErrorText string }{
		{key: "loud", input: "yes", want: "true"},
		{key: "loud", input: " Off", want: "false"},
		{key: "loud", input: "maybe", wantErrorText: `is "maybe"; use true or false`},
		{key: "size", input: "012", want: "12"},
		{key: "size", input: "-1.5e3", want: "-1.5e3"},
		{key: "size", input: "many", wantErrorText: `is "many"; use a number`},
		{key: "size", input: "Inf", wantErrorText: "use a number"},
		{key: "site", input: "https://wiki.example.com", want: `{"default":"https://wiki.example.com"}`},
		{key: "mode", input: "slow", want: `"slow"`},
		{key: "mode", input: "slower", wantErrorText: "use one of fast, slow"},
		{key: "token", input: ` "a"=b `, want: `" \"a\"=b "`},
	} {
		got, err := settings.Parse(declaredSettings[testCase.key], testCase.input)
		if testCase.wantErrorText != "" {
			if err == nil || !strings.Contains(err.Error(), testCase.wantErrorText) {
				t.Errorf("Parse(%s=%s): error %v, want %s", testCase.key, testCase.input, err, testCase.wantErrorText)
			}
		} else if err != nil || string(got) != testCase.want {
			t.Errorf("Parse(%s=%s) = %s, error %v; want %s", testCase.key, testCase.input, got, err, testCase.want)
		}
	}
	if !declaredSettings["token"].IsSecret() || declaredSettings["mode"].IsSecret() || declaredSettings["size"].IsSecret() {
		t.Error("IsSecret has a wrong value; want true only for the setting token")
	}
}

func TestSecretValuesAreNotSent(t *testing.T) {
	p, v := wikiPlugin(t), settings.New(t.TempDir(), settings.Options{})
	if err := v.Change(p, rawSettings("token", `"s3cret-text"`, "mode", `"slow"`), "me"); err != nil {
		t.Fatal(err)
	}
	encodedJSON, err := json.Marshal(v.Views(p))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(encodedJSON), "s3cret") || !strings.Contains(string(encodedJSON), `"key":"token","type":"string","label":"Token","secret":true,"set":true}`) {
		t.Errorf("settings that surfaces receive = %s; want no secret value", encodedJSON)
	}
	if got := v.SecretValues(plugin.NewSet([]*plugin.Plugin{p}, nil)); !slices.Equal(got, []string{"s3cret-text"}) {
		t.Errorf("secret values = %q; want s3cret-text", got)
	}
}

func TestSettingsOfRemovedPluginAreKept(t *testing.T) {
	p, v := wikiPlugin(t), settings.New(t.TempDir(), settings.Options{})
	if err := v.Change(p, rawSettings("mode", `"slow"`, "size", "3"), "me"); err != nil {
		t.Fatal(err)
	}
	otherPlugin := plugintest.Load(t, plugintest.Package{Name: "wiki", Settings: json.RawMessage(
		`{"mode": {"type": "select", "label": "Mode", "options": ["fast"]}, "size": {"type": "string", "label": "Size"}}`)})
	if got := v.ValidValues(otherPlugin); len(got) != 0 {
		t.Errorf("settings of the newer version of the plugin = %s; want none", got)
	}
	if got := v.ValidValues(p); len(got) != 2 {
		t.Errorf("settings after the return to the earlier version = %s; want 2", got)
	}
	if err := v.Forget("wiki", "me"); err != nil || len(v.ValidValues(p)) != 0 {
		t.Errorf("settings after Forget = %s, error %v; want none", v.ValidValues(p), err)
	}
}

// Changing one setting must keep the members of settings.json that only newer versions use, and the settings of other
// plugins.
func TestValuesKeepUnknownMembers(t *testing.T) {
	dir, p := t.TempDir(), wikiPlugin(t)
	file, otherFile := filepath.Join(dir, "settings.json"), filepath.Join(dir, "config.json")
	for name, valueText := range map[string]string{
		file:      `{"version":1,"later":[1],"plugins":{"gone":{"token":"kept"},"wiki":{"more":{"x":null},"loud":true}}}`,
		otherFile: `{"telemetry":false}`,
	} {
		if err := os.WriteFile(name, []byte(valueText), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v := settings.New(dir, settings.Options{})
	if err := v.Change(p, rawSettings("size", "3"), "me"); err != nil {
		t.Fatal(err)
	}
	fileContent, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"later": [`, `"gone": {`, `"token": "kept"`, `"x": null`, `"loud": true`, `"size": 3`} {
		if !strings.Contains(string(fileContent), want) {
			t.Errorf("want the text %s in settings.json: %s", want, fileContent)
		}
	}
	if fileContent, err := os.ReadFile(otherFile); err != nil || string(fileContent) != `{"telemetry":false}` {
		t.Errorf("content of another file = %s, error %v; want it unchanged", fileContent, err)
	}
}

func TestDamagedSettings(t *testing.T) {
	dir, p := t.TempDir(), wikiPlugin(t)
	file := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(file, []byte(`{"version":1,`), 0o600); err != nil {
		t.Fatal(err)
	}
	var warnings []string
	v := settings.New(dir, settings.Options{WarnUser: func(s string) { warnings = append(warnings, s) }})
	if len(v.ValidValues(p)) != 0 {
		t.Error("a damaged settings.json has settings; want none")
	}
	if err := v.Change(p, rawSettings("loud", "true"), "me"); err != nil {
		t.Fatal(err)
	}
	corruptFiles, _ := filepath.Glob(file + ".corrupt-*")
	if len(corruptFiles) != 1 || len(warnings) != 1 || string(v.ValidValues(p)["loud"]) != "true" {
		t.Errorf("kept files %v, warnings %q, settings %s; want 1 file, 1 warning and the new setting", corruptFiles, warnings, v.ValidValues(p))
	}
}

func TestChangedFileAppliesToNextCall(t *testing.T) {
	dir, p := t.TempDir(), wikiPlugin(t)
	firstValues, secondValues := settings.New(dir, settings.Options{}), settings.New(dir, settings.Options{})
	changeSignals := make(chan struct{}, 10)
	firstValues.OnChange(func() { changeSignals <- struct{}{} })
	if err := secondValues.Change(p, rawSettings("loud", "true"), "me"); err != nil {
		t.Fatal(err)
	}
	if string(firstValues.ValidValues(p)["loud"]) != "true" {
		t.Error("the change by another process is not detected; want loud true")
	}
	<-changeSignals
}

func TestURLSettingsDefineSites(t *testing.T) {
	store := plugin.NewStore(t.TempDir(), plugin.StoreOptions{})
	dir := plugintest.Package{Name: "wiki", Matches: []string{}, Settings: json.RawMessage(wikiSettings)}.Write(t)
	if _, err := store.Add(dir); err != nil {
		t.Fatal(err)
	}
	settingValues := settings.New(filepath.Dir(store.Path()), settings.Options{})
	registry := plugin.NewRegistry(store, zerolog.Nop())
	registry.SetSiteSource(settingValues.Instances)
	loadWiki := func() *plugin.Plugin {
		t.Helper()
		if err := registry.Reload(); err != nil {
			t.Fatal(err)
		}
		p, ok := registry.Set().Plugin("wiki")
		if !ok {
			t.Fatalf("the plugin wiki is not loaded, failed plugins %v; want none", registry.Set().Failed())
		}
		return p
	}
	firstPlugin := loadWiki()
	if len(firstPlugin.Matches) != 0 || firstPlugin.OpenURL != "" {
		t.Errorf("plugin without a site: patterns %v, URL %q; want none", firstPlugin.Matches, firstPlugin.OpenURL)
	}
	err := settingValues.Change(firstPlugin, rawSettings("site", `{"work":"https://Wiki.corp:8443/base?x","home":"http://gitlab/"}`), "me")
	if err != nil {
		t.Fatal(err)
	}
	secondPlugin := loadWiki()
	if secondPlugin == firstPlugin || loadWiki() != secondPlugin {
		t.Error("the plugin was rebuilt without a change of its sites, or not after one; want a rebuild exactly after each change")
	}
	if want := []string{"*://gitlab/*", "*://wiki.corp:8443/*"}; !slices.Equal(secondPlugin.Matches, want) {
		t.Errorf("patterns of the plugin = %q, want %q", secondPlugin.Matches, want)
	}
	for url, want := range map[string]bool{
		"https://wiki.corp:8443/any": true, "https://wiki.corp/any": false, "http://gitlab/": true, "http://gitlab.evil.example/": false,
	} {
		if secondPlugin.MatchesURL(url) != want {
			t.Errorf("MatchesURL(%s) = %t; want %v", url, !want, want)
		}
	}
	tool := secondPlugin.Tools[0].Dispatch()
	if want := []dispatch.Instance{{Name: "home", URL: "http://gitlab/"}, {Name: "work", URL: "https://Wiki.corp:8443/base?x"}}; !slices.Equal(tool.Instances, want) {
		t.Errorf("instances = %v; want %v", tool.Instances, want)
	}
	if tool.OpenURL != "http://gitlab/" || !slices.Equal(tool.Matches, secondPlugin.Matches) {
		t.Errorf("tool: URL %q, patterns %q; want http://gitlab/ and the patterns of the plugin", tool.OpenURL, tool.Matches)
	}
}

func TestMissingRequiredSettingBlocksCalls(t *testing.T) {
	p, v := wikiPlugin(t), settings.New(t.TempDir(), settings.Options{})
	pluginSet := plugin.NewSet([]*plugin.Plugin{p}, nil)
	gate := v.Gate(func() *plugin.Set { return pluginSet })
	callInfo := dispatch.CallInfo{Tool: p.Tools[0].Dispatch()}
	verdict := gate.Decide(callInfo)
	if verdict.BlockError == nil || verdict.BlockError.Code != wire.ErrNeedsSettings ||
		!strings.Contains(verdict.BlockError.Message, "lacks the setting site") || !strings.Contains(verdict.BlockError.Message, "opentabs plugin configure wiki") {
		t.Errorf("block = %+v; want the error needs_settings with the command that configures the plugin", verdict.BlockError)
	}
	if err := v.Change(p, rawSettings("site", `"https://wiki.example.com"`), "me"); err != nil {
		t.Fatal(err)
	}
	if verdict := gate.Decide(callInfo); verdict.BlockError != nil {
		t.Errorf("block of a configured plugin = %+v; want none", verdict.BlockError)
	}
	if verdict := gate.Decide(dispatch.CallInfo{Tool: dispatch.Tool{Plugin: "gone"}}); verdict.BlockError != nil {
		t.Errorf("block of an unknown plugin = %+v; want none", verdict.BlockError)
	}
}
