package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzBody reads anything as the body of any frame: it never panics, and what
// could be read is written so that the other side reads the same.
func FuzzBody(f *testing.F) {
	var kinds []goldenBody // one for each type, in the order of the files
	names := map[string]int{}
	for _, g := range goldenBodies(f) {
		name := kindOfBody(g.name)
		if _, ok := names[name]; !ok {
			names[name] = len(kinds)
			kinds = append(kinds, g)
		}
		f.Add(byte(names[name]), g.body)
	}
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		g := kinds[int(kind)%len(kinds)]
		v := g.fresh()
		if !json.Valid(body) || json.Unmarshal(body, v) != nil {
			return
		}
		once := encodeBody(t, v)
		w := g.fresh()
		if err := json.Unmarshal(once, w); err != nil {
			t.Fatalf("%s: %v: written as %s", g.name, err, once)
		}
		if again := encodeBody(t, w); !bytes.Equal(again, once) {
			t.Fatalf("%s:\n once %s\nagain %s", g.name, once, again)
		}
		frame := slices.Concat([]byte(`{"jsonrpc":"2.0","id":"1","method":"ping","params":`), once, []byte(`}`))
		if _, err := Parse(frame); err != nil && !strings.Contains(err.Error(), "UTF-8") {
			t.Fatalf("%s: %v: %s", g.name, err, frame)
		}
	})
}

// kindOfBody takes the variant off a golden file's name.
func kindOfBody(name string) string {
	for _, end := range []string{".params", ".result"} {
		if at := strings.Index(name+".", end+"."); at >= 0 {
			return name[:at+len(end)]
		}
	}
	return "error"
}

func encodeBody(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%+v can be read but not written: %v", v, err)
	}
	return b
}
