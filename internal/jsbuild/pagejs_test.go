package jsbuild

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func findTestPageUses(t *testing.T, pkg, declarations, code string) []PageScriptUse {
	t.Helper()
	dir := t.TempDir()
	writeSource := func(name, fileContent string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(fileContent), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeSource("package.json", `{"name":"opentabs-plugin-p","version":"1.0.0","main":"dist/adapter.iife.js",
		"opentabs":{"displayName":"P","description":"A plugin for tests.","urlPatterns":["*://p.test/*"]`+pkg+`}}`)
	writeSource("src/pre.ts", "export {};")
	writeSource("src/index.ts", declarations+`
import { definePlugin, defineTool, fetchJSON, OpenTabsPlugin } from '@opentabs/sdk';
import { z } from 'zod';
const run = async (input: { name: string }, element: any): Promise<unknown> => { `+code+` };
const tool = defineTool({ name: 'get_it', displayName: 'Get', description: 'Gets it.', input: z.object({ name: z.string() }), output: z.unknown(),
	handle: async (input) => ({ value: await run(input, document.body) }) });
class P extends OpenTabsPlugin { name = 'p'; tools = [tool]; async isReady() { return document.readyState === 'complete'; } `+wrapInToolHook(code)+` }
export default new P();
`)
	uses, err := FindPageScriptUses(dir)
	if err != nil {
		t.Fatal(err)
	}
	return uses
}

func wrapInToolHook(code string) string {
	if strings.Contains(code, "/*hook*/") {
		return "onNavigate(url: string) { fetchJSON(url); }"
	}
	return ""
}

func TestStandardAPIsNeedNoPageScript(t *testing.T) {
	for name, code := range map[string]string{
		"the DOM":                 `return document.querySelector('.x')?.textContent?.trim() ?? [...document.querySelectorAll('a')].map((a) => a.href);`,
		"requests":                `return await (await fetch('/api', { credentials: 'include', headers: { a: document.cookie } })).json();`,
		"storage":                 `localStorage.setItem('a', 'b'); sessionStorage.a = 'b'; return localStorage.getItem('a');`,
		"the window's own":        `window.addEventListener('load', () => {}); window.scrollTo(0, innerHeight); window.location.href = '/x'; return window.top === window;`,
		"documents":               `document.title = 'x'; document.cookie = 'a=b'; location.hash = 'x'; element.innerHTML = '<b>x</b>'; element.click(); return history.length;`,
		"built-ins":               `return Array.prototype.slice.call(arguments, 1).concat(Object.prototype.hasOwnProperty.call(input, 'name') ? [JSON.stringify(input)] : []);`,
		"observers and promises":  `new MutationObserver(() => {}).observe(document.body, {}); await new Promise((resolve) => setTimeout(resolve, 1)); return crypto.randomUUID();`,
		"names as keys":           `const { token, data } = await fetchJSON<any>('/x'); return { token, data: data.jQuery, app: 1, react: { store: 2 }, get user() { return 1; }, load(x: number) { return x; } };`,
		"a template and a regexp": "return `${input.name} /a/ ${[1, 2].map((n) => `${n}`).join('}')}`.replace(/[/\"`']app/g, '');",
		"own classes and labels":  `class Store { state = 1; static all: Store[] = []; read() { return this.state; } } outer: for (const x of Store.all) { if (x.read()) break outer; } return new Store();`,
		"bound functions":         `const get = fetch.bind(window); return get.call(globalThis, '/x');`,
		"a message to a frame":    `document.querySelector('iframe')?.contentWindow?.postMessage('x', '*'); return typeof window;`,
		"detection of Node":       `return typeof process === 'undefined' ? typeof module : 1;`,
	} {
		if uses := findTestPageUses(t, "", "", code); len(uses) > 0 {
			t.Errorf("uses of the page's JavaScript in %s = %q, want none", name, uses)
		}
	}
}

func TestFindPageScriptUses(t *testing.T) {
	const declarations = "declare const APP: any; declare function jQuery(x: string): any; declare const $: any; declare const _: any;"
	for name, testCase := range map[string]struct{ declarations, code, want string }{
		"a variable of the window":                {"", `return (window as any).__INITIAL_STATE__.user;`, "the variable __INITIAL_STATE__"},
		"by globalThis":                           {"", `return (globalThis as any)?.app?.token;`, "the variable app"},
		"by self of the window":                   {"", `return (window.self as any).store.getState();`, "the variable store"},
		"by a text":                               {"", `return (window as any)['app-state'];`, "the variable app-state"},
		"by a computed name":                      {"", `return (window as any)[input.name];`, "the window as a whole"},
		"by another name":                         {"", `const w = window as any; return w.app;`, "the window as a whole"},
		"destructuring":                           {"", `const { app } = window as any; return app;`, "the window as a whole"},
		"a bare variable":                         {declarations, `return APP.user;`, "the variable APP"},
		"a bare function":                         {declarations, `return jQuery('.x').data();`, "the variable jQuery"},
		"short names":                             {declarations, `return $('x') ?? _.map([]);`, "the variable $"},
		"a shorthand":                             {declarations, `return { APP };`, "the variable APP"},
		"getPageGlobal":                           {"import { getPageGlobal } from '@opentabs/sdk';", `return getPageGlobal('app.user');`, "getPageGlobal"},
		"getPageGlobal by another name":           {"import { getPageGlobal as read } from '@opentabs-dev/plugin-sdk';", `return read('app.user');`, "getPageGlobal"},
		"getPageGlobal of a namespace":            {"import * as sdk from '@opentabs/sdk';", `return sdk.getPageGlobal('app.user');`, "getPageGlobal"},
		"a value of a pre-script":                 {"import { getPreScriptValue } from '@opentabs/sdk';", `return getPreScriptValue('x');`, "getPreScriptValue"},
		"onNavigate":                              {"", `/*hook*/ return 1;`, "onNavigate"},
		"a patch of fetch":                        {"", `const old = window.fetch; window.fetch = (...all) => old(...all); return 1;`, "a change of window.fetch"},
		"a patch of fetch by itself":              {"", `fetch = (async () => new Response()) as any; return 1;`, "a change of fetch"},
		"a patch of XMLHttpRequest":               {"", `XMLHttpRequest.prototype.send = function () {}; return 1;`, "a change of XMLHttpRequest.prototype.send"},
		"a variable for XMLHttpRequest.prototype": {"", `const p = XMLHttpRequest.prototype as any; p.send = () => {}; return 1;`, "a change of XMLHttpRequest.prototype"},
		"a patch of history":                      {"", `history.pushState = () => {}; return 1;`, "a change of history.pushState"},
		"a definition":                            {"", `Object.defineProperty(navigator, 'language', { value: 'x' }); return 1;`, "a change of navigator"},
		"a property of React":                     {"", `return element.__reactProps$abc;`, "the property __reactProps$abc"},
		"a key of React":                          {"", `return Object.keys(element).find((key) => key.startsWith('__reactFiber$'));`, "a property of a framework"},
		"a script element":                        {"", `const s = document.createElement('script'); s.textContent = '1'; document.head.append(s); return 1;`, "a script element"},
		"custom elements":                         {"", `return customElements.get('x-y');`, "customElements"},
		"the window of a frame":                   {"", `return (document.querySelector('iframe')?.contentWindow as any).app;`, "the window of a document"},
		"eval":                                    {"", `return eval(input.name);`, "eval"},
		"code made of a text":                     {"", `return new Function('return app')();`, "Function"},
		"the window handed on":                    {"", `return Reflect.get(window, input.name);`, "the window as a whole"},
		"a variable inside of a template":         {declarations, "return `x ${APP.user} y`;", "the variable APP"},
	} {
		uses := findTestPageUses(t, "", testCase.declarations, testCase.code)
		hasUse := false
		for _, use := range uses {
			hasUse = hasUse || strings.HasPrefix(string(use), testCase.want)
		}
		if !hasUse {
			t.Errorf("uses of the page's JavaScript in %s = %q, want %q", name, uses, testCase.want)
		}
	}
	if uses := findTestPageUses(t, `,"preScript":"src/pre.ts"`, "", "return 1;"); len(uses) != 1 || !strings.HasPrefix(string(uses[0]), "a pre-script") {
		t.Errorf("uses of the page's JavaScript = %q, want only the pre-script", uses)
	}
}
