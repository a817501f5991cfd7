package plugin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

const (
	packageFile = "package.json"
	toolsFile   = "dist/tools.json"
	adapterFile = "dist/adapter.iife.js"
)

func editFile(t testing.TB, dir, file string, pluginChange func(string) string) {
	t.Helper()
	path := filepath.Join(dir, file)
	packageText, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	editedPackageText := pluginChange(string(packageText))
	if editedPackageText == string(packageText) {
		t.Fatalf("the edit did not change %s; want a changed text", file)
	}
	if err := os.WriteFile(path, []byte(editedPackageText), 0o644); err != nil {
		t.Fatal(err)
	}
}

func newJSONMemberEdit(path, value string) func(string) string {
	return func(packageText string) string {
		var document map[string]any
		if err := json.Unmarshal([]byte(packageText), &document); err != nil {
			panic(err)
		}
		object := document
		steps := strings.Split(path, ".")
		for _, stepName := range steps[:len(steps)-1] {
			if jsonArray, ok := object[stepName].([]any); ok {
				object = jsonArray[0].(map[string]any)
			} else {
				object = object[stepName].(map[string]any)
			}
		}
		lastKey := steps[len(steps)-1]
		if value == "" {
			delete(object, lastKey)
		} else {
			object[lastKey] = json.RawMessage(value)
		}
		resultJSON, err := json.Marshal(document)
		if err != nil {
			panic(err)
		}
		return string(resultJSON)
	}
}

func newReplaceAllEdit(packageText string) func(string) string {
	return func(string) string { return packageText }
}

func newReplaceEdit(oldText, newText string) func(string) string {
	return func(packageText string) string { return strings.Replace(packageText, oldText, newText, 1) }
}

const validToolJSON = `{"name":"a","description":"d","input_schema":{"type":"object"},"output_schema":{}}`

