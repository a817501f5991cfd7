package plugin

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"opentabs/internal/jsonread"
	"opentabs/internal/rawjson"
	"opentabs/plugin/schema"
)

func FuzzManifest(f *testing.F) {
	const packageJSONSeed = `{"name":"opentabs-plugin-a","version":"1","main":"m","opentabs":{"displayName":"A","description":"d","urlPatterns":["*://a.com/*"]}}`
	f.Add([]byte(packageJSONSeed), []byte(`{"sdkVersion":"0.0.1","tools":[{"name":"t","description":"d","input_schema":{"type":"object","properties":{"a":{"default":1}},"required":["a"]},"output_schema":{}}]}`))
	f.Add([]byte(packageJSONSeed), []byte(`[{"name":"t","description":"d","annotations":{"readOnlyHint":true},"input_schema":{"type":"object"},"output_schema":{}}]`))
	f.Add([]byte(`{"name":"@b/opentabs-plugin-a","version":"1","main":"m","opentabs":{"displayName":"A","description":"d","urlPatterns":[],"homepage":"https://x.y","world":"main"}}`),
		[]byte(`{"configSchema":{"u":{"type":"url","label":"U","required":true}},"tools":[]}`))
	f.Fuzz(func(t *testing.T, packageText, toolsText []byte) {
		p := &Plugin{}
		problems := jsonread.Problems{}
		packageText, packageProblem := rawjson.Compact(packageText, nil)
		toolsText, toolsProblem := rawjson.Compact(toolsText, nil)
		if packageProblem != "" || toolsProblem != "" {
			return
		}
		parsePackage(packageText, p, &problems)
		parseTools(toolsText, p, &problems)
		for _, invalidField := range problems.List {
			if invalidField.Text == "" {
				t.Fatal("a problem of the package has no text; want a sentence")
			}
		}
		if len(problems.List) > 0 {
			return
		}
		if p.Name == "" || p.Version == "" || p.DisplayName == "" || p.World == "" || len(p.Tools) == 0 {
			t.Fatalf("plugin = %+v; want a name, a version, a display name, a world and tools", p)
		}
		for _, tool := range p.Tools {
			if !fullNameGrammar().MatchString(tool.FullName()) || tool.Description == "" || !utf8.ValidString(tool.Description) {
				t.Fatalf("tool = %+v; want a valid full name and a description", tool)
			}
			for _, schema := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
				if !json.Valid(schema) || rawjson.KindOf(schema) != rawjson.KindObject {
					t.Fatalf("schema = %s; want a JSON object", schema)
				}
			}
			if relaxedTwiceJSON := schema.RelaxDefaults(tool.InputSchema); string(relaxedTwiceJSON) != string(tool.InputSchema) {
				t.Fatalf("schema relaxed once = %s, relaxed twice = %s; want equal schemas", tool.InputSchema, relaxedTwiceJSON)
			}
			tool.Validate(json.RawMessage(`{"a":1}`)) // CheckSchemas must return without a panic
		}
	})
}

func TestNewestSDKIsThisVersion(t *testing.T) {
	version, err := os.ReadFile("../internal/version/VERSION")
	if err != nil {
		t.Fatal(err)
	}
	if isNewerSDK(strings.TrimSpace(string(version))) {
		t.Errorf("VERSION is %s, want a version that manifest.go supports; raise newestSDKMajor and newestSDKMinor", version)
	}
	for sdk, want := range map[string]bool{"0.2.0": true, "1.0.0": true, "0.1.7": false, "0.0.115": false, "0.2": true, "": false, "x.y": false} {
		if isNewerSDK(sdk) != want {
			t.Errorf("isNewerSDK(%q) = %v; want %v", sdk, !want, want)
		}
	}
}
