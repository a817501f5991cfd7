package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestAppendFrames(t *testing.T) {
	retryMs := 1500.0
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
			Code: ErrToolError, Message: "m", Tool: &ToolErrorInfo{Code: "X", RetryAfterMs: &retryMs}}}),
			`{"jsonrpc":"2.0","id":"s1","error":{"code":-32000,"message":"m","data":{"code":"tool_error","message":"m",` +
				`"tool":{"code":"X","retryable":false,"retryAfterMs":1500}}}}`},
		{AppendDispatch([]byte("> "), &ToolDispatchParams{DispatchID: "c1"}),
			`> {"jsonrpc":"2.0","id":"c1","method":"tool.dispatch","params":{"dispatchId":"c1","plugin":"","tool":"","tabId":0,` +
				`"documentId":"","maxResultBytes":0,"args":{}}}`},
		{AppendDispatch(nil, &ToolDispatchParams{DispatchID: "c1", TabID: -7, Args: []byte(`{"n": 9007199254740993}`), Decision: []byte("[1.0]")}),
			`{"jsonrpc":"2.0","id":"c1","method":"tool.dispatch","params":{"dispatchId":"c1","plugin":"","tool":"","tabId":-7,` +
				`"documentId":"","maxResultBytes":0,"decision":[1.0],"args":{"n": 9007199254740993}}}`},
		{AppendAnswer([]byte("> "), "s1", &ToolAnswerParams{DispatchID: "c1", Ask: 2, Output: []byte(`{"f": 1.10}`)}),
			`> {"jsonrpc":"2.0","id":"s1","method":"tool.answer","params":{"dispatchId":"c1","ask":2,"output":{"f": 1.10}}}`},
	} {
		if string(c.got) != c.want {
			t.Errorf("the encoded frame differs\n got %s\nwant %s", c.got, c.want)
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 8192)
	params := []byte(`{"dispatchId":"c1","reason":"r"}`)
	dispatchParams := ToolDispatchParams{
		DispatchID: "c-01k7", Plugin: "messages", Tool: "export_messages", TabID: 7, DocumentID: "5C3E0A1B",
		MaxResultBytes: DefaultMaxResultBytes, Args: params,
	}
	toolAnswer := ToolAnswerParams{DispatchID: "c-01k7", Ask: 1, Output: params}
	if n := testing.AllocsPerRun(100, func() {
		buf = AppendRequest(buf[:0], "c-01k7", MethodToolCancel, params)
		buf = AppendNotification(buf, MethodStateSync, params)
		buf = AppendResult(buf, "c-01k7", params)
		buf = AppendDispatch(buf, &dispatchParams)
		buf = AppendAnswer(buf, "s/answer/1/c-01k7", &toolAnswer)
	}); n != 0 {
		t.Errorf("encoding the frames made %v allocations, want 0", n)
	}
}

func TestAppendMatchesGoldenFrames(t *testing.T) {
	testedFrameCount := 0
	for _, g := range goldenBodies(t) {
		v := g.newBody()
		if err := json.Unmarshal(g.body, v); err != nil {
			t.Fatalf("json.Unmarshal(%s) returned the error %v; want no error", g.name, err)
		}
		var got, want []byte
		switch p := v.(type) {
		case *ToolDispatchParams:
			got, want = AppendDispatch(nil, p), AppendRequest(nil, p.DispatchID, MethodToolDispatch, g.body)
		case *ToolAnswerParams:
			got, want = AppendAnswer(nil, "1", p), g.frame
		default:
			continue
		}
		testedFrameCount++
		if !bytes.Equal(got, want) {
			t.Errorf("the golden body %s is encoded differently\n got %s\nwant %s", g.name, got, want)
		}
	}
	if testedFrameCount < 7 {
		t.Errorf("the test encoded %d golden bodies, want at least 7", testedFrameCount)
	}
}

func FuzzAppendDispatch(f *testing.F) {
	f.Add("c1", "messages", "export", 7, "d7", 100, false, false, false, "", `{}`)
	f.Add(`c"1`, "chat<&>", "export\u2028", -7, "d\n7", -1, true, true, true, `{"allow":true}`, `{"n":9007199254740993,"s":"ü"}`)
	f.Add("\xff", "\x7f", "\x00", 0, "", 0, false, true, false, `null`, ``)
	f.Fuzz(func(t *testing.T, id, plugin, tool string, tab int, document string, limit int, isResent, prompt, trace bool, decision, args string) {
		p := ToolDispatchParams{
			DispatchID: id, Plugin: plugin, Tool: tool, TabID: tab, DocumentID: document, MaxResultBytes: limit,
			IsResent: isResent, Prompt: prompt, Trace: trace, Decision: rawJSON(decision), Args: rawJSON(args),
		}
		frame := AppendDispatch(nil, &p)
		if len(p.Args) == 0 {
			p.Args = json.RawMessage(`{}`)
		}
		checkRequest(t, frame, id, MethodToolDispatch, &p)
	})
}

func FuzzAppendAnswer(f *testing.F) {
	f.Add("s/answer/1/c1", "c1", 1, `{"found":3}`, false, "", "")
	f.Add("s\"", "c<1>", -1, ``, true, "denied", "the user denied \u2028 it")
	f.Fuzz(func(t *testing.T, id, dispatchID string, askIndex int, output string, hasError bool, code, message string) {
		p := ToolAnswerParams{DispatchID: dispatchID, Ask: askIndex, Output: rawJSON(output)}
		if hasError {
			p.Error = &CallError{Code: ErrorCode(code), Message: message}
		}
		checkRequest(t, AppendAnswer(nil, id, &p), id, MethodToolAnswer, &p)
	})
}

func rawJSON(jsonText string) json.RawMessage {
	if !json.Valid([]byte(jsonText)) || strings.ToValidUTF8(jsonText, "") != jsonText {
		return nil
	}
	compactJSON, err := json.Marshal(json.RawMessage(jsonText))
	if err != nil {
		return nil
	}
	return compactJSON
}

func checkRequest(t *testing.T, frame []byte, id string, method Method, params any) {
	t.Helper()
	if want := AppendRequest(nil, id, method, EncodeBody(params)); !bytes.Equal(frame, want) {
		t.Fatalf("the encoded frame differs from AppendRequest with EncodeBody\n got %s\nwant %s", frame, want)
	}
	var wantID string
	if err := json.Unmarshal(EncodeBody(id), &wantID); err != nil {
		t.Fatal(err)
	}
	e, err := Parse(frame)
	if err != nil || e.ID != wantID || e.Method != method {
		t.Fatalf("Parse(%s) = %+v, error %v; want ID %q and method %q", frame, e, err, wantID, method)
	}
	decodedParams, reencodedParams := reflect.New(reflect.TypeOf(params).Elem()).Interface(), reflect.New(reflect.TypeOf(params).Elem()).Interface()
	if err := DecodeBody(e.Params, decodedParams); err != nil {
		t.Fatalf("DecodeBody returned the error %v for the frame %s; want no error", err, frame)
	}
	if err := DecodeBody(EncodeBody(decodedParams), reencodedParams); err != nil || !reflect.DeepEqual(decodedParams, reencodedParams) {
		t.Fatalf("encoding and decoding changed the params (error %v)\n got %+v\nwant %+v", err, reencodedParams, decodedParams)
	}
}
