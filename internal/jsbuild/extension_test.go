package jsbuild

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"opentabs/wire"
)

func TestExtension(t *testing.T) {
	files, err := ExtensionFiles(ManifestOptions{Version: "7.8.9"})
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Version    string            `json:"version"`
		Key        string            `json:"key"`
		Icons      map[string]string `json:"icons"`
		Background struct {
			Worker string `json:"service_worker"`
		} `json:"background"`
		SidePanel struct {
			Path string `json:"default_path"`
		} `json:"side_panel"`
		Action struct {
			Icons map[string]string `json:"default_icon"`
		} `json:"action"`
	}
	if err := json.Unmarshal(files["manifest.json"], &m); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(files["manifest.json"], []byte("debugger")) {
		t.Error("the manifest has the permission debugger, which the user has not chosen")
	}
	if m.Version != "7.8.9" || m.Key == "" {
		t.Errorf("version %q, key %q", m.Version, m.Key)
	}
	namedFiles := []string{m.Background.Worker, m.SidePanel.Path, "bridge.js", "page.js"}
	for _, icons := range []map[string]string{m.Icons, m.Action.Icons} {
		for _, icon := range icons {
			namedFiles = append(namedFiles, icon)
		}
	}
	page := string(files[m.SidePanel.Path])
	for _, link := range regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		namedFiles = append(namedFiles, link[1])
	}
	for _, name := range namedFiles {
		if len(files[name]) == 0 {
			t.Errorf("%s is referenced but not among the files", name)
		}
	}
	if _, ok := files["connection.json"]; ok {
		t.Error("connection.json belongs to one server")
	}
	for name, fileContent := range files {
		if strings.HasSuffix(name, ".js") && bytes.Contains(fileContent, []byte("require(")) {
			t.Errorf("%s loads a module at run time", name)
		}
	}
}

func TestStoreManifest(t *testing.T) {
	manifestOf := func(options ManifestOptions) map[string]any {
		t.Helper()
		files, err := ExtensionFiles(options)
		if err != nil {
			t.Fatal(err)
		}
		manifest := map[string]any{}
		if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil {
			t.Fatal(err)
		}
		return manifest
	}
	manifest, unpacked := manifestOf(ManifestOptions{Version: "7.8.9", IsForStore: true}), manifestOf(ManifestOptions{Version: "7.8.9"})
	if !reflect.DeepEqual(manifest["optional_host_permissions"], unpacked["host_permissions"]) || manifest["host_permissions"] != nil {
		t.Errorf("host permissions of the store extension = %v, optional host permissions = %v; want all sites as optional", manifest["host_permissions"], manifest["optional_host_permissions"])
	}
	if manifest["key"] != nil {
		t.Error("the manifest of the store extension has a key, which stores reject")
	}
	for _, name := range []string{"key", "host_permissions", "optional_host_permissions"} {
		delete(manifest, name)
		delete(unpacked, name)
	}
	if !reflect.DeepEqual(manifest, unpacked) {
		t.Errorf("other members of the store extension's manifest = %v; want those of the unpacked extension, %v", manifest, unpacked)
	}
}

func TestHostIsOneExpression(t *testing.T) {
	host, err := HostScript()
	if err != nil {
		t.Fatal(err)
	}
	problems := syntaxErrors("const start = " + string(host) + ";\n")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
}

// TestHostComparesFirst checks that no code runs before the check of the built-ins, not
// even a helper function of the bundler.
func TestHostComparesFirst(t *testing.T) {
	host, err := HostScript()
	if err != nil {
		t.Fatal(err)
	}
	codeHead, codeAfterHead, ok := strings.Cut(string(host), "\n}\nif (!late && !intact()) return () => {};\n")
	if !ok || !strings.HasPrefix(codeHead, "((late) => {\n\"use strict\";\nfunction intact() {\n") || !strings.Contains(codeAfterHead, "var host = ") {
		t.Errorf("the host begins with %.80q", host)
	}
}

// If the host were sloppy code, the page could read the host's functions through `caller`.
func TestHostIsStrict(t *testing.T) {
	host, err := HostScript()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(host), "((late) => {\n\"use strict\";\n") {
		t.Errorf("the host begins with %.40q", host)
	}
	if problems := syntaxErrors(wrapTestScript(host, "with ({}) {}")); len(problems) > 0 {
		t.Errorf("an adapter became strict: %v", problems)
	}
}

func wrapTestScript(host []byte, code string) string {
	return string(WrapAdapter(host, ScriptOptions{Name: "a", Hash: "h"}, []byte(code), nil))
}

const plainOptions = `"{\"name\":\"a\",\"hash\":\"h\",\"settings\":{},\"start\":\"now\"}"`

const outerFunctionHead = "function ({" + builtIns + "}) { arguments[1]?.(new Error()); return "

