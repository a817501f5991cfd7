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
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// TestParseRefuses reads what frame.test.ts reads too: both ends refuse the
// same frames for the same reason.
func TestParseRefuses(t *testing.T) {
	cases := readJSON[[]struct{ Frame, Why string }](t, "testdata/refused.json")
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		e, err := Parse([]byte(c.Frame))
		if err == nil || !strings.HasPrefix(err.Error(), "not a frame") || !strings.Contains(err.Error(), c.Why) {
			t.Errorf("%s\n got %v\nwant %s", c.Frame, err, c.Why)
		}
		if !reflect.DeepEqual(e, Envelope{}) {
			t.Errorf("%s: a refused frame left %+v", c.Frame, e)
		}
	}
}

func TestParseAccepts(t *testing.T) {
	cases := readJSON[[]struct{ Frame, Kind string }](t, "testdata/accepted.json")
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		e, err := Parse([]byte(c.Frame))
		if err != nil {
			t.Errorf("%s: %v", c.Frame, err)
			continue
		}
		if got := kind(e); got != c.Kind {
			t.Errorf("%s is a %s, want a %s", c.Frame, got, c.Kind)
		}
	}
}

func kind(e Envelope) string {
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

func TestAppend(t *testing.T) {
	retry := 1500.0
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{AppendRequest([]byte("> "), "s1", MethodPing, []byte(`{}`)), `> {"jsonrpc":"2.0","id":"s1","method":"ping","params":{}}`},
		{AppendNotification(nil, MethodStateWatch, []byte(`{"on":true}`)), `{"jsonrpc":"2.0","method":"state.watch","params":{"on":true}}`},
		{AppendResult(nil, "s1", []byte(`{"output":1.0}`)), `{"jsonrpc":"2.0","id":"s1","result":{"output":1.0}}`},
		{AppendResult(nil, "a\"b\\\x01é", []byte(`{}`)), `{"jsonrpc":"2.0","id":"a\"b\\\u0001é","result":{}}`},
		{AppendError(nil, "s1", &RPCError{Code: CodeMethodNotFound, Message: `no "x"`}),
			`{"jsonrpc":"2.0","id":"s1","error":{"code":-32601,"message":"no \"x\""}}`},
		{AppendError(nil, "s1", &RPCError{Code: CodeCallFailed, Message: "m", Data: &CallError{
			Code: ErrToolError, Message: "m", Tool: &ToolErrorInfo{Code: "X", RetryAfterMs: &retry}}}),
			`{"jsonrpc":"2.0","id":"s1","error":{"code":-32000,"message":"m","data":{"code":"tool_error","message":"m",` +
				`"tool":{"code":"X","retryable":false,"retryAfterMs":1500}}}}`},
	} {
		if string(c.got) != c.want {
			t.Errorf("\n got %s\nwant %s", c.got, c.want)
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 1024)
	params := []byte(`{"dispatchId":"c1","reason":"r"}`)
	if n := testing.AllocsPerRun(100, func() {
		buf = AppendRequest(buf[:0], "c-01k7", MethodToolCancel, params)
		buf = AppendNotification(buf, MethodStateSync, params)
		buf = AppendResult(buf, "c-01k7", params)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// show prints an envelope as a frame.
func show(e Envelope) []byte {
	if e.Params == nil {
		e.Params = json.RawMessage(`{}`)
	}
	switch kind(e) {
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

// FuzzParse holds two properties for whatever arrives: Parse never panics, and
// what it accepts can be printed and parsed again to the same envelope.
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
		text := show(e)
		if !json.Valid(text) {
			t.Fatalf("printed as what is not JSON: %s", text)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%v: printed as %s", err, text)
		}
		if e.Params == nil && e.Method != "" {
			e.Params = json.RawMessage(`{}`)
		}
		e.Params = drop(e.Params, e.Method == "")
		if !reflect.DeepEqual(e, again) {
			t.Fatalf("\n once %+v\nagain %+v", e, again)
		}
		if !utf8.ValidString(e.ID) {
			t.Fatalf("id %q is not UTF-8", e.ID)
		}
	})
}

// drop returns nil if gone: an answer has no params to print.
func drop(raw json.RawMessage, gone bool) json.RawMessage {
	if gone {
		return nil
	}
	return raw
}
