package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func FuzzBody(f *testing.F) {
	var kinds []goldenFrameBody
	indexes := map[string]int{}
	for _, g := range goldenBodies(f) {
		name := bodyKind(g.name)
		if _, ok := indexes[name]; !ok {
			indexes[name] = len(kinds)
			kinds = append(kinds, g)
		}
		f.Add(byte(indexes[name]), g.body)
	}
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		g := kinds[int(kind)%len(kinds)]
		v := g.newBody()
		if !json.Valid(body) || json.Unmarshal(body, v) != nil {
			return
		}
		once := encodeBody(t, v)
		w := g.newBody()
		if err := json.Unmarshal(once, w); err != nil {
			t.Fatalf("%s: can not decode the encoded body: %v: %s", g.name, err, once)
		}
		if again := encodeBody(t, w); !bytes.Equal(again, once) {
			t.Fatalf("%s: encoded body differs\n first %s\nsecond %s", g.name, once, again)
		}
		frame := slices.Concat([]byte(`{"jsonrpc":"2.0","id":"1","method":"ping","params":`), once, []byte(`}`))
		if _, err := Parse(frame); err != nil && !strings.Contains(err.Error(), "UTF-8") {
			t.Fatalf("%s: %v: %s", g.name, err, frame)
		}
	})
}

func bodyKind(name string) string {
	for _, resultSuffix := range []string{".params", ".result"} {
		if at := strings.Index(name+".", resultSuffix+"."); at >= 0 {
			return name[:at+len(resultSuffix)]
		}
	}
	return "error"
}

func encodeBody(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("can not encode the decoded body %+v: %v", v, err)
	}
	return b
}
