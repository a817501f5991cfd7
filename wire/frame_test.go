package wire

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func readJSON[T any](t testing.TB, file string) T {
	t.Helper()
	fileContent, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(fileContent, &v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// The TypeScript test frame.test.ts also reads refused.json.
func TestParseRejects(t *testing.T) {
	cases := readJSON[[]struct{ Frame, Why string }](t, "testdata/refused.json")
	if len(cases) == 0 {
		t.Fatal("testdata/refused.json has no cases")
	}
	for _, c := range cases {
		e, err := Parse([]byte(c.Frame))
		if err == nil || !strings.HasPrefix(err.Error(), "not a frame") || !strings.Contains(err.Error(), c.Why) {
			t.Errorf("%s\n got %v\nwant %s", c.Frame, err, c.Why)
		}
		if !reflect.DeepEqual(e, Envelope{}) {
			t.Errorf("%s: Parse returned an error and %+v", c.Frame, e)
		}
	}
}

// The TypeScript test frame.test.ts also reads testdata/accepted.json.
func TestParseAccepts(t *testing.T) {
	cases := readJSON[[]struct{ Frame, Kind string }](t, "testdata/accepted.json")
	if len(cases) == 0 {
		t.Fatal("testdata/accepted.json has no cases")
	}
	for _, c := range cases {
		e, err := Parse([]byte(c.Frame))
		if err != nil {
			t.Errorf("%s: %v", c.Frame, err)
			continue
		}
		if got := frameKindOf(e); got != c.Kind {
			t.Errorf("%s is a %s, want a %s", c.Frame, got, c.Kind)
		}
	}
}

func frameKindOf(e Envelope) string {
	switch {
	case e.Method != "" && e.ID != "":
		return "request"
	case e.Method != "":
		return "notification"
	case e.Error != nil:
		return "error"
	default:
		return "result"
	}
}

func TestParseKeepsBytes(t *testing.T) {
	frame := []byte(`{"jsonrpc":"2.0","id":"1","result":{"output": {"n":9007199254740993,"f":1.10, "s":"\u00fc<"} }}`)
	e, err := Parse(frame)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"output": {"n":9007199254740993,"f":1.10, "s":"\u00fc<"} }`; string(e.Result) != want {
		t.Errorf("result\n got %s\nwant %s", e.Result, want)
	}
}

func encodeEnvelope(e Envelope) []byte {
	if e.Params == nil {
		e.Params = json.RawMessage(`{}`)
	}
	switch frameKindOf(e) {
	case "request":
		return AppendRequest(nil, e.ID, e.Method, e.Params)
	case "notification":
		return AppendNotification(nil, e.Method, e.Params)
	case "error":
		return AppendError(nil, e.ID, e.Error)
	default:
		return AppendResult(nil, e.ID, e.Result)
	}
}

func FuzzParse(f *testing.F) {
	for _, g := range goldenBodies(f) {
		f.Add(g.frame)
	}
	for _, file := range []string{"testdata/refused.json", "testdata/accepted.json"} {
		for _, c := range readJSON[[]struct{ Frame string }](f, file) {
			f.Add([]byte(c.Frame))
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		e, err := Parse(frame)
		if err != nil {
			return
		}
		text := encodeEnvelope(e)
		if !json.Valid(text) {
			t.Fatalf("the encoded frame is not valid JSON: %s", text)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("can not parse the encoded frame: %v: %s", err, text)
		}
		if e.Params == nil && e.Method != "" {
			e.Params = json.RawMessage(`{}`)
		}
		if e.Method == "" {
			e.Params = nil
		}
		if !reflect.DeepEqual(e, again) {
			t.Fatalf("\n first %+v\nsecond %+v", e, again)
		}
		if !utf8.ValidString(e.ID) {
			t.Fatalf("the ID %q is not valid UTF-8", e.ID)
		}
	})
}
