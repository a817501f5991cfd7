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

func TestExtensionManifest(t *testing.T) {
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
		t.Error("the manifest requests the permission debugger without the option WithDebugger, want no such permission")
	}
	if m.Version != "7.8.9" || m.Key == "" {
		t.Errorf("manifest: version %q, key %q; want version 7.8.9 and a key", m.Version, m.Key)
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
			t.Errorf("the manifest refers to %s, but ExtensionFiles did not return this file; want all files of the manifest", name)
		}
	}
	if _, ok := files["connection.json"]; ok {
		t.Error("ExtensionFiles returned connection.json, want no file of a single server")
	}
	for name, fileContent := range files {
		if strings.HasSuffix(name, ".js") && bytes.Contains(fileContent, []byte("require(")) {
			t.Errorf("the file %s calls require() at run time, want a script that loads no modules", name)
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
		t.Error("the manifest of the store extension has a key, want none, because stores reject it")
	}
	for _, name := range []string{"key", "host_permissions", "optional_host_permissions"} {
		delete(manifest, name)
		delete(unpacked, name)
	}
	if !reflect.DeepEqual(manifest, unpacked) {
		t.Errorf("other members of the store extension's manifest = %v; want those of the unpacked extension, %v", manifest, unpacked)
	}
}

func TestHostScriptIsOneExpression(t *testing.T) {
	host, err := HostScript()
	if err != nil {
		t.Fatal(err)
	}
	problems := syntaxErrors("const start = " + string(host) + ";\n")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
}

// TestHostChecksBuiltInsFirst checks that no code runs before the check of the built-ins, not
// even a helper function of the bundler.
func TestHostChecksBuiltInsFirst(t *testing.T) {
	host, err := HostScript()
	if err != nil {
		t.Fatal(err)
	}
	codeBeforeCheck, codeAfterCheck, ok := strings.Cut(string(host), "\n}\nif (!late && !intact()) return () => {};\n")
	if !ok || !strings.HasPrefix(codeBeforeCheck, "((late) => {\n\"use strict\";\nfunction intact() {\n") || !strings.Contains(codeAfterCheck, "var host = ") {
		t.Errorf("the host script begins with %.80q, want the function intact before any other code", host)
	}
}

// If the host were sloppy code, the page could read the host's functions through `caller`.
func TestHostUsesStrictMode(t *testing.T) {
	host, err := HostScript()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(host), "((late) => {\n\"use strict\";\n") {
		t.Errorf("the host script begins with %.40q, want strict mode", host)
	}
	if problems := syntaxErrors(wrapTestScript(host, "with ({}) {}")); len(problems) > 0 {
		t.Errorf("an adapter with a `with` statement: syntax errors %v, want none because adapters are not strict", problems)
	}
}

func wrapTestScript(host []byte, code string) string {
	return string(WrapAdapter(host, ScriptOptions{Name: "a", Hash: "h"}, []byte(code), nil))
}

const defaultOptionsJSON = `"{\"name\":\"a\",\"hash\":\"h\",\"settings\":{},\"start\":\"now\"}"`

const outerFunctionHead = "function ({" + builtInNames + "}) { arguments[1]?.(new Error()); return "

func TestBuiltInsOfHost(t *testing.T) {
	fileContent, err := extensionSources.Read("extension/src/host/globals.ts")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, methodName := range regexp.MustCompile(`(?m)^  '(\w+)',$`).FindAllSubmatch(fileContent, -1) {
		names = append(names, string(methodName[1]))
	}
	if got := strings.Join(names, ", "); got != builtInNames {
		t.Errorf("built-ins in globals.ts:\n%s\nin extension.go:\n%s\nwant equal lists", got, builtInNames)
	}
}

func repeatAdapterReads(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "v%d.__openTabs;", i)
	}
	return b.String()
}

