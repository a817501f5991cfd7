package plugin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

func undoPackage(t *testing.T, undo string) string {
	t.Helper()
	dir := plugintest.Package{Tools: []plugintest.Tool{{Name: "delete_item", Description: "d"}, {
		Name: "restore_item", Description: "d",
		Input: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"}},"required":["id"],"additionalProperties":false}`),
	}}}.Write(t)
	editFile(t, dir, toolsFile, newJSONMemberEdit("sdkVersion", `"opentabs-0.1.0"`))
	editFile(t, dir, toolsFile, newJSONMemberEdit("tools.undo", undo))
	return dir
}

func TestLoadReadsUndoOfTool(t *testing.T) {
	p, err := plugin.Load(undoPackage(t, `{"tool":"restore_item","input":{"name":"/input/names/1","id":"/result/item~1id"}}`))
	if err != nil {
		t.Fatal(err)
	}
	deleteItem := p.Tools[0]
	if undoTool := deleteItem.UndoTool(); undoTool != p.Tools[1] || undoTool.UndoTool() != nil {
		t.Errorf("undo tool = %v, whose undo tool = %v; want the second tool and none", undoTool, undoTool.UndoTool())
	}
	if u := deleteItem.Undo; !u.UsesInput() || !u.UsesResult() {
		t.Errorf("undo %+v uses the input: %v, the result: %v; want both true", u, u.UsesInput(), u.UsesResult())
	}
	for _, c := range []struct {
		input, result, want string
		missingArgs         []string
	}{
		{`{"names":["a","b"]}`, `{"item/id":12345678901234567890}`, `{"id":12345678901234567890,"name":"b"}`, nil},
		{`{"names":["a"]}`, `{"item/id":{"x":[]}}`, `{"id":{"x":[]}}`, []string{"/input/names/1"}},
		{`{"names":{"1":null}}`, `[1]`, `{"name":null}`, []string{"/result/item~1id"}},
		{``, `null`, `{}`, []string{"/result/item~1id", "/input/names/1"}},
	} {
		args, missingArgs := deleteItem.Undo.Arguments(json.RawMessage(c.input), json.RawMessage(c.result))
		if string(args) != c.want || !slices.Equal(missingArgs, c.missingArgs) {
			t.Errorf("arguments of the undoing call for the input %s and the result %s = %s, missing %q; want %s, missing %q", c.input, c.result, args, missingArgs, c.want, c.missingArgs)
		}
	}
}

func TestUndoIsValidated(t *testing.T) {
	for undo, want := range map[string]string{
		`5`:                       "tools[0].undo is a number; make it an object",
		`{}`:                      "tools[0].undo.tool is missing; name the tool that undoes the call",
		`{"tool":"delete_item"}`:  "tools[0].undo.tool is the tool itself; name another tool of the plugin",
		`{"tool":"restore_iten"}`: `tools[0].undo.tool is "restore_iten", but the plugin has no such tool`,
		`{"tool":"restore_item"}`: `tools[0].undo.input has no "id", which restore_item requires; add it`,
		`{"tool":"restore_item","input":{"id":"/result/id","color":"/input/color"}}`: `tools[0].undo.input has "color", which restore_item does not accept; remove it`,
		`{"tool":"restore_item","input":{"id":7}}`:                                   "tools[0].undo.input.id is a number; make it a string",
		`{"tool":"restore_item","input":{"id":"result/id"}}`:                         `tools[0].undo.input.id is "result/id"; begin it with /input`,
		`{"tool":"restore_item","input":{"id":"/output/id"}}`:                        `tools[0].undo.input.id is "/output/id"; begin it with /input`,
		`{"tool":"restore_item","input":{"id":"/result/a~b"}}`:                       `tools[0].undo.input.id is "/result/a~b"; write "~" as "~0"`,
	} {
		if _, err := plugin.Load(undoPackage(t, undo)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error for the undo %s = %v, want %q", undo, err, want)
		}
	}
}

// In packages of the original OpenTabs SDK, the member "undo" can have another meaning.
func TestUndoOfOriginalPackagesIsIgnored(t *testing.T) {
	dir := undoPackage(t, `"anything"`)
	editFile(t, dir, toolsFile, newJSONMemberEdit("sdkVersion", `"0.0.86"`))
	if p, err := plugin.Load(dir); err != nil || p.Tools[0].Undo != nil {
		t.Errorf("Load of a package of the original SDK: error %v; want no error and no undo", err)
	}
}
