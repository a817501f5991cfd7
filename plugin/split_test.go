package plugin

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// FuzzSplit compares the splitter with encoding/json.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"b":[1,2,{"c":"}]\""}]},"\u0064":null,"":true}`, `[]`, `{}`, `[[],{},"",-1e5,null]`, `"x"`, `7`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		raw, problem := compact(text, nil)
		if problem != "" {
			return
		}
		switch kindOf(raw) {
		case kindObject:
			var want map[string]json.RawMessage
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			got := newFields(raw, "", nil).member
			if len(got) != len(want) {
				t.Fatalf("%s: %d members, want %d", raw, len(got), len(want))
			}
			for key, value := range want {
				if !bytes.Equal(got[key], value) {
					t.Fatalf("%s: %q is %s, want %s", raw, key, got[key], value)
				}
			}
			if joined := joinMembers(slices.Collect(eachMember(raw))); !bytes.Equal(joined, raw) {
				t.Fatalf("%s joins to %s", raw, joined)
			}
		case kindArray:
			var want []json.RawMessage
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			got := elements(raw)
			if len(got) != len(want) {
				t.Fatalf("%s: %d elements, want %d", raw, len(got), len(want))
			}
			if joined := joinElements(got); !bytes.Equal(joined, raw) {
				t.Fatalf("%s joins to %s", raw, joined)
			}
		}
	})
}
