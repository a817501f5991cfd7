package jsbuild

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"modernc.org/quickjs"

	"opentabs/plugin"
)

func TestBuildForOriginalSDK(t *testing.T) {
	b := buildPlugin(t, writeFiles(t, map[string]string{
		packageFile: validPackage,
		"src/index.ts": `import { definePrompt, defineTool, OpenTabsPlugin, type PromptDefinition, type ToolDefinition } from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';
class Old extends OpenTabsPlugin {
  readonly name = 'old';
  readonly displayName = 'Old';
  readonly description = 'Old.';
  readonly urlPatterns = ['*://localhost/*'];
  readonly tools: ToolDefinition[] = [
    defineTool({ name: 'hi', description: 'Hi.', input: z.object({}), output: z.object({}), handle: async () => ({}) }),
  ];
  readonly prompts: PromptDefinition[] = [
    definePrompt({
      name: 'compose_message',
      arguments: [{ name: 'to', description: 'Whom', required: true }],
      render: async args => [{ role: 'user', content: { type: 'text', text: args.to ?? '' } }],
    }),
  ];
  async isReady() { return true; }
}
export default new Old();
`,
	}))
	loadedPlugin, err := plugin.Load(b.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if loadedPlugin.Start != plugin.StartAtDocumentIdle || loadedPlugin.IsForOriginalSDK {
		t.Errorf("adapter: start %q, IsForOriginalSDK %v; want the start \"idle\" and false", loadedPlugin.Start, loadedPlugin.IsForOriginalSDK)
	}
	want := []plugin.PromptArgument{{Name: "to", Description: "Whom", Required: true}}
	if p := loadedPlugin.Prompts[0]; p.Name != "compose_message" || p.DisplayName != "Compose Message" || !slices.Equal(p.Arguments, want) {
		t.Errorf("prompt = %+v, want compose_message with the arguments %+v", p, want)
	}
}

func packageWithFields(extraFields string) string {
	return strings.Replace(validPackage, `"displayName"`, extraFields+`,"displayName"`, 1)
}

func loadBuilt(t *testing.T, files map[string]string) (*BuildResult, *plugin.Plugin) {
	t.Helper()
	b := buildPlugin(t, writeFiles(t, files))
	loadedPlugin, err := plugin.Load(b.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return b, loadedPlugin
}

func evaluateText(t *testing.T, script, expression string) string {
	t.Helper()
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if _, err := vm.Eval("globalThis.console = {info(...a) { globalThis.lines = a.join(' ') }, error(...a) { globalThis.lines = a.join(' ') }};\n"+script, quickjs.EvalGlobal); err != nil {
		t.Fatal(err)
	}
	value, err := vm.Eval(expression, quickjs.EvalGlobal)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(value)
}

const preScriptSource = `import { definePreScript } from '@opentabs-dev/plugin-sdk/pre-script';
import { keyOf } from './key.js';
export default definePreScript(({ set, log }) => { set(keyOf(1), { n: 1 }); log.info('early', 2); });
`

func TestBuildPreScript(t *testing.T) {
	files := map[string]string{
		// Although package.json has "sideEffects": false, the bundle must contain the
		// pre-script.
		packageFile:    strings.Replace(packageWithFields(`"preScript":"./src/early.ts"`), `"main"`, `"sideEffects":false,"main"`, 1),
		"src/index.ts": pluginWithTools(`{...ok, name: 'a'}`), "src/early.ts": preScriptSource, "src/key.ts": "export const keyOf = (n: number) => `key${n}`;\n",
	}
	b, loadedPlugin := loadBuilt(t, files)
	if len(b.Warnings) > 0 {
		t.Errorf("warnings of the build = %v, want none", b.Warnings)
	}
	code := readFileIn(t, b.Dir, "dist/pre-script.iife.js")
	checksum := sha256.Sum256(code)
	var tools struct{ PreScriptFile, PreScriptHash string }
	if err := json.Unmarshal(readFileIn(t, b.Dir, "dist/tools.json"), &tools); err != nil {
		t.Fatal(err)
	}
	if tools.PreScriptFile != "pre-script.iife.js" || tools.PreScriptHash != hex.EncodeToString(checksum[:]) || !loadedPlugin.PreScript {
		t.Errorf("tools.json = %+v, loaded with a pre-script = %v; want pre-script.iife.js with its hash, and true", tools, loadedPlugin.PreScript)
	}
	if err := CheckScript(code); err != nil {
		t.Error(err)
	}
	if preScriptCode := string(code); !strings.HasPrefix(preScriptCode, "\"use strict\";\n(() => {") || strings.Contains(preScriptCode, "zod") || len(preScriptCode) > 8000 {
		t.Errorf("the pre-script has %d bytes, want at most 8000 in strict mode without zod: %.300s", len(code), preScriptCode)
	}
	if got := evaluateText(t, string(code), `lines + " " + JSON.stringify(__openTabs)`); got != `[opentabs:bad:pre-script] early 2 {"preScript":{"bad":{"key1":{"n":1}}}}` {
		t.Error(got)
	}
	if got := evaluateText(t, "var __openTabs = {a: 1, preScript: {other: {k: 1}, bad: {old: 1}}};\n"+string(code), `JSON.stringify(__openTabs)`); got != `{"a":1,"preScript":{"other":{"k":1},"bad":{"key1":{"n":1}}}}` {
		t.Error(got)
	}
	if names := namesOf(b); !slices.Equal(names, []string{bundleFileName, sourceMapName, preScriptName, toolsName}) {
		t.Errorf("built files = %v, want the adapter, its source map, the pre-script and tools.json", names)
	}

	if err := os.WriteFile(filepath.Join(b.Dir, packageFile), []byte(validPackage), 0o644); err != nil {
		t.Fatal(err)
	}
	b = buildPlugin(t, b.Dir)
	if _, err := os.Stat(filepath.Join(b.Dir, "dist", preScriptName)); !errors.Is(err, fs.ErrNotExist) || len(b.Files) != 3 {
		t.Errorf("the build kept the earlier pre-script: %v, want it deleted", err)
	}
}

func namesOf(b *BuildResult) []string {
	var names []string
	for _, file := range b.Files {
		names = append(names, filepath.Base(file.Path))
	}
	return names
}

// The test plugin's name ends in "-prescript", because opentabs must allow such plugin names.
func TestPreScriptErrorIsReported(t *testing.T) {
	b, loadedPlugin := loadBuilt(t, map[string]string{
		packageFile: strings.Replace(packageWithFields(`"preScript":"src/early.ts"`), "plugin-bad", "plugin-x-prescript", 1), "src/index.ts": pluginWithTools(`{...ok, name: 'a'}`),
		"src/early.ts": "import { definePreScript } from '@opentabs/sdk/pre-script';\ndefinePreScript(() => { throw new Error('no luck') });\n",
	})
	if got := evaluateText(t, string(readFileIn(t, b.Dir, "dist/pre-script.iife.js")), "lines"); got != "[opentabs:x-prescript:pre-script] the pre-script failed: Error: no luck" {
		t.Error(got)
	}
	if loadedPlugin.Name != "x-prescript" || !loadedPlugin.PreScript {
		t.Errorf("loaded plugin = %+v, want x-prescript with a pre-script", loadedPlugin)
	}
}

func TestInvalidPackageFieldsAreReported(t *testing.T) {
	preScriptFiles := func(preScriptCode string) map[string]string { return map[string]string{"src/early.ts": preScriptCode} }
	tests := []struct {
		name, extraFields string
		index             string
		files             map[string]string
		want              string
	}{
		{"pre-script outside", `"preScript":"../x.ts"`, "", nil, `opentabs.preScript is "../x.ts"; name a file inside the plugin's directory, such as src/pre-script.ts`},
		{"pre-script that is not there", `"preScript":"src/early.ts"`, "", nil, "src/early.ts: the file does not exist; write the pre-script there, or remove opentabs.preScript"},
		{"pre-script that is a folder", `"preScript":"src"`, "", nil, "src is not a regular file; replace it with one"},
		{"pre-script with an error", `"preScript":"src/early.ts"`, "", preScriptFiles("let let;"), "src/early.ts:1:5: "},
		{"pre-script that reads elsewhere", `"preScript":"src/early.ts"`, "", preScriptFiles("import '/etc/passwd';"), "outside of the plugin"},
		{"pre-script that imports it from the SDK", `"preScript":"src/early.ts"`, "", preScriptFiles("import { definePreScript } from '@opentabs/sdk';\ndefinePreScript(() => {});"),
			`definePreScript is in the entry "@opentabs/sdk/pre-script"; import it from there`},
		{"pre-script that imports the SDK from it", `"preScript":"src/early.ts"`, "", preScriptFiles("import { log } from '@opentabs-dev/plugin-sdk/pre-script';\nlog.info('');"),
			"this version of the SDK has no log; remove the import"},
		{"resources", `"frames":false`, "import { defineResource } from '@opentabs-dev/plugin-sdk';\nexport default defineResource({});\n", nil,
			"plugins have no resources; turn each resource into a tool"},
		{"unknown icon of a tool", `"frames":false`, pluginWithTools(`{...ok, name: 'a', icon: 'not-there'}`), nil, `tool a: icon "not-there" is not the name of a Lucide icon`},
		{"icons", `"frames":false`, "", map[string]string{"icon.svg/x": "", "icon-dark.svg": `<svg viewBox="0 0 1 2"/>`},
			"icon.svg is not a regular file; replace it with one|icon-dark.svg: is not square|icon.svg: is missing, but there are variants"},
		{"settings", `"configSchema":{"a":{"type":"text","label":"A"},"b":{"type":"url"},"c":{"type":"select","label":"C"}}`, "", nil,
			`configSchema.a.type is "text"; use one of url, string, number, boolean, select|configSchema.b.label is missing|configSchema.c.options has nothing to choose from`},
	}
	for _, testCase := range tests {
		t.Run(testCase.name, func(t *testing.T) {
			files := map[string]string{packageFile: packageWithFields(testCase.extraFields), "src/index.ts": testCase.index}
			if testCase.index == "" {
				files["src/index.ts"] = pluginWithTools(`{...ok, name: 'a'}`)
			}
			for name, text := range testCase.files {
				files[name] = text
			}
			dir := writeFiles(t, files)
			_, err := BuildPlugin(t.Context(), dir, Options{Extract: childArgs, ExtractTimeout: longTimeout})
			var buildErr *BuildError
			for want := range strings.SplitSeq(testCase.want, "|") {
				if !errors.As(err, &buildErr) || !strings.Contains(err.Error(), want) {
					t.Errorf("want the text %q in the error of the build, got\n%v", want, err)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "dist")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the failed build wrote the folder dist: %v; want the error %v", err, fs.ErrNotExist)
			}
		})
	}
}

func TestSymlinkedFilesAreRejected(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(`<svg viewBox="0 0 1 1"/>`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"icon.svg", "src/early.ts"} {
		dir := writeFiles(t, map[string]string{packageFile: packageWithFields(`"preScript":"src/early.ts"`), "src/index.ts": pluginWithTools(`{...ok, name: 'a'}`), "src/other.ts": ""})
		if name != "src/early.ts" {
			if err := os.WriteFile(filepath.Join(dir, "src/early.ts"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(secret, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		_, err := BuildPlugin(t.Context(), dir, Options{Extract: childArgs, ExtractTimeout: longTimeout})
		if err == nil || !strings.Contains(err.Error(), name+": the path is a link to "+secret+", outside of the plugin's directory") {
			t.Errorf("build with %s as a link: error %v; want an error that contains %q", name, err, name+": the path is a link to "+secret+", outside of the plugin's directory")
		}
	}
}

func TestIcons(t *testing.T) {
	const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path fill="#000080" d="M0 0h8v8z"/></svg>`
	darkIcon := strings.Replace(icon, "#000080", "#8080ff", 1)
	b, loadedPlugin := loadBuilt(t, map[string]string{
		packageFile: validPackage, "src/index.ts": pluginWithTools(`{...ok, name: 'a', icon: 'message-square'}`), "icon.svg": "<!-- mine -->\n" + icon,
		"icon-dark.svg": darkIcon,
	})
	var tools map[string]any
	if err := json.Unmarshal(readFileIn(t, b.Dir, "dist/tools.json"), &tools); err != nil {
		t.Fatal(err)
	}
	if tools["iconSvg"] != icon || loadedPlugin.Icon != icon {
		t.Errorf("icon in tools.json = %v, loaded icon = %s; want the icon of the package in both", tools["iconSvg"], loadedPlugin.Icon)
	}
	if tools["iconDarkSvg"] != darkIcon || tools["iconInactiveSvg"] != nil || tools["iconDarkInactiveSvg"] != nil {
		t.Errorf("icons in tools.json = %v, want no variants other than the dark icon of the author", tools)
	}
	if string(readFileIn(t, b.Dir, packageFile)) != validPackage {
		t.Error("the build changed package.json, want it unchanged")
	}
}

func TestConfigSchemaSettings(t *testing.T) {
	const settingsJSON = `"configSchema":{"site":{"type":"url","label":"Site","required":true}}`
	packageWithoutPatterns := strings.Replace(packageWithFields(settingsJSON), `["*://*.example.com/*"]`, "[]", 1)
	b, loadedPlugin := loadBuilt(t, map[string]string{packageFile: packageWithoutPatterns, "src/index.ts": pluginWithTools(`{...ok, name: 'a'}`)})
	if len(loadedPlugin.Settings) != 1 || loadedPlugin.Settings[0].Key != "site" || !loadedPlugin.Settings[0].Required || len(b.Warnings) > 0 {
		t.Errorf("settings = %+v, warnings = %v; want the required setting \"site\" and no warnings", loadedPlugin.Settings, b.Warnings)
	}
	settingsInCode := strings.Replace(pluginWithTools(`{...ok, name: 'a'}`), "isReady:", `configSchema: { size: { type: 'select', label: 'Size', options: ['s', 'm'], placeholder: undefined } }, isReady:`, 1)
	b, loadedPlugin = loadBuilt(t, map[string]string{packageFile: packageWithFields(settingsJSON), "src/index.ts": settingsInCode})
	if len(loadedPlugin.Settings) != 1 || loadedPlugin.Settings[0].Key != "size" || !slices.Equal(loadedPlugin.Settings[0].Options, []string{"s", "m"}) {
		t.Errorf("settings = %+v, want only \"size\" with the options s and m", loadedPlugin.Settings)
	}
	if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Text, "opentabs.configSchema differs from the plugin's code, which is used") {
		t.Errorf("warnings of the build = %v, want none", b.Warnings)
	}
	samePackage := packageWithFields(`"configSchema":{"size":{"options":["s","m"],"label":"Size","type":"select"}}`)
	if b, _ = loadBuilt(t, map[string]string{packageFile: samePackage, "src/index.ts": settingsInCode}); len(b.Warnings) > 0 {
		t.Errorf("warnings of the build = %v, want none", b.Warnings)
	}
}

func TestBuildIgnoresScriptsAndOldOutput(t *testing.T) {
	markerFile := filepath.Join(t.TempDir(), "ran")
	pkg := strings.Replace(validPackage, `"version"`, fmt.Sprintf(`"scripts":{"prebuild":%q,"build":%[1]q,"prepare":%[1]q,"prepack":%[1]q,"install":%[1]q},"version"`, "touch "+markerFile), 1)
	b, loadedPlugin := loadBuilt(t, map[string]string{
		packageFile:     pkg,
		"dist/index.js": "throw new Error('stale');", "dist/tools.json": `{"tools":[{"name":"stale"}]}`, "dist/adapter.iife.js": "stale",
		"src/index.ts": `import { definePlugin } from '@opentabs-dev/plugin-sdk';
import { echo } from './tools/echo.js';
import view from './view.js';
import words from './words.json';
import style from './style.css';
class Badge extends HTMLElement { connectedCallback() { this.textContent = view('x'); } }
customElements.define('my-badge', Badge);
const theme = window.matchMedia('(prefers-color-scheme: dark)').matches ? localStorage.getItem('a') : navigator.language;
new MutationObserver(() => theme).observe(document.body, { childList: true });
setInterval(() => style, 1000);
const kept = JSON.parse(localStorage.getItem('kept') ?? '{}');
const data = JSON.parse(document.getElementById('data')!.textContent!).items.map((item: { id: string }) => item.id);
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const plain = JSON.parse('{"a":1}').a === 1 && !(kept instanceof SVGElement) && [data, zone].length === 2;
if (!plain) throw new Error('JSON.parse returned a wrong value');
export default definePlugin({ isReady: () => true, tools: [{ ...echo, description: words.echo }] });
`,
		"src/tools/echo.ts": "import { defineTool } from '@opentabs-dev/plugin-sdk';\nimport { z } from 'zod';\n" +
			"export const echo = defineTool({ name: 'echo', description: '', input: z.object({}), output: z.object({}), handle: async () => ({}) });\n",
		"src/view.tsx":   "const h = (tag: string, _: unknown, text: string) => `<${tag}>${text}`;\nexport default (text: string) => <b>{text}</b>;\n",
		"src/words.json": `{"echo":"Returns the input."}`,
		"src/style.css":  "b { color: red }",
		"tsconfig.json":  `{"compilerOptions":{"jsx":"react","jsxFactory":"h"}}`,
	})
	if len(loadedPlugin.Tools) != 1 || loadedPlugin.Tools[0].Name != "echo" || loadedPlugin.Tools[0].Description != "Returns the input." {
		t.Errorf("tools = %+v, want only the tool echo in the source", loadedPlugin.Tools)
	}
	if code := string(readFileIn(t, b.Dir, "dist/adapter.iife.js")); strings.Contains(code, "stale") || !strings.Contains(code, `h("b"`) {
		t.Error("the adapter contains the stale files of dist, want an adapter built from the source")
	}
	if _, err := os.Stat(markerFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the build ran a script of package.json: %v; want the error %v", err, fs.ErrNotExist)
	}
}

func TestArgumentSchemas(t *testing.T) {
	_, loadedPlugin := loadBuilt(t, map[string]string{packageFile: validPackage, "src/index.ts": pluginWithTools(`{...ok, name: 'a', input: z.object({
  at: z.iso.datetime().optional(), local: z.iso.datetime({ local: true, offset: true }).optional(), day: z.iso.date().optional(),
  time: z.iso.time().optional(), url: z.url().optional(), mail: z.email().optional(), id: z.uuid().optional(), old: z.string().datetime().optional(),
  max: z.number().int().min(1).default(20), nested: z.object({ deep: z.boolean().default(true) }).default({ deep: false }),
})}`)})
	tool := loadedPlugin.Tools[0]
	for _, validArguments := range []string{
		`{}`, `{"max":5,"nested":{}}`, `{"at":"2026-02-28T10:00:00Z","old":"2026-02-28T10:00:00.123Z"}`, `{"local":"2026-02-28T10:00:00"}`, `{"local":"2026-02-28T10:00:00+02:00"}`,
		`{"day":"2026-02-28","time":"10:00:00","url":"https://a.test/b","mail":"a@b.test","id":"123e4567-e89b-42d3-a456-426614174000"}`,
	} {
		if err := tool.Validate(json.RawMessage(validArguments)); err != nil {
			t.Errorf("Validate of the arguments %s = %v, want no error", validArguments, err)
		}
	}
	for _, invalidArguments := range []string{`{"at":"tomorrow"}`, `{"at":"2026-02-30T10:00:00Z"}`, `{"old":"2026"}`, `{"day":"28.2.2026"}`, `{"time":"25:00"}`, `{"url":"nowhere"}`, `{"mail":"me"}`, `{"id":"1"}`, `{"max":0}`, `{"extra":1}`, `{"nested":{"other":1}}`} {
		if err := tool.Validate(json.RawMessage(invalidArguments)); err == nil {
			t.Errorf("Validate accepted the arguments %s, want an error", invalidArguments)
		}
	}
}

func TestPatternsMatchOriginalSDK(t *testing.T) {
	patterns := []string{
		"*://*.example.com/*", "https://example.com/a/*?b=*", "http://localhost:8080/*", "*://localhost:*/*", "*://127.0.0.1/*", "*://10.0.0.1:65535/x", "*://my_host.test/*",
		"*://EXAMPLE.com/*", "*://a.b.c.d.e/*/*/*/*/*", "*://xn--80ak6aa92e.com/*", "*://[::1]/*",
		"", "<all_urls>", "*://*/*", "*://*.com/*", "*://*:80/*", "ftp://a.test/*", "://a.test/*", "a.test/*", "*://a.test", "https://a.test/*/*/*/*/*/*", "*://a.test/a b", "*://a.test/#x",
		"*://a.*.test/*", "*://a*.test/*", "*://-a.test/*", "*://a..test/*", "*://.a.test/*", "*://a.test./*", "*://256.1.1.1/*", "*://1.2.3/*", "*://1.2.3.04/*", "*://*.1.2.3.4/*", "*://com/*",
		"*://a.test:0/*", "*://a.test:65536/*", "*://a.test:x/*", "*://a.test:/*", "*://a.test:80:80/*", "*://*.localhost/*", "*:///*", "*://ä.test/*", "*://a.test:+1/*",
	}
	patternsJSON, err := json.Marshal(patterns)
	if err != nil {
		t.Fatal(err)
	}
	bundled, err := bundlePluginScript(script{entry: "import { validateUrlPattern } from '@opentabs/sdk';\nglobalThis.found = JSON.stringify(" + string(patternsJSON) + ".map(validateUrlPattern));"}, zodSource{Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sdkErrors []*string
	if err := json.Unmarshal([]byte(evaluateText(t, string(bundled.Code), "found")), &sdkErrors); err != nil {
		t.Fatal(err)
	}
	for i, pattern := range patterns {
		_, err := plugin.ParsePattern(pattern)
		switch {
		case (err != nil) != (sdkErrors[i] != nil):
			t.Errorf("site pattern %q: the server reports %v, the SDK reports %v; want both to accept or reject it", pattern, err, sdkErrors[i])
		case err != nil && err.Error() != *sdkErrors[i]:
			t.Errorf("site pattern %q: the server reports\n%v\nthe SDK reports\n%s\nwant equal errors", pattern, err, *sdkErrors[i])
		}
	}
}

const minimalPageGlobalsScript = `globalThis.window = globalThis; globalThis.document = {}; globalThis.location = {href: "https://a.test/"};
globalThis.history = {}; globalThis.performance = {now: () => 0}; globalThis.setTimeout = () => 0; globalThis.addEventListener = () => {};
globalThis.AbortController = class { signal = {aborted: false, addEventListener() {}} };
globalThis.sent = []; globalThis.postMessage = (message) => sent.push(message);
globalThis.__openTabs = {_logNonce: "l", _readinessNonce: "r", pluginConfig: {size: 3}, tokenCache: {a: 1}};
`

func TestAdapterInOriginalOpenTabs(t *testing.T) {
	b := buildPlugin(t, writeFiles(t, map[string]string{packageFile: validPackage, "src/index.ts": `import { definePlugin, defineTool, getConfig, log, notifyReadinessChanged } from '@opentabs/sdk';
import { z } from 'zod';
log.info('loading');
export default definePlugin({
  isReady: () => true,
  onActivate: () => notifyReadinessChanged(),
  tools: [defineTool({ name: 'size', description: 'Returns the size.', input: z.object({ n: z.number().default(2) }), output: z.object({}), async handle({ n }) { log.warn('asked', n); return { size: getConfig('size') }; } })],
});
`}))
	if toolsJSON := string(readFileIn(t, b.Dir, "dist/tools.json")); strings.Contains(toolsJSON, `"start"`) {
		t.Errorf("dist/tools.json has the member \"start\", want no such member: %s", toolsJSON)
	}
	code := string(readFileIn(t, b.Dir, "dist/adapter.iife.js"))
	const inspectAdapter = `(() => {
  const a = __openTabs.adapters.bad, d = Object.getOwnPropertyDescriptor(__openTabs.adapters, "bad"), o = Object.getOwnPropertyDescriptor(__openTabs, "adapters");
  const tool = a.tools.find((t) => t.name === "size");
  globalThis.parsed = tool.input.safeParse({}).data.n;
  tool.handle({n: 1}, {reportProgress() {}}).then((r) => { globalThis.result = r.size });
  const sent = JSON.stringify(globalThis.sent.map((m) => [m.type, m.plugin, m.nonce, m.entries?.[0].level, m.entries?.[0].data]));
  return [Object.isFrozen(a), Object.isFrozen(a.tools), Object.isFrozen(tool), a.__adapterHash, d.writable, d.configurable, d.enumerable, o.writable, o.configurable,
    typeof a.isReady, typeof a.teardown, typeof __openTabs._setLogTransport, typeof __openTabs.log.info, __openTabs.tokenCache.a, __openTabs._pluginName, parsed, sent].join(" ");
})()`
	want := "true true true " + b.Hash + " false false true false false function function function function 1 bad 2 " +
		`[["opentabs:readiness-changed","bad","r",null,null],["opentabs:plugin-logs","bad","l","warning",[1]]]`
	if got := evaluateText(t, minimalPageGlobalsScript+code, inspectAdapter); got != want {
		t.Errorf("adapter in the original OpenTabs:\ngot  %s\nwant %s", got, want)
	}
}

func TestBuildTicketsExample(t *testing.T) {
	const example = "../../sdk-ts/examples/tickets"
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS(filepath.Join(example, "src"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{packageFile, "icon.svg"} {
		if err := os.WriteFile(filepath.Join(dir, name), readFileIn(t, example, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := buildPlugin(t, dir)
	loadedPlugin, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Warnings) > 0 || len(loadedPlugin.Warnings) > 0 || !loadedPlugin.PreScript || loadedPlugin.Icon == "" || len(loadedPlugin.Settings) != 3 || len(loadedPlugin.Matches) != 0 {
		t.Errorf("warnings of the build = %v, loaded plugin = %+v; want no warnings, and a pre-script, an icon and 3 settings", b.Warnings, loadedPlugin)
	}
}
