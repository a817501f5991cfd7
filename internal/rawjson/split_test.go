package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// FuzzSplit compares Members, Elements and Get with encoding/json.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"b":[1,2,{"c":"}]\""}]},"\u0064":null,"":true}`, `[]`, `{}`, `[[],{},"",-1e5,null]`, `"x"`, `7`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		raw, problem := Compact(text, nil)
		if problem != "" {
			return
		}
		switch KindOf(raw) {
		case KindObject:
			var want map[string]json.RawMessage
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			got := lastMembers(raw)
			if len(got) != len(want) {
				t.Fatalf("%s: %d members, want %d", raw, len(got), len(want))
			}
			for key, value := range want {
				if !bytes.Equal(got[key], value) || !bytes.Equal(Get(raw, key), value) {
					t.Fatalf("%s: %q is %s, want %s", raw, key, got[key], value)
				}
			}
			if joined := JoinMembers(slices.Collect(Members(raw))); !bytes.Equal(joined, raw) {
				t.Fatalf("%s joins to %s", raw, joined)
			}
		case KindArray:
			var want []json.RawMessage
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			got := Elements(raw)
			if len(got) != len(want) {
				t.Fatalf("%s: %d elements, want %d", raw, len(got), len(want))
			}
			if joined := JoinElements(got); !bytes.Equal(joined, raw) {
				t.Fatalf("%s joins to %s", raw, joined)
			}
		}
	})
}

// lastMembers returns the members of an object by key.
func lastMembers(raw []byte) map[string][]byte {
	members := map[string][]byte{}
	for m := range Members(raw) {
		members[m.Key] = m.Value
	}
	return members
}
