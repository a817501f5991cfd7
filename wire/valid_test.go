package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzIsJSON(f *testing.F) {
	for _, jsonText := range []string{
		"", " ", "{}", "[]", "[ ]", "{ }", ` { "a" : [ 1 , 2 ] , "b" : { } } `, `{"a":}`, `{"a"}`, `{"a" 1}`, `{,}`, `[,]`, `[1,]`, `{"a":1,}`,
		`[1 2]`, `[}`, `{]`, `[[]`, `[]]`, `{}{}`, `{1:2}`, `{"a":1 "b":2}`, "[1", "{", "[", `{"a`, `{"a":`,
		"0", "-0", "-", "01", "-01", "1.", ".5", "1.5", "1e", "1e+", "1e5", "1E-5", "1.5e+10", "+1", "1e5.5", "0.0", "0e0", "--1", "1-",
		"true", "false", "null", "tru", "truex", "nul", "True", "NaN",
		`""`, `"`, `"a`, `"\n"`, `"\x"`, `"\`, `"\u00e9"`, `"\u00g9"`, `"\u00"`, `"\uD800"`, "\"\x00\"", "\"\x1f\"", "\"\x7f\"", "\"\xff\"", `"\\"`, `"\\\"`,
		"\ufeff{}", "\v1", "1\n", "\t1\r", "// x", strings.Repeat("[", 100) + strings.Repeat("]", 100),
		strings.Repeat("[", maxNesting) + strings.Repeat("]", maxNesting),
		strings.Repeat("[", maxNesting+1) + strings.Repeat("]", maxNesting+1),
		strings.Repeat(`{"a":`, maxNesting) + "1" + strings.Repeat("}", maxNesting),
		strings.Repeat(`{"a":`, maxNesting+1) + "1" + strings.Repeat("}", maxNesting+1),
	} {
		f.Add([]byte(jsonText))
	}
	f.Fuzz(func(t *testing.T, jsonText []byte) {
		if got, want := IsJSON(jsonText), json.Valid(jsonText); got != want {
			t.Errorf("IsJSON(%.200q) is %v, json.Valid returns %v; want %v", jsonText, got, want, want)
		}
	})
}

func BenchmarkIsJSON(b *testing.B) {
	jsonText := []byte(`{"output":{"x":"` + strings.Repeat("x", 200) + `"}}`)
	for name, isValid := range map[string]func([]byte) bool{"IsJSON": IsJSON, "json.Valid": json.Valid} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(jsonText)))
			for b.Loop() {
				isValid(jsonText)
			}
		})
	}
}
