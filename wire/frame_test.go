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
		t.Fatalf("json.Unmarshal(%s) returned the error %v; want no error", file, err)
	}
	return v
}

// The TypeScript test frame.test.ts also reads refused.json.
func TestParseRejectsInvalidFrames(t *testing.T) {
	cases := readJSON[[]struct{ Frame, Why string }](t, "testdata/refused.json")
	if len(cases) == 0 {
		t.Fatal("testdata/refused.json has no cases, want at least one")
	}
	for _, c := range cases {
		e, err := Parse([]byte(c.Frame))
		if err == nil || !strings.HasPrefix(err.Error(), "not a frame") || !strings.Contains(err.Error(), c.Why) {
			t.Errorf("Parse(%s) returned the wrong error\n got %v\nwant an error with %q", c.Frame, err, c.Why)
		}
		if !reflect.DeepEqual(e, Envelope{}) {
			t.Errorf("Parse(%s) failed and returned the envelope %+v, want an empty envelope", c.Frame, e)
		}
	}
}

// The TypeScript test frame.test.ts also reads testdata/accepted.json.
func TestParseAcceptsValidFrames(t *testing.T) {
	cases := readJSON[[]struct{ Frame, Kind string }](t, "testdata/accepted.json")
	if len(cases) == 0 {
		t.Fatal("testdata/accepted.json has no cases, want at least one")
	}
	for _, c := range cases {
		e, err := Parse([]byte(c.Frame))
		if err != nil {
			t.Errorf("Parse(%s) returned the error %v; want no error", c.Frame, err)
			continue
		}
		if got := frameKindOf(e); got != c.Kind {
			t.Errorf("Parse(%s) returned a frame of kind %q, want %q", c.Frame, got, c.Kind)
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
		t.Errorf("Parse changed the bytes of the result\n got %s\nwant %s", e.Result, want)
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
		reparsed, err := Parse(text)
		if err != nil {
			t.Fatalf("Parse(encoded frame %s) returned the error %v; want no error", text, err)
		}
		if e.Params == nil && e.Method != "" {
			e.Params = json.RawMessage(`{}`)
		}
		if e.Method == "" {
			e.Params = nil
		}
		if !reflect.DeepEqual(e, reparsed) {
			t.Fatalf("encoding and parsing changed the envelope\n got %+v\nwant %+v", reparsed, e)
		}
		if !utf8.ValidString(e.ID) {
			t.Fatalf("Parse returned the ID %q, which is not valid UTF-8; want valid UTF-8", e.ID)
		}
	})
}
