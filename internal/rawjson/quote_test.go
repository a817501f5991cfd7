package rawjson

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

func BenchmarkWriteQuoted(b *testing.B) {
	jsonItem := `{"id":"0123456789","text":"a message with \"quotes\" and more words"},`
	jsonText := []byte(strings.Repeat(jsonItem, 1<<20/len(jsonItem)))
	w := bufio.NewWriterSize(io.Discard, 64<<10)
	b.SetBytes(int64(len(jsonText)))
	for b.Loop() {
		WriteQuoted(w, jsonText)
	}
}

func FuzzQuoted(f *testing.F) {
	for i, s := range []string{`{}`, `{"a":"\\\"\n"}`, "\x00\x1f\t\"\\", "é\u2028", strings.Repeat("a\"\x01", 50), strings.Repeat("plain text ", 50) + "\\"} {
		f.Add(s, uint8(i*20))
	}
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		s = strings.ToValidUTF8(s, "")
		var b strings.Builder
		w := bufio.NewWriterSize(&b, int(size))
		w.WriteString(s[:min(len(s), int(size/2))])
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		b.Reset()
		WriteQuoted(w, []byte(s))
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		var decodedText string
		if err := json.Unmarshal([]byte(b.String()), &decodedText); err != nil || decodedText != s {
			t.Fatalf("WriteQuoted(%q) wrote %s, which decodes to %q, error %v; want the original text", s, b.String(), decodedText, err)
		}
	})
}