var invalidPackages = []struct {
	name, file   string
	pluginChange func(string) string
	problemText  string
}{
	{"no JSON", packageFile, newReplaceAllEdit("{\n  \"name\": oops"), "package.json: is not valid JSON at line 2, column 11"},
	{"empty", packageFile, newReplaceAllEdit(""), "package.json: is empty"},
	{"two values", packageFile, newReplaceAllEdit("{}{}"), "package.json: is not valid JSON at line 1, column 3"},
	{"an array", packageFile, newReplaceAllEdit("[]"), "package.json: is an array; make it an object"},
	{"null", packageFile, newReplaceAllEdit("null"), "package.json: is null; make it an object"},
	{"not UTF-8", packageFile, newReplaceEdit("The messages", "The \xff"), "package.json: is not UTF-8"},
	{"too large", packageFile, func(s string) string { return s + strings.Repeat(" ", 1<<20) }, "more than the 1048576 allowed"},
	{"no name", packageFile, newJSONMemberEdit("name", ""), "name is missing; call the package opentabs-plugin-NAME"},
	{"name null", packageFile, newJSONMemberEdit("name", "null"), "name is missing"},
	{"name in another case", packageFile, newReplaceEdit(`"name"`, `"Name"`), "name is missing"},
	{"name is a number", packageFile, newJSONMemberEdit("name", "7"), "name is a number; make it a string"},
	{"name of a package that is no plugin", packageFile, newJSONMemberEdit("name", `"slack"`), `name "slack" does not name a plugin`},
	{"reserved name", packageFile, newJSONMemberEdit("name", `"opentabs-plugin-mcp"`), `"mcp" is reserved`},
	{"invalid name", packageFile, newJSONMemberEdit("name", `"opentabs-plugin-A"`), "lower-case"},
	{"no version", packageFile, newJSONMemberEdit("version", ""), "version is missing"},
	{"blank version", packageFile, newJSONMemberEdit("version", `" "`), "version is empty"},
	{"no main", packageFile, newJSONMemberEdit("main", ""), `main is missing; set it to "dist/adapter.iife.js"`},
	{"no opentabs", packageFile, newJSONMemberEdit("opentabs", ""), "opentabs is missing; describe the plugin there"},
	{"opentabs is a string", packageFile, newJSONMemberEdit("opentabs", `"x"`), "opentabs is a string; make it an object"},
	{"no displayName", packageFile, newJSONMemberEdit("opentabs.displayName", ""), "opentabs.displayName is missing; give"},
	{"empty description", packageFile, newJSONMemberEdit("opentabs.description", `""`), "opentabs.description is empty; describe"},
	{"no urlPatterns", packageFile, newJSONMemberEdit("opentabs.urlPatterns", ""), "opentabs.urlPatterns is missing; list"},
	{"urlPatterns is a string", packageFile, newJSONMemberEdit("opentabs.urlPatterns", `"*://a.com/*"`), "opentabs.urlPatterns is a string; make it an array"},
	{"urlPatterns of numbers", packageFile, newJSONMemberEdit("opentabs.urlPatterns", `["*://a.com/*",7]`), "opentabs.urlPatterns[1] is a number"},
	{"all sites", packageFile, newJSONMemberEdit("opentabs.urlPatterns", `["*://*/*"]`), `opentabs.urlPatterns[0] is refused: pattern "*://*/*" matches every host`},
	{"no sites", packageFile, newJSONMemberEdit("opentabs.urlPatterns", `[]`), "opentabs.urlPatterns is empty; list the sites"},
	{"invalid exclude pattern", packageFile, newJSONMemberEdit("opentabs.excludePatterns", `["x"]`), "opentabs.excludePatterns[0] is refused"},
	{"homepage is a script", packageFile, newJSONMemberEdit("opentabs.homepage", `"javascript:alert(1)"`), "opentabs.homepage is not an http or https URL"},
	{"empty homepage", packageFile, newJSONMemberEdit("opentabs.homepage", `""`), "opentabs.homepage is empty"},
	{"invalid start", packageFile, newJSONMemberEdit("opentabs.start", `"soon"`), `opentabs.start is "soon"; use "document_start" or "document_idle"`},
	{"frames is a string", packageFile, newJSONMemberEdit("opentabs.frames", `"yes"`), "opentabs.frames is a string; make it true or false"},
	{"a pattern of a country's whole top-level domain", packageFile, newJSONMemberEdit("opentabs.urlPatterns", `["*://*.uk/*"]`), "opentabs.urlPatterns[0] is refused"},
	{"a script for a pattern", packageFile, newJSONMemberEdit("opentabs.urlPatterns", `["javascript://x/*"]`), "opentabs.urlPatterns[0] is refused"},
	{"invalid world", packageFile, newJSONMemberEdit("opentabs.world", `"moon"`), `opentabs.world is "moon"; use "main" or "isolated"`},

	{"tools is not JSON", toolsFile, newReplaceAllEdit(`{"tools":[`), "dist/tools.json: is not valid JSON at line 1, column 10"},
	{"tools is a string", toolsFile, newReplaceAllEdit(`"tools"`), "dist/tools.json: is a string; build the plugin again"},
	{"nested too deep", toolsFile, newReplaceAllEdit(strings.Repeat("[", 20000)), "dist/tools.json: is not valid JSON"},
	{"no tools", toolsFile, newJSONMemberEdit("tools", ""), "tools is missing; build"},
	{"tools is an object", toolsFile, newJSONMemberEdit("tools", "{}"), "tools is an object; build"},
	{"empty tools", toolsFile, newJSONMemberEdit("tools", "[]"), "tools is empty; give the plugin at least one tool"},
	{"tool is a number", toolsFile, newJSONMemberEdit("tools", "[7]"), "tools[0] is a number"},
	{"newer original SDK", toolsFile, newJSONMemberEdit("sdkVersion", `"99.0.0"`), "sdkVersion is 99.0.0, but this opentabs understands packages up to"},
	{"newer opentabs SDK", toolsFile, newJSONMemberEdit("sdkVersion", `"opentabs-0.99.0"`), "sdkVersion is opentabs-0.99.0, but this opentabs understands packages up to"},
	{"SDK is a number", toolsFile, newJSONMemberEdit("sdkVersion", `1`), "sdkVersion is a number"},
	{"tool without name", toolsFile, newJSONMemberEdit("tools.name", ""), "tools[0].name is missing; give"},
	{"tool name with a space", toolsFile, newJSONMemberEdit("tools.name", `"a b"`), `tools[0].name makes the tool's full name "messages__a b"`},
	{"tool name too long", toolsFile, newJSONMemberEdit("tools.name", `"`+strings.Repeat("a", 119)+`"`), "at most 128"},
	{"two tools have the same name", toolsFile, newJSONMemberEdit("tools", "["+validToolJSON+","+validToolJSON+"]"), `tools[1].name is "a", as tools[0].name is; rename`},
	{"tool without description", toolsFile, newJSONMemberEdit("tools.description", ""), "tools[0].description is missing; describe"},
	{"long description", toolsFile, newJSONMemberEdit("tools.description", `"`+strings.Repeat("ä", 1001)+`"`), "tools[0].description has 1001 characters; shorten"},
	{"displayName is a number", toolsFile, newJSONMemberEdit("tools.displayName", "1"), "tools[0].displayName is a number"},
	{"no input schema", toolsFile, newJSONMemberEdit("tools.input_schema", ""), "tools[0].input_schema is missing; build"},
	{"input schema is a bool", toolsFile, newJSONMemberEdit("tools.input_schema", "true"), "tools[0].input_schema is a boolean; make it a JSON Schema object"},
	{"input schema of a string", toolsFile, newJSONMemberEdit("tools.input_schema", `{"type":"string"}`), `root that is not of type "object"`},
	{"input schema without type", toolsFile, newJSONMemberEdit("tools.input_schema", `{}`), `root that is not of type "object"`},
	{"no output schema", toolsFile, newJSONMemberEdit("tools.output_schema", ""), "tools[0].output_schema is missing"},
	{"output schema is an array", toolsFile, newJSONMemberEdit("tools.output_schema", "[]"), "tools[0].output_schema is an array"},
	{"annotations is an array", toolsFile, newJSONMemberEdit("tools.annotations", "[]"), "tools[0].annotations is an array"},
	{"hint is a string", toolsFile, newJSONMemberEdit("tools.annotations", `{"readOnlyHint":"yes"}`), "tools[0].annotations.readOnlyHint is a string; make it true or false"},
	{"pre-script outside of dist", toolsFile, newJSONMemberEdit("preScriptFile", `"../../../etc/passwd"`), `preScriptFile is "../../../etc/passwd"; build the plugin again, so that it is "pre-script.iife.js"`},
	{"pre-script with a bad hash", toolsFile, newJSONMemberEdit("preScriptHash", `"x"`), "preScriptHash is not a SHA-256 in hex"},
	{"pre-script is a number", toolsFile, newJSONMemberEdit("preScriptFile", "1"), "preScriptFile is a number"},
	{"icon is a number", toolsFile, newJSONMemberEdit("iconSvg", "1"), "iconSvg is a number; make it a string"},
	{"icon of a tool is an array", toolsFile, newJSONMemberEdit("tools.iconSvg", "[]"), "tools[0].iconSvg is an array"},
	{"hidden characters", toolsFile, newJSONMemberEdit("tools.description", "\"Reads.\u202eerif lla seteleD\""), "tools[0].description has the character U+202E, which is not shown"},
	{"huge tools", toolsFile, func(s string) string { return s + strings.Repeat(" ", 8<<20) }, "more than the 8388608 allowed"},
	{"settings is an array", toolsFile, newJSONMemberEdit("configSchema", "[]"), "configSchema is an array"},
	{"setting is a string", toolsFile, newJSONMemberEdit("configSchema", `{"a":"b"}`), "configSchema.a is a string"},
	{"setting is null", toolsFile, newJSONMemberEdit("configSchema", `{"a":null}`), "configSchema.a is null"},
	{"setting without a type", toolsFile, newJSONMemberEdit("configSchema", `{"a":{"label":"A"}}`), "configSchema.a.type is missing; use one of url,"},
	{"setting with an invalid type", toolsFile, newJSONMemberEdit("configSchema", `{"a":{"type":"date","label":"A"}}`), `configSchema.a.type is "date"; use one of`},
	{"setting without label", toolsFile, newJSONMemberEdit("configSchema", `{"a":{"type":"url"}}`), "configSchema.a.label is missing"},
	{"select without options", toolsFile, newJSONMemberEdit("configSchema", `{"a":{"type":"select","label":"A","options":[]}}`), "configSchema.a.options has nothing"},

	{"empty adapter", adapterFile, newReplaceAllEdit(""), "adapter.iife.js: is empty"},
	{"blank adapter", adapterFile, newReplaceAllEdit(" \n"), "adapter.iife.js: is empty"},
	{"binary adapter", adapterFile, newReplaceAllEdit("\x00\xff\xfe"), "adapter.iife.js: is not UTF-8"},
	{"huge adapter", adapterFile, newReplaceAllEdit(strings.Repeat("x", 5<<20+1)), "has 5242881 characters, more than the 5242880 allowed"},
	{"enormous adapter", adapterFile, newReplaceAllEdit(strings.Repeat("x", 16<<20)), "more than the"},
	{"edited adapter", adapterFile, newReplaceEdit("tools:[]", "tools:[0]"), "adapter.iife.js: was changed after it was built"},
	{"edited pre-script", preScriptFile, newReplaceAllEdit("evil()"), "pre-script.iife.js: was changed after it was built: its hash in dist/tools.json is"},
	{"empty pre-script", preScriptFile, newReplaceAllEdit(""), "pre-script.iife.js: is empty"},
	{"binary pre-script", preScriptFile, newReplaceAllEdit("\x00\xff\xfe"), "pre-script.iife.js: is not UTF-8"},
	{"enormous pre-script", preScriptFile, newReplaceAllEdit(strings.Repeat("x", 16<<20)), "more than the"},
}

