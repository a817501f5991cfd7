package jsbuild

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const validPackage = `{"name":"opentabs-plugin-bad","version":"1.0.0","main":"dist/adapter.iife.js",
  "opentabs":{"displayName":"Bad","description":"A plugin that is bad.","urlPatterns":["*://*.example.com/*"]}}`

func pluginWithTools(tools string) string {
	return `import { definePlugin, defineTool } from '@opentabs/sdk';
import { z } from 'zod';
const ok = { description: 'Does it.', input: z.object({}), output: z.object({}), async handle() { return {}; } };
export default definePlugin({ isReady: () => true, tools: [` + tools + `] });
`
}

var badPlugins = []struct {
	name  string
	pkg   string
	index string
	files map[string]string
	want  []string
}{
	{name: "syntax error", index: "export default {\n  tools: [,\n  isReady( { return true }\n};\n",
		want: []string{`src/index.ts:3:21: Expected ":" but found "true"`, "\n      isReady( { return true }"}},
	{name: "missing module", index: "import { a } from './nowhere';\nexport default a;\n",
		want: []string{`src/index.ts:1:19: Could not resolve "./nowhere"`, "import { a } from './nowhere';"}},
	{name: "missing package", index: "import x from 'left-pad';\nexport default x;\n",
		want: []string{`src/index.ts:1:15: Could not resolve "left-pad"; if it is a package, install it with npm in the plugin's directory` + "\n"}},
	{name: "module of Node", index: "import fs from 'fs';\nexport default fs;\n",
		want: []string{`Could not resolve "fs"; this is a module of Node, which a page does not have; use what browsers offer` + "\n"}},
	{name: "module of the web", index: "import x from 'https://cdn.example/x.js';\nexport default x;\n",
		want: []string{`src/index.ts:1:15: "https://cdn.example/x.js" is a URL, and a build loads nothing from the network`}},
	{name: "wrong name from the SDK", index: "import { defineTol } from '@opentabs/sdk';\nexport default defineTol;\n",
		want: []string{"src/index.ts:1:10: this version of the SDK has no defineTol; remove the import"}},
	{name: "zod/mini", index: "import * as z from 'zod/mini';\nexport default z;\n",
		want: []string{"zod/mini is not built in", "run npm install zod@4"}},
	{name: "top-level await", index: "export default await Promise.resolve({});\n",
		want: []string{"src/index.ts:1:16:", "Top-level await"}},
	{name: "no default export", index: "export const plugin = 1;\n",
		want: []string{"src/index.ts: the module has no default export; write `export default definePlugin({...})`"}},
	// sdk-ts/src/extract/extract.test.ts tests each problem of a tool separately.
	{name: "tools", index: pluginWithTools(`{...ok, name: 'sendMessage'}, {...ok, name: 'twice'}, {...ok, name: 'twice'},
  {...ok, name: 'a', description: 'x'.repeat(1001), input: z.string()},
  {...ok, name: 'b', input: z.object({when: z.date()}), output: z.object({n: z.string().transform(Number)})}`),
		want: []string{"has 6 problems", "src/index.ts: tool sendMessage: its name must be snake_case, such as send_message",
			"tool twice: another tool or prompt has this name; rename", "tool a: its description has 1001 characters; shorten it to 1000",
			"tool a: its input must be a z.object({...})", "tool b: input.when: Date cannot be represented in JSON Schema; use z.iso.datetime()",
			"tool b: output.n: Transforms cannot be represented in JSON Schema; describe what the handler returns"}},
	{name: "throws while loading", index: "import './deep.ts';\nexport default {};\n",
		files: map[string]string{"src/deep.ts": "export const token: string = (() => {\n  const o: any = null;\n  return o.missing;\n})();\n"},
		want:  []string{"src/deep.ts:3:", "could not be loaded: TypeError: cannot read property 'missing' of null", "move code that needs the page into isReady"}},
	{name: "endless loop while loading", index: "let n = 0;\nfor (;;) n++;\nexport default n;\n",
		want: []string{"src/index.ts:", "did not finish loading within 6s; look for an endless loop"}},
	{name: "package.json that is no JSON", pkg: "{\n  name: 1}", index: "", want: []string{"package.json: is not valid JSON"}},
	{name: "package.json with gaps", pkg: `{"name":"my-plugin","opentabs":{"displayName":"","urlPatterns":["<all_urls>","*://*.com/*"]}}`,
		index: pluginWithTools(`{...ok, name: 'A'}`),
		want: []string{"package.json: ", `"my-plugin"`, "version is missing", "main is missing", "opentabs.displayName is empty",
			"opentabs.description is missing", "<all_urls>", "*://*.com/*", "tool A: its name must be snake_case"}},
	{name: "entry outside", pkg: strings.Replace(validPackage, `"displayName"`, `"entry":"../x.ts","displayName"`, 1), index: "",
		want: []string{`opentabs.entry is "../x.ts"; name a file inside the plugin's directory`}},
	{name: "entry that is not there", pkg: strings.Replace(validPackage, `"displayName"`, `"entry":"lib/x.ts","displayName"`, 1), index: "",
		want: []string{"lib/x.ts: the file does not exist; write the plugin there"}},
}

func TestInvalidPluginsAreReported(t *testing.T) {
	for _, testCase := range badPlugins {
		t.Run(testCase.name, func(t *testing.T) {
			files := map[string]string{"package.json": testCase.pkg, "src/index.ts": testCase.index}
			if testCase.pkg == "" {
				files["package.json"] = validPackage
			}
			for name, text := range testCase.files {
				files[name] = text
			}
			dir := writeFiles(t, files)
			timeout := longTimeout
			if strings.HasPrefix(testCase.name, "endless") {
				timeout = 6 * time.Second
			}
			_, err := BuildPlugin(t.Context(), dir, Options{Extract: childArgs, ExtractTimeout: timeout})
			var buildErr *BuildError
			if !errors.As(err, &buildErr) {
				t.Fatalf("build error = %v, want a *BuildError", err)
			}
			for _, want := range testCase.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("want the text %q in the error of the build, got\n%v", want, err)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "dist")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the failed build wrote the folder dist: %v; want the error %v", err, os.ErrNotExist)
			}
		})
	}
}