func TestBuiltInsOfHost(t *testing.T) {
	fileContent, err := extensionSources.Read("extension/src/host/globals.ts")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^  '(\w+)',$`).FindAllSubmatch(fileContent, -1) {
		names = append(names, string(match[1]))
	}
	if got := strings.Join(names, ", "); got != builtIns {
		t.Errorf("globals.ts has\n%s\nextension.go has\n%s", got, builtIns)
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "v%d.__openTabs;", i)
	}
	return b.String()
}

func TestWrapAdapter(t *testing.T) {
	host := []byte("(() => {})()")
	const allNames, globalThisOnly = outerFunctionHead + "function (globalThis, window, self) {", outerFunctionHead + "function (globalThis) {"
	for _, c := range []struct{ code, want string }{
		{`globalThis.__openTabs = {}`, globalThisOnly},
		{`(globalThis).__openTabs`, globalThisOnly},
		{`globalThis?.__openTabs`, globalThisOnly},
		{`globalThis["__openTabs"]`, globalThisOnly},
		{`globalThis?.["__openTabs"]`, globalThisOnly},
		{`globalThis
  .__openTabs`, globalThisOnly},
		{`console.log(1)`, globalThisOnly},
		{`window.__openTabs`, allNames},
		{`globalThis.__openTabs; self["__openTabs"]`, allNames},
		{`(window).__openTabs`, allNames},
		{`window?.__openTabs`, allNames},
		{"window[`__openTabs`]", allNames},
		{`this.__openTabs`, allNames},
		{`parent.__openTabs`, allNames},
		{`globalThis.window.__openTabs`, allNames},
		{`window.globalThis.__openTabs`, allNames},
		{`const { __openTabs } = window`, allNames},
		{`const { a, __openTabs } = window`, allNames},
		{`var w = window; w.__openTabs`, allNames},
		{`var w = (self); if (w["__openTabs"]) {}`, allNames},
		{`window.__openTabsExtracted`, globalThisOnly},
		{`f(globalThis.__openTabs)`, globalThisOnly},
		{`var g = globalThis; g.__openTabs`, globalThisOnly},
		{`var g = window.top2; g.__openTabs`, globalThisOnly},
		{`warn("[x] no __openTabs")`, globalThisOnly},
		{`"__openTabs" in globalThis`, globalThisOnly},
		{`warn("a, __openTabs is gone")`, globalThisOnly},
		{`mywindow.__openTabs`, globalThisOnly},
		{strings.Repeat("x.__openTabs; y.__openTabs; ", 100), globalThisOnly},
		{manyNames(maxOccurrences), globalThisOnly},
		{manyNames(maxOccurrences + 1), allNames}, // above maxOccurrences, scriptParameters assumes that a variable is the window
		{`myglobalThis` + strings.Repeat(" ", 53) + `.__openTabs`, globalThisOnly},
	} {
		got := wrapTestScript(host, c.code)
		if want := fmt.Sprintf("%s(false)(%s, %s\n%s\n}; });\n", host, plainOptions, c.want, c.code); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.code, got, want)
		}
	}
}

// A user's setting must not inject code into an adapter's script.
func TestWrapAdapterOptions(t *testing.T) {
	options := ScriptOptions{
		Name: "a", Hash: "h", RunsInFrames: true, FixedPartsID: "b", Settings: wire.PluginSettings{
			Values: json.RawMessage(`{"__proto__":{"x":1},"key":"</script>\"); EVIL(\"\u2028"}`),
			URLs:   json.RawMessage(`{"at":{"main":"https://a.example"}}`),
		},
	}
	got := string(WrapAdapter([]byte("host"), options, []byte("1"), []byte("window.__openTabs")))
	if problems := syntaxErrors(got); len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, got)
	}
	codeHead, codeAfterHead, _ := strings.Cut(got, `", function ({`+builtIns+`}) { arguments[1]?.(new Error()); return function (`)
	if want := "globalThis) {\n1\n}; }, " + outerFunctionHead + "function (globalThis, window, self) {\nwindow.__openTabs\n}; });\n"; codeAfterHead != want {
		t.Errorf("got %q, want %q", codeAfterHead, want)
	}
	var scriptCode string
	if err := json.Unmarshal([]byte(strings.TrimPrefix(codeHead, "host(false)(")+`"`), &scriptCode); err != nil {
		t.Fatal(err)
	}
	var decodedOptions ScriptOptions
	if err := json.Unmarshal([]byte(scriptCode), &decodedOptions); err != nil {
		t.Fatal(err)
	}
	if decodedOptions.Name != "a" || decodedOptions.Hash != "h" || !decodedOptions.RunsInFrames || decodedOptions.FixedPartsID != "b" || decodedOptions.Start != StartNow ||
		!strings.Contains(string(decodedOptions.Settings.Values), `"__proto__":{"x":1}`) || string(decodedOptions.Settings.URLs) != string(options.Settings.URLs) {
		t.Errorf("got %s", scriptCode)
	}
}

