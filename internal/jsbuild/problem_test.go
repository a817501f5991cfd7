package jsbuild

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const goodPackage = `{"name":"opentabs-plugin-bad","version":"1.0.0","main":"dist/adapter.iife.js",
  "opentabs":{"displayName":"Bad","description":"A plugin that is bad.","urlPatterns":["*://*.example.com/*"]}}`

// withTools is a module with these tools, which are TypeScript.
func withTools(tools string) string {
	return `import { definePlugin, defineTool } from '@opentabs/sdk';
import { z } from 'zod';
const ok = { description: 'Does it.', input: z.object({}), output: z.object({}), async handle() { return {}; } };
export default definePlugin({ isReady: () => true, tools: [` + tools + `] });
`
}

// Every kind of bad plugin, and what its author is told.
var badPlugins = []struct {
	name  string
	pkg   string // goodPackage if empty
	index string
	files map[string]string
	// want are parts of the message; each has to be there.
	want []string
}{
	{name: "syntax error", index: "export default {\n  tools: [,\n  isReady( { return true }\n};\n",
		want: []string{`src/index.ts:3:21: Expected ":" but found "true"`, "\n      isReady( { return true }"}},
	{name: "missing module", index: "import { a } from './nowhere';\nexport default a;\n",
		want: []string{`src/index.ts:1:19: Could not resolve "./nowhere"`, "import { a } from './nowhere';"}},
	{name: "missing package", index: "import x from 'left-pad';\nexport default x;\n",
		want: []string{`Could not resolve "left-pad"`, "src/index.ts:1:"}},
	{name: "wrong name from the SDK", index: "import { defineTol } from '@opentabs/sdk';\nexport default defineTol;\n",
		want: []string{`No matching export in "opentabs:sdk/src/index.ts" for import "defineTol"`}},
	{name: "zod/mini", index: "import * as z from 'zod/mini';\nexport default z;\n",
		want: []string{"zod/mini is not built in", "run npm install zod@4"}},
	{name: "top-level await", index: "export default await Promise.resolve({});\n",
		want: []string{"src/index.ts:1:16:", "Top-level await"}},
	{name: "no default export", index: "export const plugin = 1;\n",
		want: []string{"src/index.ts: the module has no default export; write `export default definePlugin({...})`"}},
	{name: "class instead of instance", index: "import { OpenTabsPlugin } from '@opentabs-dev/plugin-sdk';\nexport default class Mine extends OpenTabsPlugin {}\n",
		want: []string{"`export default new Mine()`"}},
	{name: "something else", index: "export default 42;\n", want: []string{"the default export is not a plugin"}},
	{name: "promise", index: "export default Promise.resolve({ tools: [], isReady() {} });\n", want: []string{"the default export is not a plugin"}},
	{name: "frozen", index: "export default Object.freeze({ tools: [], isReady() {} });\n", want: []string{"the plugin is frozen; leave that to the build"}},
	{name: "no isReady and no tools", index: "export default { tools: [] };\n",
		want: []string{"has no method isReady; add", "the plugin has no tools; give it at least one"}},
	{name: "tool names", index: withTools(`{...ok, name: 'sendMessage'}, {...ok, name: 'a__b'}, {...ok, name: 'twice'}, {...ok, name: 'twice'}, {...ok}, 7`),
		want: []string{"tool sendMessage: its name must be snake_case, such as send_message", "tool a__b: its name must be",
			"tool twice: another tool has this name; rename", "tools[4]: its name must be", "tools[5]: it is not a tool; make it with defineTool"}},
	{name: "tool texts", index: withTools(`{...ok, name: 'a', description: ' '}, {...ok, name: 'b', description: 'x'.repeat(1001)},
  {...ok, name: 'c', displayName: ''}, {...ok, name: 'd', summary: 5}, {...ok, name: 'e', icon: 'Not An Icon'}`),
		want: []string{"tool a: it has no description; say", "tool b: its description has 1001 characters; shorten it to 1000",
			"tool c: its displayName must be a text", "tool d: its summary must be a text", `tool e: icon "Not An Icon" is not the name of a Lucide icon`}},
	{name: "tool parts", index: withTools(`{name: 'a', description: 'x'}, {...ok, name: 'b', annotations: {readonly: true, readOnlyHint: 'yes'}}`),
		want: []string{"tool a: it has no handle; add", "tool a: its input is not a schema of zod 4; write `z.object({})`",
			"tool a: its output is not a schema of zod 4", "tool b: annotations.readonly is not known", "tool b: annotations.readOnlyHint is not"}},
	{name: "input that is no object", index: withTools(`{...ok, name: 'a', input: z.string()}, {...ok, name: 'b', input: z.discriminatedUnion('k', [
  z.object({k: z.literal('x')}), z.object({k: z.literal('y')})])}`),
		want: []string{"tool a: its input must be a z.object({...})", "tool b: its input must be a z.object({...})"}},
	{name: "schemas that JSON has no word for", index: withTools(`{...ok, name: 'a', input: z.object({
  when: z.date(), list: z.array(z.object({big: z.bigint().optional()})), own: z.custom<string>(), map: z.record(z.string(), z.symbol())})},
  {...ok, name: 'b', output: z.object({n: z.string().transform(Number)})}`),
		want: []string{
			"tool a: input.when: Date cannot be represented in JSON Schema; use z.iso.datetime()",
			"tool a: input.list[].big: BigInt cannot be represented in JSON Schema; use z.string()",
			"tool a: input.own: Custom types cannot be represented in JSON Schema; use a type that JSON has",
			"tool a: input.map.*: Symbols cannot be represented",
			"tool b: output.n: Transforms cannot be represented in JSON Schema; describe what the handler returns",
		}},
	{name: "throws while loading", index: "import './deep.ts';\nexport default {};\n",
		files: map[string]string{"src/deep.ts": "export const token: string = (() => {\n  const o: any = null;\n  return o.missing;\n})();\n"},
		want:  []string{"src/deep.ts:3:", "could not be loaded: TypeError: cannot read property 'missing' of null", "move code that needs the page into isReady"}},
	{name: "endless loop while loading", index: "let n = 0;\nfor (;;) n++;\nexport default n;\n",
		want: []string{"src/index.ts:", "did not finish loading within 500ms; look for an endless loop"}},
	{name: "too large", index: "import text from './big.txt';\nexport default text;\n",
		files: map[string]string{"src/big.txt": strings.Repeat("x", 6<<20)},
		want:  []string{"the adapter would have 6.", "keep it below 5 MB"}},
	{name: "package.json that is no JSON", pkg: "{\n  name: 1}", index: "", want: []string{"package.json: is not valid JSON"}},
	{name: "package.json with gaps", pkg: `{"name":"my-plugin","opentabs":{"displayName":"","urlPatterns":["<all_urls>","*://*.com/*"]}}`,
		index: withTools(`{...ok, name: 'A'}`),
		want: []string{"package.json: ", `"my-plugin"`, "version is missing", "main is missing", "opentabs.displayName is empty",
			"opentabs.description is missing", "<all_urls>", "*://*.com/*", "tool A: its name must be snake_case"}},
	{name: "reserved name", pkg: strings.Replace(goodPackage, "plugin-bad", "plugin-browser", 1), index: withTools(`{...ok, name: 'a'}`),
		want: []string{`"browser" is reserved`}},
	{name: "no patterns", pkg: strings.Replace(goodPackage, `["*://*.example.com/*"]`, "[]", 1), index: withTools(`{...ok, name: 'a'}`),
		want: []string{"opentabs.urlPatterns is empty"}},
	{name: "entry outside", pkg: strings.Replace(goodPackage, `"displayName"`, `"entry":"../x.ts","displayName"`, 1), index: "",
		want: []string{`opentabs.entry is "../x.ts"; name a file inside the plugin's directory`}},
	{name: "entry that is not there", pkg: strings.Replace(goodPackage, `"displayName"`, `"entry":"lib/x.ts","displayName"`, 1), index: "",
		want: []string{"lib/x.ts: there is no such file; write the plugin there"}},
}

