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
		wantSplit(t, rawJSON, rawJSON)
		if bytes.Equal(TrimBOM(jsonText), jsonText) {
			wantSplit(t, jsonText, rawJSON)
		}
	})
}

func wantSplit(t *testing.T, rawJSON, compact []byte) {
	t.Helper()
	switch KindOf(rawJSON) {
	case KindObject:
		var want map[string]json.RawMessage
		if err := json.Unmarshal(rawJSON, &want); err != nil {
			t.Fatal(err)
		}
		got := lastMembers(rawJSON)
		if len(got) != len(want) {
			t.Fatalf("%s: %d members, want %d", rawJSON, len(got), len(want))
		}
		for key, valueJSON := range want {
			if !bytes.Equal(got[key], valueJSON) || !bytes.Equal(Get(rawJSON, key), valueJSON) {
				t.Fatalf("%s: %q is %s, want %s", rawJSON, key, got[key], valueJSON)
			}
		}
		if joinedJSON := JoinMembers(slices.Collect(Members(rawJSON))); !bytes.Equal(withoutBlanks(t, joinedJSON), compact) {
			t.Fatalf("%s joins to %s", rawJSON, joinedJSON)
		}
	case KindArray:
		var want []json.RawMessage
		if err := json.Unmarshal(rawJSON, &want); err != nil {
			t.Fatal(err)
		}
		got := Elements(rawJSON)
		if len(got) != len(want) {
			t.Fatalf("%s: %d elements, want %d", rawJSON, len(got), len(want))
		}
		if joinedJSON := JoinElements(got); !bytes.Equal(withoutBlanks(t, joinedJSON), compact) {
			t.Fatalf("%s joins to %s", rawJSON, joinedJSON)
		}
	}
}

func lastMembers(rawJSON []byte) map[string][]byte {
	members := map[string][]byte{}
	for m := range Members(rawJSON) {
		members[m.Key] = m.Value
	}
	return members
}

func withoutBlanks(t *testing.T, jsonText []byte) []byte {
	t.Helper()
	rawJSON, problemText := Compact(jsonText, nil)
	if problemText != "" {
		t.Fatalf("%s %s; want %q", jsonText, problemText, "")
	}
	return rawJSON
}

func TestMembersKeepTheirBytes(t *testing.T) {
	in := []byte(" { \"a\" : 9007199254740993 ,\n\t\"\\u0062\":{\"x\" : [1, 2]}, \"\\ud800\":1e400,\"a\":null } ")
	members := slices.Collect(Members(in))
	if len(members) != 4 || members[1].Key != "b" {
		t.Fatalf("%v", members)
	}
	const want = `{"a":9007199254740993,"\u0062":{"x" : [1, 2]},"\ud800":1e400,"a":null}`
	if got := string(JoinMembers(members)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, otherText := range []string{``, `[]`, `"a"`, `{}`, ` { } `} {
		for m := range Members([]byte(otherText)) {
			t.Errorf("%s: %v", otherText, m)
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
		for _, skip := range []func([]byte, int) int{SkipValue, SkipString} {
			if endIndex := skip(jsonText, i); endIndex != -1 && (endIndex <= i || endIndex > len(jsonText)) {
				t.Errorf("skipping in %q from %d ended at %d", jsonText, i, endIndex)
			}
		}
		if spaceEnd := SkipSpace(jsonText, i); spaceEnd < i || spaceEnd > len(jsonText) {
			t.Errorf("%q from %d: %d", jsonText, i, spaceEnd)
		}
		for m := range Members(validOr(jsonText, "{}")) {
			if !json.Valid(m.Value) {
				t.Errorf("%q has the member %q", jsonText, m.Value)
			}
		}
		var lastValue json.RawMessage
		if json.Unmarshal(jsonText, &lastValue) == nil && SkipValue(jsonText, SkipSpace(jsonText, 0)) != len(bytes.TrimRight(jsonText, " \t\r\n")) {
			t.Errorf("the value in %q ends at %d", jsonText, SkipValue(jsonText, SkipSpace(jsonText, 0)))
		}
	})
}

func validOr(jsonText []byte, otherText string) []byte {
	if json.Valid(jsonText) {
		return jsonText
	}
	return []byte(otherText)
}