// Only a hook in the author's code delays the start of an adapter, not the SDK code that calls the hook.
func TestStartTimeOfAdapter(t *testing.T) {
	for _, c := range []struct {
		code string
		want StartTime
	}{
		{`class P { onActivate() { this.x(); } }`, StartAtDOM},
		{`class P { async onActivate () {} }`, StartAtDOM},
		{`class P { onActivate = () => {}; }`, StartAtDOM},
		{`class P { "onActivate"() {} }`, StartAtDOM},
		{`class P { ["onActivate"]() {} }`, StartAtDOM},
		{`p = { onActivate: hook }`, StartAtDOM},
		{`P.prototype.onActivate = function () {}`, StartAtDOM},
		{`constructor() { __publicField(this, "onActivate", () => {}); }`, StartAtDOM},
		{`onActivate() {}`, StartAtDOM},
		{`if (typeof p.onActivate === "function") p.onActivate();`, StartNow},
		{`p.onActivate?.(); p.onActivate == null; try { p.onActivate() } catch {}`, StartNow},
		{`var hooks = ["onActivate", "onDeactivate"]; callHook(p, "onActivate");`, StartNow},
		{`class P { onActivateLater() {} notonActivate() {} $onActivate() {} }`, StartNow},
		{`onActivate == 1; onActivate(); onActivate(() => {});`, StartNow},
		{``, StartNow},
		{`onActivate`, StartNow},
	} {
		if got := defaultStart([]byte(c.code)); got != c.want {
			t.Errorf("%s: starts %q, want %q", c.code, got, c.want)
		}
	}
}

func TestWrapAdapterStart(t *testing.T) {
	for _, want := range []StartTime{StartNow, StartAtDOM} {
		for _, code := range []string{"", "onActivate() {}"} {
			got := string(WrapAdapter([]byte("x"), ScriptOptions{Start: want}, []byte(code), nil))
			if !strings.Contains(got, `\"start\":\"`+string(want)+`\"`) {
				t.Errorf("%q, %s: got %s", code, want, got)
			}
		}
	}
}

func TestAdapterFunctionThis(t *testing.T) {
	for _, c := range [][2]string{
		{`fetch.bind(globalThis)`, `fetch.bind(window)`},
		{`setTimeout.call( globalThis, f)`, `setTimeout.call( window, f)`},
		{"fetch\n.apply(globalThis, a)", "fetch\n.apply(window, a)"},
		{`f.call(globalThis.x)`, `f.call(globalThis.x)`},
		{`bind(globalThis); x.f(globalThis)`, `bind(globalThis); x.f(globalThis)`},
	} {
		got := string(AdapterFunction([]byte(c[0])))
		if want := outerFunctionHead + "function (globalThis) {\n" + c[1] + "\n}; }"; got != want {
			t.Errorf("%q: got %q, want %q", c[0], got, want)
		}
	}
}

func TestWrapAdapterShebang(t *testing.T) {
	for _, lineEnd := range []string{"\n", "\r\n", "\r", "\u2028", "\u2029"} {
		codeAfterHead := lineEnd + "/*\n}); EVIL(); (function () { /* */"
		got := wrapTestScript([]byte("x"), "#!x"+codeAfterHead)
		if want := "x(false)(" + plainOptions + ", " + outerFunctionHead + "function (globalThis) {\n" + codeAfterHead + "\n}; });\n"; got != want {
			t.Errorf("%q: got %q, want %q", lineEnd, got, want)
		}
	}
}

func TestWrapAdapterParses(t *testing.T) {
	host, err := HostScript()
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{
		"",
		"\"use strict\";\n(() => { globalThis.x = 1; })();\n//# sourceMappingURL=a.js.map",
		"// a comment without an end of line",
		"/* a */ \"use strict\"; var a = 1",
		"#!/usr/bin/env node\nvar a = 1;",
		"\uFEFFvar a = 1;",
		"var a = `${1}`; /}/.test('}')",
		"with ({}) {}\nvar let_ = 010;",
	} {
		options := ScriptOptions{Name: `odd "name"`, Hash: "h"}
		if problems := syntaxErrors(string(WrapAdapter(host, options, []byte(code), []byte(code)))); len(problems) > 0 {
			t.Errorf("%q: %v", code, problems)
		}
		if problems := syntaxErrors("f(" + string(AdapterFunction([]byte(code))) + ")"); len(problems) > 0 {
			t.Errorf("%q alone: %v", code, problems)
		}
	}
}

func syntaxErrors(scriptCode string) []string {
	r := api.Transform(scriptCode, api.TransformOptions{LogLevel: api.LogLevelSilent})
	var problems []string
	for _, m := range r.Errors {
		problems = append(problems, m.Text)
	}
	return problems
}

func TestPageScriptBundles(t *testing.T) {
	scripts, err := bundleEntries("page", []api.EntryPoint{{OutputPath: "page", InputPath: "extension/src/page/main.ts"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(scripts["page.js"]), "aria-labelledby") {
		t.Error("the bundle lacks dom-accessibility-api")
	}
}