func TestWrapAdapter(t *testing.T) {
	host := []byte("(() => {})()")
	const outerFunctionWithWindow, outerFunctionWithoutWindow = outerFunctionHead + "function (globalThis, window, self) {", outerFunctionHead + "function (globalThis) {"
	for _, c := range []struct{ code, want string }{
		{`globalThis.__openTabs = {}`, outerFunctionWithoutWindow},
		{`(globalThis).__openTabs`, outerFunctionWithoutWindow},
		{`globalThis?.__openTabs`, outerFunctionWithoutWindow},
		{`globalThis["__openTabs"]`, outerFunctionWithoutWindow},
		{`globalThis?.["__openTabs"]`, outerFunctionWithoutWindow},
		{`globalThis
  .__openTabs`, outerFunctionWithoutWindow},
		{`console.log(1)`, outerFunctionWithoutWindow},
		{`window.__openTabs`, outerFunctionWithWindow},
		{`globalThis.__openTabs; self["__openTabs"]`, outerFunctionWithWindow},
		{`(window).__openTabs`, outerFunctionWithWindow},
		{`window?.__openTabs`, outerFunctionWithWindow},
		{"window[`__openTabs`]", outerFunctionWithWindow},
		{`this.__openTabs`, outerFunctionWithWindow},
		{`parent.__openTabs`, outerFunctionWithWindow},
		{`globalThis.window.__openTabs`, outerFunctionWithWindow},
		{`window.globalThis.__openTabs`, outerFunctionWithWindow},
		{`const { __openTabs } = window`, outerFunctionWithWindow},
		{`const { a, __openTabs } = window`, outerFunctionWithWindow},
		{`var w = window; w.__openTabs`, outerFunctionWithWindow},
		{`var w = (self); if (w["__openTabs"]) {}`, outerFunctionWithWindow},
		{`window.__openTabsExtracted`, outerFunctionWithoutWindow},
		{`f(globalThis.__openTabs)`, outerFunctionWithoutWindow},
		{`var g = globalThis; g.__openTabs`, outerFunctionWithoutWindow},
		{`var g = window.top2; g.__openTabs`, outerFunctionWithoutWindow},
		{`warn("[x] no __openTabs")`, outerFunctionWithoutWindow},
		{`"__openTabs" in globalThis`, outerFunctionWithoutWindow},
		{`warn("a, __openTabs is gone")`, outerFunctionWithoutWindow},
		{`mywindow.__openTabs`, outerFunctionWithoutWindow},
		{strings.Repeat("x.__openTabs; y.__openTabs; ", 100), outerFunctionWithoutWindow},
		{repeatAdapterReads(maxExaminedVariables), outerFunctionWithoutWindow},
		{repeatAdapterReads(maxExaminedVariables + 1), outerFunctionWithWindow}, // above maxExaminedVariables, scriptParameters assumes that a variable is the window
		{`myglobalThis` + strings.Repeat(" ", 53) + `.__openTabs`, outerFunctionWithoutWindow},
	} {
		got := wrapTestScript(host, c.code)
		if want := fmt.Sprintf("%s(false)(%s, %s\n%s\n}; });\n", host, defaultOptionsJSON, c.want, c.code); got != want {
			t.Errorf("WrapAdapter of the code %s\n got %s\nwant %s", c.code, got, want)
		}
	}
}

// A user's setting must not inject code into an adapter's script.
func TestWrapAdapterOptions(t *testing.T) {
	options := ScriptOptions{
		Name: "a", Hash: "h", RunsInFrames: true, FixedScriptPartsID: "b", Settings: wire.PluginSettings{
			Values: json.RawMessage(`{"__proto__":{"x":1},"key":"</script>\"); EVIL(\"\u2028"}`),
			URLs:   json.RawMessage(`{"at":{"main":"https://a.example"}}`),
		},
	}
	got := string(WrapAdapter([]byte("host"), options, []byte("1"), []byte("window.__openTabs")))
	if problems := syntaxErrors(got); len(problems) > 0 {
		t.Fatalf("the wrapped adapter has the syntax errors %v, want none:\n%s", problems, got)
	}
	optionsJSONPrefix, adapterFunctionCode, _ := strings.Cut(got, `", function ({`+builtInNames+`}) { arguments[1]?.(new Error()); return function (`)
	if want := "globalThis) {\n1\n}; }, " + outerFunctionHead + "function (globalThis, window, self) {\nwindow.__openTabs\n}; });\n"; adapterFunctionCode != want {
		t.Errorf("got %q, want %q", adapterFunctionCode, want)
	}
	var scriptCode string
	if err := json.Unmarshal([]byte(strings.TrimPrefix(optionsJSONPrefix, "host(false)(")+`"`), &scriptCode); err != nil {
		t.Fatal(err)
	}
	var decodedOptions ScriptOptions
	if err := json.Unmarshal([]byte(scriptCode), &decodedOptions); err != nil {
		t.Fatal(err)
	}
	if decodedOptions.Name != "a" || decodedOptions.Hash != "h" || !decodedOptions.RunsInFrames || decodedOptions.FixedScriptPartsID != "b" || decodedOptions.Start != StartImmediately ||
		!strings.Contains(string(decodedOptions.Settings.Values), `"__proto__":{"x":1}`) || string(decodedOptions.Settings.URLs) != string(options.Settings.URLs) {
		t.Errorf("script = %s\nwant the options unchanged, with the member __proto__", scriptCode)
	}
}

