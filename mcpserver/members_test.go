package mcpserver

import (
	"encoding/json"
	"testing"
)

func TestMembersKeepTheirBytes(t *testing.T) {
	in := json.RawMessage(" { \"a\" : 9007199254740993 ,\n\t\"\\u0062\":{\"x\" : [1, 2]}, \"\\ud800\":1e400,\"a\":null } ")
	all, ok := membersOf(in)
	if !ok || len(all) != 4 {
		t.Fatalf("%v %v", all, ok)
	}
	if all[1].name != "b" {
		t.Errorf("name %q", all[1].name)
	}
	want := `{"a":9007199254740993,"\u0062":{"x" : [1, 2]},"\ud800":1e400,"a":null}`
	if got := string(joinMembers(all)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, bad := range []string{``, `[]`, `"a"`, `{`, `{"a"`, `{"a":}`, `{"a":1,}`, `{1:2}`} {
		if m, ok := membersOf(json.RawMessage(bad)); ok {
			t.Errorf("%s: %v", bad, m)
		}
	}
	if got := string(joinMembers(nil)); got != `{}` {
		t.Error(got)
	}
}

func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"a":{"b":[]},"c":"\u0000"}`, ` {"tabId" : 1 , "x":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) {
			return
		}
		all, ok := membersOf(b)
		if !ok {
			return
		}
		var want, got map[string]any
		if json.Unmarshal(b, &want) != nil {
			return // a number outside of float64
		}
		joined := joinMembers(all)
		if err := json.Unmarshal(joined, &got); err != nil {
			t.Fatalf("%s: %v", joined, err)
		}
		w, _ := json.Marshal(want)
		g, _ := json.Marshal(got)
		if string(w) != string(g) {
			t.Fatalf("%s\nbecame\n%s", w, g)
		}
	})
}
