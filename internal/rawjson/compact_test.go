package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// If encoding/json rejects a text, Compact must return an error with a line and a column.
func FuzzCompact(f *testing.F) {
	for _, seed := range []string{
		"", " ", "{", "}", "[", "]", "[}", "{]", "{}", "[]", " [ ] ", "{ }", "[,]", "[1,]", "[,1]", "[1 2]", "[1]]", "{}{}", "1 2", ",", ":", "[:]",
		`{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"a":1 "b":2}`, `{"a" : 1 , "b":[ {"c" :{ } } ]}`, `{1:2}`, `{a:1}`, `{"a",1}`, `["a":1]`, `{"a":1]`, `{"a"`, `{"a" `,
		`""`, `"`, `"a`, `"\"`, `"\\"`, `"\x"`, `"\u12aF"`, `"\u12a"`, `"\u12ag"`, `"\u"`, `"\`, `"\/\b\f\n\r\t"`, "\"\n\"", "\"\x7f\"", "\"\x00\"", `"<>&` + "\u2028\"", `'a'`,
		"0", "-0", "-", "+1", "01", "1.", ".5", "1.5", "1e5", "1E+5", "1e-5", "1e", "1e+", "1.e1", "-1.20e10", "0x1", "1_0", "0.0e0", "[0]", "[-]", `{"a":01}`, "NaN",
		"true", "false", "null", "tru", "truex", "True", "nul", "[true,false,null]", "\ufeff1", "\v1", "\f1", "1\u00a0", "/**/1", "\n\r\t 1 \n", "[1,\n2]",
		strings.Repeat("[", 10000) + strings.Repeat("]", 10000), strings.Repeat("[", 10001) + strings.Repeat("]", 10001), strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, jsonText []byte) {
		got, problemText := Compact(jsonText, nil)
		if !utf8.Valid(jsonText) {
			if problemText == "" {
				t.Fatalf("Compact accepted %q, want an error", jsonText)
			}
			return
		}
		var want bytes.Buffer
		err := json.Compact(&want, TrimBOM(jsonText))
		if (err == nil) != (problemText == "") {
			t.Fatalf("Compact(%q) returned the problem %q, encoding/json returned %v; want both to accept or reject the text", jsonText, problemText, err)
		}
		if err != nil && !strings.HasPrefix(problemText, "is not valid JSON at line ") {
			t.Fatalf("Compact(%q) returned the problem %q, want a problem with line and column", jsonText, problemText)
		}
		if err == nil && !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("Compact(%q) = %q, want %q", jsonText, got, want.Bytes())
		}
	})
}
