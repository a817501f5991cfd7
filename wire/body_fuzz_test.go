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
		name := bodyTypeName(g.name)
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
		firstEncoding := encodeBody(t, v)
		w := g.newBody()
		if err := json.Unmarshal(firstEncoding, w); err != nil {
			t.Fatalf("json.Unmarshal(encoded %s) returned the error %v; want no error for %s", g.name, err, firstEncoding)
		}
		if reencoded := encodeBody(t, w); !bytes.Equal(reencoded, firstEncoding) {
			t.Fatalf("a decoded %s is encoded differently\n got %s\nwant %s", g.name, reencoded, firstEncoding)
		}
		frame := slices.Concat([]byte(`{"jsonrpc":"2.0","id":"1","method":"ping","params":`), firstEncoding, []byte(`}`))
		if _, err := Parse(frame); err != nil && !strings.Contains(err.Error(), "UTF-8") {
			t.Fatalf("Parse(frame with %s) returned the error %v; want no error for %s", g.name, err, frame)
		}
	})
}

func bodyTypeName(name string) string {
	for _, bodyKindSuffix := range []string{".params", ".result"} {
		if at := strings.Index(name+".", bodyKindSuffix+"."); at >= 0 {
			return name[:at+len(bodyKindSuffix)]
		}
	}
	return "error"
}

func encodeBody(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("json.Marshal(decoded body %+v) returned the error %v; want no error", v, err)
	}
	return b
}
