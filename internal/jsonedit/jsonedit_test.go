package jsonedit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

func TestSetMember(t *testing.T) {
	for _, c := range []struct{ name, input, path, value, want string }{
		{"an empty file", "", "a", "1", "{\n  \"a\": 1\n}\n"},
		{"a missing object", "{}\n", "a.b", `{"c":[1]}`, "{\n  \"a\": {\n    \"b\": {\n      \"c\": [\n        1\n      ]\n    }\n  }\n}\n"},
		{"one line", `{"x": 1}`, "a", "true", `{"x": 1, "a": true}`},
		{"tabs", "{\n\t\"x\": 1\n}", "a", `{"b":1}`, "{\n\t\"x\": 1,\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}"},
		{"a comment behind the last member", "{\n  \"x\": 1 // first\n}", "a", "2", "{\n  \"x\": 1, // first\n  \"a\": 2\n}"},
		{"a trailing comma", "{\n  \"x\": 1, // first\n}", "a", "2", "{\n  \"x\": 1, // first\n  \"a\": 2,\n}"},
		{"an existing member", "{\n  /* old */ \"a\": [1], // kept\n  \"x\": 1\n}", "a", "2", "{\n  /* old */ \"a\": 2, // kept\n  \"x\": 1\n}"},
		{"the last of two members of one name", `{"a": 1, "a": 2}`, "a", "3", `{"a": 1, "a": 3}`},
		{"an empty object that is not at the top", "{\n    \"x\": {}\n}", "x.a", "1", "{\n    \"x\": {\n        \"a\": 1\n    }\n}"},
		{"other servers", "{\n  \"servers\": {\n    \"b\": {\"command\": \"b\"} // mine\n  }\n}\n", "servers.a", `{"command":"a"}`,
			"{\n  \"servers\": {\n    \"b\": {\"command\": \"b\"}, // mine\n    \"a\": {\n      \"command\": \"a\"\n    }\n  }\n}\n"},
		{"null instead of an object", `{"a": null, "x": 1}`, "a.b", "2", `{"a": {"b":2}, "x": 1}`},
		{"a file with only a comment", "// mine", "a", "1", "// mine\n{\n  \"a\": 1\n}\n"},
		{"only a comment", "{\n  // nothing yet\n}\n", "a", "1", "{\n  // nothing yet\n  \"a\": 1\n}\n"},
	} {
		editedJSON, err := Set([]byte(c.input), strings.Split(c.path, "."), json.RawMessage(c.value))
		if err != nil || string(editedJSON) != c.want {
			t.Errorf("Set in %s = %v\n%s\nwant\n%s", c.name, err, editedJSON, c.want)
		}
	}
	for input, want := range map[string]string{
		`{"a": [1]}`: `"a" is not an object`,
		`[1]`:        "the file is not an object",
		`{"a": `:     "hujson: line 1, column",
	} {
		if _, err := Set([]byte(input), []string{"a", "b"}, json.RawMessage("1")); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Set in %s = %v, want %s", input, err, want)
		}
	}
}

func TestRemoveMember(t *testing.T) {
	for _, c := range []struct{ name, input, path, want string }{
		{"the last member", "{\n  \"x\": 1,\n  \"a\": 2\n}", "a", "{\n  \"x\": 1\n}"},
		{"the first member", "{\n  \"a\": 2, // two\n  \"x\": 1\n}", "a", "{ // two\n  \"x\": 1\n}"},
		{"a trailing comma", "{\n  \"x\": 1,\n  \"a\": 2,\n}", "a", "{\n  \"x\": 1,\n}"},
		{"the only member", `{"a": 1}`, "a", `{}`},
		{"a comment behind the member before", "{\n  \"x\": 1, // first\n  \"a\": 2\n}", "a", "{\n  \"x\": 1 // first\n}"},
		{"a comment above", "{\n  // mine\n  \"a\": 2, // two\n  \"x\": 1\n}", "a", "{\n  // mine\n // two\n  \"x\": 1\n}"},
		{"comments before the comma and the end", "{\"x\": 1 /* one */, /* two */ \"a\": 2 /* three */}", "a", "{\"x\": 1 /* one */ /* two */ /* three */}"},
		{"a trailing comma with a comment", "{\n  \"x\": 1, // first\n  \"a\": 2,\n  // end\n}", "a", "{\n  \"x\": 1, // first\n  // end\n}"},
		{"a comment at the end of the line before the brace", "{\"a\": 2 // two\n}", "a", "{ // two\n}"},
		{"a member of a member", `{"x": {"a": 1, "b": 2}}`, "x.a", `{"x": { "b": 2}}`},
	} {
		editedJSON, removed, err := Remove([]byte(c.input), strings.Split(c.path, "."))
		if err != nil || !removed || string(editedJSON) != c.want {
			t.Errorf("Remove of %s = %t, error %v\n%s\nwant\n%s", c.name, removed, err, editedJSON, c.want)
		}
	}
	for _, input := range []string{"", `{"x": 1}`, `{"a": 1}`, "[1]"} {
		if editedJSON, removed, err := Remove([]byte(input), []string{"a", "b"}); err != nil || removed || string(editedJSON) != input {
			t.Errorf("Remove of a missing member in %q = %q, %t, error %v, want the same document", input, editedJSON, removed, err)
		}
	}
}

// FuzzSetRemove checks that Set and Remove return valid JSON, and that Remove undoes Set.
func FuzzSetRemove(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"a": {"b": 1}}`, "{\n\t// c\n\t\"x\": [1,],\n}", `{"a":1,"a":2}`, "\ufeff{}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		editedJSON, err := Set([]byte(input), []string{"new", "b"}, json.RawMessage(`{"c":[1]}`))
		if err != nil {
			return
		}
		standardJSON, err := hujson.Standardize(editedJSON)
		var settingValues map[string]json.RawMessage
		if err != nil || json.Unmarshal(standardJSON, &settingValues) != nil {
			t.Fatalf("Set in %q = %q, want valid JSON; error %v", input, editedJSON, err)
		}
		var storedObject struct{ B struct{ C []int } }
		if json.Unmarshal(settingValues["new"], &storedObject) != nil || len(storedObject.B.C) != 1 {
			t.Fatalf("Set in %q = %q, want the new member in it", input, editedJSON)
		}
		remainingJSON, removed, err := Remove(editedJSON, []string{"new", "b"})
		if err != nil || !removed {
			t.Fatalf("Remove from %q = %t, error %v, want a removed member", editedJSON, removed, err)
		}
		if _, err := hujson.Parse(remainingJSON); err != nil {
			t.Fatalf("Remove from %q = %q, want valid JSON; error %v", editedJSON, remainingJSON, err)
		}
	})
}