func TestBadPlugins(t *testing.T) {
	for _, test := range badPlugins {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"package.json": test.pkg, "src/index.ts": test.index}
			if test.pkg == "" {
				files["package.json"] = goodPackage
			}
			for name, text := range test.files {
				files[name] = text
			}
			dir := write(t, files)
			timeout := time.Minute
			if strings.HasPrefix(test.name, "endless") {
				timeout = 500 * time.Millisecond
			}
			_, err := BuildPlugin(t.Context(), dir, Options{Extract: childArgs, ExtractTimeout: timeout})
			var wrong *BuildError
			if !errors.As(err, &wrong) {
				t.Fatalf("got %v, want a BuildError", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("lacks %q:\n%v", want, err)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "dist")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("something was written: %v", err)
			}
		})
	}
}

// Nothing is said twice, and the count is right.
func TestProblemsAreListedOnce(t *testing.T) {
	dir := write(t, map[string]string{"package.json": goodPackage, "src/index.ts": "import './nowhere';\nimport './gone';\n"})
	_, err := BuildPlugin(t.Context(), dir, Options{Extract: childArgs})
	want := "the plugin in " + dir + ` has 2 problems; fix what is listed and build again
  - src/index.ts:1:8: Could not resolve "./nowhere"
      import './nowhere';
  - src/index.ts:2:8: Could not resolve "./gone"
      import './gone';`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestNoPackage(t *testing.T) {
	_, err := BuildPlugin(t.Context(), t.TempDir(), Options{Extract: childArgs})
	if err == nil || !strings.Contains(err.Error(), "it has no package.json; name the directory of a plugin") {
		t.Errorf("got %v", err)
	}
}

// What a plugin's modules do with the page while they load is harmless.
func TestPageAtLoad(t *testing.T) {
	dir := write(t, map[string]string{"package.json": goodPackage, "src/index.ts": `
const token = document.cookie.split('; ').find((c: string) => c.startsWith('token='))?.slice(6);
const origin = new URL(location.href).origin;
for (const node of document.querySelectorAll('script')) console.log(node);
const tall = window.innerHeight > 800 || Math.max(screen.width, 3) > 4;
class Widget extends HTMLElement { connectedCallback() { this.textContent = token; } }
customElements.define('my-widget', Widget);
window.addEventListener('load', () => {});
const state = (window as any).__STATE__.user.id;
localStorage.setItem('a', JSON.stringify({ origin, tall, state }));
if ({} instanceof HTMLElement) throw new Error('everything is an element');
const text = ` + "`${document.title} ${state}`" + `;
if (!(window as any).fetch || typeof self === 'undefined') throw new Error(text);
setTimeout(() => { throw new Error('late'); }, 0);
void fetch('/api').then((r: Response) => r.json()).then(() => {});
` + withTools(`{...ok, name: 'a'}`)})
	if b := build(t, dir); len(b.Tools) != 1 {
		t.Errorf("got %+v", b)
	}
}

func TestWarnings(t *testing.T) {
	pkg := strings.Replace(goodPackage, `"displayName"`, `"preScript":"src/pre.ts","displayName"`, 1)
	dir := write(t, map[string]string{"package.json": pkg, "src/index.ts": `
import { OpenTabsPlugin, defineTool } from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';
class Old extends OpenTabsPlugin {
  readonly name = 'old';
  readonly description = 'A plugin that is bad.';
  readonly displayName = 'Other';
  readonly urlPatterns = ['*://*.example.com/*', '*://example.org/*'];
  readonly tools = [defineTool({ name: 'a', description: 'x', input: z.object({}), output: z.object({}), async handle() { return {}; } })];
  async isReady() { return true; }
}
export default new Old();
`})
	b := build(t, dir)
	var got strings.Builder
	for _, w := range b.Warnings {
		got.WriteString(w.String() + "\n")
	}
	for _, want := range []string{
		"opentabs.preScript is left out",
		`opentabs.displayName is "Bad" but the plugin's code says "Other"`,
		`opentabs.urlPatterns is "*://*.example.com/*" but the plugin's code says "*://*.example.com/*, *://example.org/*"`,
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("lacks %q:\n%s", want, got.String())
		}
	}
	if len(b.Warnings) != 3 {
		t.Errorf("%d warnings:\n%s", len(b.Warnings), got.String())
	}
}