// Only a hook in the author's code delays the start of an adapter, not the SDK code that calls the hook.
func TestStartTimeOfAdapter(t *testing.T) {
	for _, c := range []struct {
		code string
		want StartTime
	}{
		{`class P { onActivate() { this.x(); } }`, StartAtDOMReady},
		{`class P { async onActivate () {} }`, StartAtDOMReady},
		{`class P { onActivate = () => {}; }`, StartAtDOMReady},
		{`class P { "onActivate"() {} }`, StartAtDOMReady},
		{`class P { ["onActivate"]() {} }`, StartAtDOMReady},
		{`p = { onActivate: hook }`, StartAtDOMReady},
		{`P.prototype.onActivate = function () {}`, StartAtDOMReady},
		{`constructor() { __publicField(this, "onActivate", () => {}); }`, StartAtDOMReady},
		{`onActivate() {}`, StartAtDOMReady},
		{`if (typeof p.onActivate === "function") p.onActivate();`, StartImmediately},
		{`p.onActivate?.(); p.onActivate == null; try { p.onActivate() } catch {}`, StartImmediately},
		{`var hooks = ["onActivate", "onDeactivate"]; callHook(p, "onActivate");`, StartImmediately},
		{`class P { onActivateLater() {} notonActivate() {} $onActivate() {} }`, StartImmediately},
		{`onActivate == 1; onActivate(); onActivate(() => {});`, StartImmediately},
		{``, StartImmediately},
		{`onActivate`, StartImmediately},
	} {
		if got := chooseStartTime([]byte(c.code)); got != c.want {
			t.Errorf("chooseStartTime(%s) = %q, want %q", c.code, got, c.want)
		}
	}
}

func TestWrapAdapterKeepsStartTime(t *testing.T) {
	for _, want := range []StartTime{StartImmediately, StartAtDOMReady} {
		for _, code := range []string{"", "onActivate() {}"} {
			got := string(WrapAdapter([]byte("x"), ScriptOptions{Start: want}, []byte(code), nil))
			if !strings.Contains(got, `\"start\":\"`+string(want)+`\"`) {
				t.Errorf("adapter %q: want the start %s in the script, got %s", code, want, got)
			}
		}
	}
}

func TestAdapterReplacesThisArgument(t *testing.T) {
	for _, c := range [][2]string{
		{`fetch.bind(globalThis)`, `fetch.bind(window)`},
		{`setTimeout.call( globalThis, f)`, `setTimeout.call( window, f)`},
		{"fetch\n.apply(globalThis, a)", "fetch\n.apply(window, a)"},
		{`f.call(globalThis.x)`, `f.call(globalThis.x)`},
		{`bind(globalThis); x.f(globalThis)`, `bind(globalThis); x.f(globalThis)`},
	} {
		got := string(adapterFunction([]byte(c[0])))
		if want := outerFunctionHead + "function (globalThis) {\n" + c[1] + "\n}; }"; got != want {
			t.Errorf("adapterFunction(%q) = %q, want %q", c[0], got, want)
		}
	}
}

func TestWrapAdapterShebang(t *testing.T) {
	for _, lineEnd := range []string{"\n", "\r\n", "\r", "\u2028", "\u2029"} {
		codeAfterShebang := lineEnd + "/*\n}); EVIL(); (function () { /* */"
		got := wrapTestScript([]byte("x"), "#!x"+codeAfterShebang)
		if want := "x(false)(" + defaultOptionsJSON + ", " + outerFunctionHead + "function (globalThis) {\n" + codeAfterShebang + "\n}; });\n"; got != want {
			t.Errorf("adapter whose first line is #! and ends with %q: got %q, want %q", lineEnd, got, want)
		}
	}
}

func TestWrappedAdapterHasValidSyntax(t *testing.T) {
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
			t.Errorf("script of the adapter %q: syntax errors %v, want none", code, problems)
		}
		if problems := syntaxErrors("f(" + string(adapterFunction([]byte(code))) + ")"); len(problems) > 0 {
			t.Errorf("adapterFunction(%q): syntax errors %v, want none", code, problems)
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

func TestPageScriptContainsAccessibilityLibrary(t *testing.T) {
	scripts, err := bundleEntries("page", []api.EntryPoint{{OutputPath: "page", InputPath: "extension/src/page/main.ts"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(scripts["page.js"]), "aria-labelledby") {
		t.Error("page.js lacks the text aria-labelledby, want the library dom-accessibility-api in the bundle")
	}
}