func TestProblemsAreListedOnce(t *testing.T) {
	dir := writeFiles(t, map[string]string{"package.json": validPackage, "src/index.ts": "import './nowhere';\nimport './gone';\n"})
	_, err := BuildPlugin(t.Context(), dir, Options{Extract: childArgs, ExtractTimeout: longTimeout})
	want := "the plugin in " + dir + ` has 2 problems; fix what is listed and build again
  - src/index.ts:1:8: Could not resolve "./nowhere"
      import './nowhere';
  - src/index.ts:2:8: Could not resolve "./gone"
      import './gone';`
	if err == nil || err.Error() != want {
		t.Errorf("error of the build =\n%v\nwant\n%s", err, want)
	}
}

func TestPackageProblems(t *testing.T) {
	for name, change := range map[string][2]string{
		`"browser" is reserved`: {"plugin-bad", "plugin-browser"},
		"version":               {`"version":"1.0.0",`, ""},
		"*://*/*":               {"*://*.example.com/*", "*://*/*"},
	} {
		_, problems, err := checkPackage([]byte(strings.Replace(validPackage, change[0], change[1], 1)), nil)
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0].String(), name) {
			t.Errorf("invalid package.json: want one problem that contains %q, got problems %v, error %v", name, problems, err)
		}
	}
	if _, problems, err := checkPackage([]byte(validPackage), nil); err != nil || len(problems) > 0 {
		t.Errorf("valid package.json: problems %v, error %v; want none", problems, err)
	}
	adapter, tools := []byte("(()=>{})();"), []byte(`{"sdkVersion":"0.1.0","tools":[{"name":"a","description":"x","input_schema":{"type":"object"},"output_schema":{}}]}`)
	packageWithoutPatterns := strings.Replace(validPackage, `["*://*.example.com/*"]`, "[]", 1)
	if _, problems, err := checkPackage([]byte(packageWithoutPatterns), outputFiles{{bundleFileName, adapter}, {toolsName, tools}}); err != nil || len(problems) != 1 || !strings.Contains(problems[0].Text, "urlPatterns is empty") {
		t.Errorf("package.json without site patterns: problems %v, error %v; want one problem about urlPatterns", problems, err)
	}
}

func TestAdapterTooLarge(t *testing.T) {
	if p := checkSize("adapter", 5<<20); p != nil {
		t.Errorf("checkSize of an adapter of 5 MB = %v, want no problem", p)
	}
	if p := checkSize("pre-script", 6<<20); p == nil || !strings.Contains(p.Text, "the pre-script would have 6.0 MB; keep it below 5 MB") {
		t.Errorf("checkSize of a pre-script of 6 MB = %v, want a problem with the size and the limit", p)
	}
}

func TestNoPackage(t *testing.T) {
	_, err := BuildPlugin(t.Context(), t.TempDir(), Options{Extract: childArgs, ExtractTimeout: longTimeout})
	if err == nil || !strings.Contains(err.Error(), "the directory has no package.json; name the directory of a plugin") {
		t.Errorf("error of a build without package.json = %v, want an error about package.json", err)
	}
}

func TestTopLevelPageAccessIsReported(t *testing.T) {
	dir := writeFiles(t, map[string]string{"package.json": validPackage, "src/index.ts": `
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
` + pluginWithTools(`{...ok, name: 'a'}`)})
	if b := buildPlugin(t, dir); len(b.Tools) != 1 {
		t.Errorf("built plugin = %+v; want 1 tool", b)
	}
}

func TestBuildWarnings(t *testing.T) {
	dir := writeFiles(t, map[string]string{"package.json": validPackage, "src/index.ts": `
import { OpenTabsPlugin, defineTool } from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';
import style from './style.css';
class Old extends OpenTabsPlugin {
  readonly name = 'old';
  readonly description = 'A plugin that is bad.';
  readonly displayName = 'Other';
  readonly urlPatterns = ['*://*.example.com/*', '*://example.org/*'];
  readonly tools = [defineTool({ name: 'a' + '_long'.repeat(15), description: 'x', input: z.object({}), output: z.object({}), async handle() { return {}; } })];
  async isReady() { return process.env.NODE_ENV === 'production' && style.length > 0; }
}
export default new Old();
`, "src/style.css": ".a { color: red }\n"})
	link := filepath.Join(t.TempDir(), "a link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	b := buildPlugin(t, link)
	if code := string(readFileIn(t, dir, "dist/adapter.iife.js")); !strings.Contains(code, "\n  // src/index.ts\n") || !strings.Contains(code, `".a { color: red }\n"`) {
		t.Error("the adapter lacks the path src/index.ts or the text of the style sheet, want both")
	}
	var got strings.Builder
	for _, w := range b.Warnings {
		got.WriteString(w.String() + "\n")
	}
	for _, want := range []string{
		`opentabs.displayName is "Bad", which is used, but the plugin's code has "Other"`,
		`opentabs.urlPatterns is "*://*.example.com/*", which is used, but the plugin's code has "*://*.example.com/*, *://example.org/*"`,
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("want the warning %q, got\n%s", want, got.String())
		}
	}
	if len(b.Warnings) != 3 || !strings.Contains(got.String(), "some clients refuse more than 64") {
		t.Errorf("the build has %d warnings, want 3:\n%s", len(b.Warnings), got.String())
	}
}
