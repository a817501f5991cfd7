package rawjson

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"
)

func FuzzQuoted(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":"\\\"\n"}`, "\x00\x1f\t\"\\", "é\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		var b strings.Builder
		w := bufio.NewWriter(&b)
		WriteQuoted(w, []byte(s))
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		var decoded string
		if err := json.Unmarshal([]byte(b.String()), &decoded); err != nil || decoded != s {
			t.Fatalf("%q became %s: %q, %v", s, b.String(), decoded, err)
		}
	})
}
