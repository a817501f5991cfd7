package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"b":[1,2,{"c":"}]\""}]},"\u0064":null,"":true}`, `[]`, `{}`, `[[],{},"",-1e5,null]`, `"x"`, `7`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, jsonText []byte) {
		rawJSON, problemText := Compact(jsonText, nil)
		if problemText != "" {
			return
		}
		checkSplit(t, rawJSON, rawJSON)
		if bytes.Equal(TrimBOM(jsonText), jsonText) {
			checkSplit(t, jsonText, rawJSON)
		}
	})
}

func checkSplit(t *testing.T, rawJSON, compactJSON []byte) {
	t.Helper()
	switch KindOf(rawJSON) {
	case KindObject:
		var want map[string]json.RawMessage
		if err := json.Unmarshal(rawJSON, &want); err != nil {
			t.Fatal(err)
		}
		got := membersByKey(rawJSON)
		if len(got) != len(want) {
			t.Fatalf("Members of %s returned %d members, want %d", rawJSON, len(got), len(want))
		}
		for key, valueJSON := range want {
			if !bytes.Equal(got[key], valueJSON) || !bytes.Equal(Get(rawJSON, key), valueJSON) {
				t.Fatalf("value of a member in %s: key %q, value %s; want %s", rawJSON, key, got[key], valueJSON)
			}
		}
		if joinedJSON := JoinMembers(slices.Collect(Members(rawJSON))); !bytes.Equal(stripBlanks(t, joinedJSON), compactJSON) {
			t.Fatalf("joined members or elements of %s = %s, want the same JSON", rawJSON, joinedJSON)
		}
	case KindArray:
		var want []json.RawMessage
		if err := json.Unmarshal(rawJSON, &want); err != nil {
			t.Fatal(err)
		}
		got := Elements(rawJSON)
		if len(got) != len(want) {
			t.Fatalf("Elements of %s returned %d elements, want %d", rawJSON, len(got), len(want))
		}
		if joinedJSON := JoinElements(got); !bytes.Equal(stripBlanks(t, joinedJSON), compactJSON) {
			t.Fatalf("joined members or elements of %s = %s, want the same JSON", rawJSON, joinedJSON)
		}
	}
}

func membersByKey(rawJSON []byte) map[string][]byte {
	members := map[string][]byte{}
	for m := range Members(rawJSON) {
		members[m.Key] = m.Value
	}
	return members
}

func stripBlanks(t *testing.T, jsonText []byte) []byte {
	t.Helper()
	rawJSON, problemText := Compact(jsonText, nil)
	if problemText != "" {
		t.Fatalf("Compact(%s) returned the problem %q; want %q", jsonText, problemText, "")
	}
	return rawJSON
}

func TestMembersPreserveBytes(t *testing.T) {
	in := []byte(" { \"a\" : 9007199254740993 ,\n\t\"\\u0062\":{\"x\" : [1, 2]}, \"\\ud800\":1e400,\"a\":null } ")
	members := slices.Collect(Members(in))
	if len(members) != 4 || members[1].Key != "b" {
		t.Fatalf("members = %v, want 4 members and b as the second", members)
	}
	const want = `{"a":9007199254740993,"\u0062":{"x" : [1, 2]},"\ud800":1e400,"a":null}`
	if got := string(JoinMembers(members)); got != want {
		t.Errorf("joined members:\n%s\nwant\n%s", got, want)
	}
	for _, replacementJSON := range []string{``, `[]`, `"a"`, `{}`, ` { } `} {
		for m := range Members([]byte(replacementJSON)) {
			t.Errorf("Members of %s yielded %v, want nothing", replacementJSON, m)
		}
	}
	if got := string(JoinMembers(nil)); got != `{}` {
		t.Error(got)
	}
}

func FuzzSkip(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a`, `"\"`, `"\\"`, `[1,`, `1 `, `]`, ``, `[[]`, "\"\\\\\\\""} {
		f.Add([]byte(seed), 0)
	}
	f.Fuzz(func(t *testing.T, jsonText []byte, i int) {
		if i < 0 || i > len(jsonText) {
			return
		}
		for _, skipFunc := range []func([]byte, int) int{SkipValue, SkipString} {
			if endIndex := skipFunc(jsonText, i); endIndex != -1 && (endIndex <= i || endIndex > len(jsonText)) {
				t.Errorf("skipping a value or string in %q from index %d ended at %d, want a later index or -1", jsonText, i, endIndex)
			}
		}
		if spaceEnd := SkipSpace(jsonText, i); spaceEnd < i || spaceEnd > len(jsonText) {
			t.Errorf("SkipSpace in %q from index %d ended at %d, want an index from there to the end", jsonText, i, spaceEnd)
		}
		for m := range Members(replaceInvalidJSON(jsonText, "{}")) {
			if !json.Valid(m.Value) {
				t.Errorf("Members of %q yielded the value %q, want valid JSON", jsonText, m.Value)
			}
		}
		var lastValue json.RawMessage
		if json.Unmarshal(jsonText, &lastValue) == nil && SkipValue(jsonText, SkipSpace(jsonText, 0)) != len(bytes.TrimRight(jsonText, " \t\r\n")) {
			t.Errorf("SkipValue in %q ended at %d, want the end of the value", jsonText, SkipValue(jsonText, SkipSpace(jsonText, 0)))
		}
	})
}

func replaceInvalidJSON(jsonText []byte, replacementJSON string) []byte {
	if json.Valid(jsonText) {
		return jsonText
	}
	return []byte(replacementJSON)
}