func TestLoadRejectsInvalidPackage(t *testing.T) {
	for _, c := range invalidPackages {
		t.Run(c.name, func(t *testing.T) {
			dir := plugintest.Package{PreScript: "token()"}.Write(t)
			editFile(t, dir, c.file, c.pluginChange)
			p, err := plugin.Load(dir)
			var packageErr *plugin.PackageError
			if !errors.As(err, &packageErr) {
				t.Fatalf("Load returned the plugin %v and the error %v, want a PackageError", p, err)
			}
			if !strings.Contains(err.Error(), c.problemText) || !strings.Contains(err.Error(), dir) {
				t.Fatalf("error of Load =\n%v\nwant %q and the folder", err, c.problemText)
			}
			if len(packageErr.Problems) != 1 {
				t.Fatalf("problems of a package with one fault = %v; want 1", packageErr.Problems)
			}
		})
	}
}

func TestLoadRejectsInvalidFolders(t *testing.T) {
	validPackageDir := plugintest.Package{}.Write(t)
	for _, c := range []struct {
		name, problemText string
		dir               func(t *testing.T) string
	}{
		{"missing", "the folder does not exist; name", func(t *testing.T) string { return filepath.Join(validPackageDir, "nowhere") }},
		{"file", "this is a file; name the plugin's folder", func(t *testing.T) string { return filepath.Join(validPackageDir, packageFile) }},
		{"empty folder", "package.json: is missing; name the folder of a plugin", func(t *testing.T) string { return t.TempDir() }},
		{"not built", "dist/tools.json: is missing; run opentabs plugin build first", func(t *testing.T) string {
			dir := plugintest.Package{}.Write(t)
			if err := os.RemoveAll(filepath.Join(dir, "dist")); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
		{"a folder for a file", "is not a regular file", func(t *testing.T) string {
			dir := plugintest.Package{}.Write(t)
			path := filepath.Join(dir, adapterFile)
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := plugin.Load(c.dir(t))
			if err == nil || !strings.Contains(err.Error(), c.problemText) {
				t.Fatalf("error of Load = %v, want %q", err, c.problemText)
			}
		})
	}
}

func TestLoadReportsEmptyPackage(t *testing.T) {
	dir := plugintest.Package{}.Write(t)
	editFile(t, dir, packageFile, newReplaceAllEdit(""))
	if _, err := plugin.Load(dir); err == nil || !strings.Contains(err.Error(), "package.json: is empty; write the plugin's name") {
		t.Fatalf("error of Load = %v, want an error that names the empty file and the action", err)
	}
}

func TestLoadReportsAllProblems(t *testing.T) {
	dir := plugintest.Package{}.Write(t)
	editFile(t, dir, packageFile, newJSONMemberEdit("version", ""))
	editFile(t, dir, toolsFile, newJSONMemberEdit("tools.description", ""))
	editFile(t, dir, adapterFile, newReplaceAllEdit(""))
	_, err := plugin.Load(dir)
	want := "plugin in " + dir + ` has 3 problems:
- package.json: version is missing; give one, as in "1.0.0"
- dist/tools.json: tools[0].description is missing; describe what the tool does
- dist/adapter.iife.js: is empty; build the plugin again`
	if err == nil || err.Error() != want {
		t.Fatalf("error of Load =\n%v\nwant\n%s", err, want)
	}
}

func TestLoadReadsAllFields(t *testing.T) {
	dir := t.TempDir()
	yes, no := true, false
	plugintest.Package{Name: "chat", Tools: []plugintest.Tool{{
		Name: "send", DisplayName: "Send", Description: "Sends a message.",
		Input:       json.RawMessage(`{ "type": "object", "properties": {"n": {"type": "number", "default": 1}}, "required": ["n"] }`),
		Annotations: &plugin.Annotations{Title: "Send it", ReadOnly: &no, Destructive: &yes},
	}}}.WriteTo(t, dir)
	editFile(t, dir, packageFile, newJSONMemberEdit("opentabs.homepage", `"https://chat.example.com"`))
	editFile(t, dir, packageFile, newJSONMemberEdit("opentabs.excludePatterns", `["*://localhost/admin/*"]`))
	editFile(t, dir, packageFile, newJSONMemberEdit("opentabs.world", `"isolated"`))
	editFile(t, dir, toolsFile, newJSONMemberEdit("tools.summary", `"short"`))
	editFile(t, dir, toolsFile, newJSONMemberEdit("tools.group", `"Messages"`))
	editFile(t, dir, toolsFile, newJSONMemberEdit("tools.icon", `"send"`))
	editFile(t, dir, packageFile, func(s string) string { return "\xef\xbb\xbf" + s })
	p, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "chat" || p.Version != "1.0.0" || p.DisplayName != "The chat" || p.Homepage != "https://chat.example.com" ||
		p.Dir != dir || p.SDKVersion != "0.1.0" || p.World != wire.WorldIsolated || len(p.Hash) != 64 || len(p.ManifestHash) != 64 {
		t.Errorf("loaded plugin = %+v; want all fields of the package chat", p)
	}
	if !p.MatchesURL("http://localhost:3000/") || p.MatchesURL("http://localhost:3000/admin/x") || p.MatchesURL("http://example.com/") {
		t.Error("the plugin matches a wrong URL or misses a correct one; want only localhost:3000 without the excluded path")
	}
	fileInfo := p.Info()
	if fileInfo.Name != "chat" || fileInfo.Hash != p.Hash || fileInfo.World != wire.WorldIsolated || !slices.Equal(fileInfo.Excludes, p.Excludes) {
		t.Errorf("description for browsers = %+v; want the name, hash, world and excludes of the plugin", fileInfo)
	}
	tool := p.Tools[0]
	if tool.FullName() != "chat__send" || tool.DisplayName != "Send" || tool.Description != "Sends a message." || tool.Group != "Messages" || tool.Icon != "send" {
		t.Errorf("tool = %+v; want chat__send with all texts of the package", tool)
	}
	if a := tool.Annotations; a.Title != "Send it" || a.ReadOnly == nil || *a.ReadOnly || a.Destructive == nil || !*a.Destructive || a.Idempotent != nil || a.OpenWorld != nil {
		t.Errorf("annotations = %+v; want the title \"Send it\", read-only false and destructive true", a)
	}
	if got, want := string(tool.InputSchema), `{"properties":{"n":{"default":1,"type":"number"}},"type":"object"}`; got != want {
		t.Errorf("input schema %s, want %s", got, want)
	}
	if d := tool.Dispatch(); d.FullName() != "chat__send" || d.PluginName != "The chat" || d.Matches[0] != "*://localhost/*" {
		t.Errorf("tool for the dispatcher = %+v; want chat__send with the plugin's name and pattern", d)
	}
}

func TestLoadedPluginsShareNoMemory(t *testing.T) {
	largePackage := func(fillText string) plugintest.Package {
		schema := json.RawMessage(`{"type":"object","description":"` + strings.Repeat(fillText, 500) + `"}`)
		return plugintest.Package{Name: fillText, Tools: []plugintest.Tool{{Name: fillText, Description: strings.Repeat(fillText, 500), Input: schema, Output: schema}}}
	}
	dir, otherDir := largePackage("a").Write(t), largePackage("b").Write(t)
	for _, d := range []string{dir, otherDir} {
		editFile(t, d, toolsFile, newJSONMemberEdit("configSchema", `{"s":{"type":"url","label":"`+strings.Repeat(filepath.Base(d), 50)+`"}}`))
	}
	firstPlugin, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	descriptionsBefore := descriptionsOf(firstPlugin)
	for range 4 { // under the race detector, sync.Pool drops objects at random
		if _, err := plugin.Load(otherDir); err != nil {
			t.Fatal(err)
		}
	}
	if descriptionsAfter := descriptionsOf(firstPlugin); descriptionsAfter != descriptionsBefore {
		t.Errorf("descriptions before another load =\n%s\nand after =\n%s; want equal texts", descriptionsBefore, descriptionsAfter)
	}
}

func descriptionsOf(p *plugin.Plugin) string {
	tool := p.Tools[0]
	return fmt.Sprintf("%s %q %q %+v %q %q %s %s", p.Name, p.Description, p.Matches, p.Settings, tool.Name, tool.Description, tool.InputSchema, tool.OutputSchema)
}

func TestLoadAcceptsOldPackages(t *testing.T) {
	dir := plugintest.Package{}.Write(t)
	editFile(t, dir, toolsFile, newReplaceAllEdit("["+validToolJSON+"]"))
	editFile(t, dir, adapterFile, newReplaceAllEdit("(()=>{})()")) // old packages have no hash statement at the end of the adapter
	p, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if tool := p.Tools[0]; tool.DisplayName != "a" || tool.Icon != "wrench" || p.SDKVersion != "" || !p.IsForOriginalSDK {
		t.Errorf("tool of a package with a bare array = %+v; want the default name and icon", tool)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "bare array") {
		t.Errorf("warnings = %q; want one about the bare array", p.Warnings)
	}
}

func TestLoadAcceptsAnySDKThatIsNotNewer(t *testing.T) {
	for _, version := range []string{"0.0.115", "0.1.99", "", "next", "1", "v9.0.0"} {
		dir := plugintest.Package{}.Write(t)
		editFile(t, dir, toolsFile, newJSONMemberEdit("sdkVersion", `"`+version+`"`))
		if _, err := plugin.Load(dir); err != nil {
			t.Errorf("Load of the version %q: error %v; want none", version, err)
		}
	}
}

func TestLoadAcceptsSitesFromSettings(t *testing.T) {
	dir := plugintest.Package{}.Write(t)
	editFile(t, dir, packageFile, newJSONMemberEdit("opentabs.urlPatterns", `[]`))
	editFile(t, dir, toolsFile, newJSONMemberEdit("configSchema", `{"site":{"type":"url","label":"Site","description":"d","placeholder":"p","required":true},"mode":{"type":"select","label":"M","options":["a"]}}`))
	p, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []plugin.Setting{
		{Key: "mode", Type: wire.SettingSelect, Label: "M", Options: []string{"a"}},
		{Key: "site", Type: wire.SettingURL, Label: "Site", Description: "d", Placeholder: "p", Required: true},
	}
	if p.MatchesURL("http://localhost/") || !reflect.DeepEqual(p.Settings, want) {
		t.Errorf("settings = %+v of the plugin %+v; want %+v, and no match of http://localhost/", p.Settings, p, want)
	}
}

func TestLoadWarnsOfLongToolNames(t *testing.T) {
	p := plugintest.Load(t, plugintest.Package{Tools: []plugintest.Tool{{Name: strings.Repeat("x", 60), Description: "d"}}})
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "more than 64") {
		t.Errorf("warnings = %q; want one about a tool name of more than 64 characters", p.Warnings)
	}
}

func TestToolAndPromptLimits(t *testing.T) {
	dir := plugintest.Package{Prompts: []plugintest.Prompt{{Name: "a"}}}.Write(t)
	editFile(t, dir, toolsFile, newJSONMemberEdit("tools.limits", `{"idleTimeoutMs":60000,"hardTimeoutMs":1000}`))
	editFile(t, dir, toolsFile, newJSONMemberEdit("prompts.limits", `{"idleTimeoutMs":300000}`))
	p, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Tools[0].Dispatch(); d.IdleLimit != time.Minute || d.HardLimit != time.Second {
		t.Errorf("idle limit of the tool = %v, hard limit = %v; want 1 min and 1 s", d.IdleLimit, d.HardLimit)
	}
	if d := p.Prompts[0].Dispatch(); d.IdleLimit != 5*time.Minute || d.HardLimit != 0 {
		t.Errorf("idle limit of the prompt = %v, hard limit = %v; want 5 min and 0", d.IdleLimit, d.HardLimit)
	}
	for limits, want := range map[string]string{
		`5`:                                     "tools[0].limits is a number; make it an object",
		`{"idleTimeoutMs":999}`:                 "tools[0].limits.idleTimeoutMs is 999; use a whole number of milliseconds from 1000 to 300000",
		`{"hardTimeoutMs":300001}`:              "tools[0].limits.hardTimeoutMs is 300001; use",
		`{"hardTimeoutMs":"5000"}`:              `tools[0].limits.hardTimeoutMs is "5000"; use`,
		`{"idleTimeoutMs":1.5}`:                 "tools[0].limits.idleTimeoutMs is 1.5; use",
		`{"idleTimeoutMs":9223372036854775807}`: "tools[0].limits.idleTimeoutMs is 9223372036854775807; use",
	} {
		editFile(t, dir, toolsFile, newJSONMemberEdit("tools.limits", limits))
		if _, err := plugin.Load(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error for the limits %s = %v, want %q", limits, err, want)
		}
	}
}
