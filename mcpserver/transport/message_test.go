package transport

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"opentabs/internal/alloctest"
)

func TestRequestKey(t *testing.T) {
	haveSameKey := func(a, b string) bool {
		ka, oka := requestKey(json.RawMessage(a))
		kb, okb := requestKey(json.RawMessage(b))
		return oka && okb && ka == kb
	}
	for _, pair := range [][2]string{{`1`, `1`}, {`"a"`, `"\u0061"`}, {`-1`, `-1`}, {`""`, `""`}, {`9007199254740993`, `9007199254740993`}} {
		if !haveSameKey(pair[0], pair[1]) {
			t.Errorf("IDs %s and %s have different keys; want the same key", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{`1`, `"1"`}, {`9007199254740992`, `9007199254740993`}, {`"n1"`, `1`}, {`"a"`, `"b"`}} {
		if haveSameKey(pair[0], pair[1]) {
			t.Errorf("IDs %s and %s have the same key; want different keys", pair[0], pair[1])
		}
	}
	for _, invalidID := range []string{``, `null`, `true`, `{}`, `[1]`} {
		if k, ok := requestKey(json.RawMessage(invalidID)); ok {
			t.Errorf("requestKey accepted the invalid ID %s with the key %q; want an error", invalidID, k)
		}
	}
}

func checkSplit(t *testing.T, b []byte, m rpcMessage) {
	t.Helper()
	var want rpcMessage
	if !utf8.Valid(b) || json.Unmarshal(b, &want) != nil || want.Method == "" && want.Result == nil && want.Error == nil {
		want = rpcMessage{}
	}
	if !reflect.DeepEqual(m, want) {
		t.Fatalf("message parsed from %s = %+v, want %+v", b, m, want)
	}
	if m.Params == nil {
		return
	}
	var wantParams Params
	wantErr := json.Unmarshal(m.Params, &wantParams)
	if p, err := parseParams(m.Params); !reflect.DeepEqual(p, wantParams) || !reflect.DeepEqual(err, wantErr) {
		t.Fatalf("params parsed from %s = %+v, error %v; want %+v, error %v", m.Params, p, err, wantParams, wantErr)
	}
}

// TestParseAllocations checks that parsing a tools/call copies only the name of the tool.
func TestParseAllocations(t *testing.T) {
	messageJSON := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messages__echo","arguments":{"a":1},"_meta":{"progressToken":"t"}}}`)
	alloctest.Check(t, "parsing a tools/call", 1, 0, func() {
		m, ok := parseMessage(messageJSON)
		if p, err := parseParams(m.Params); !ok || err != nil || p.Name != "messages__echo" {
			t.Error("the params were not parsed; want the name messages__echo")
		}
	})
}

func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messages__echo","arguments":{"a":1},"_meta":{"progressToken":"t"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`,
		`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`,
		`{"Jsonrpc":"2.0","id":1,"id":2,"method":"tools\/call","p\u0061rams":{},"params":null,"PARAMS":{"name":null,"Name":"a","uri":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b","_meta":{"progressToken":1},"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		` { "jsonrpc" : "2.0" , "result" : null , "error" : null , "more" : [ ] , "method" : null } `, `{"method":"a","params":{"_META":{"PROGRESSTOKEN":1},"_meta":null}}`,
		`[]`, `{"id":null}`, `{"id":{},"method":"tools/call","params":{"_meta":[]}}`, `{nonsense`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, ok := parseMessage(b)
		checkSplit(t, b, m)
		if !ok {
			if code, errorText := invalidMessageText(b); code == 0 || errorText == "" {
				t.Fatal("invalidMessageText of a rejected message is empty; want an error code and a reason")
			}
			return
		}
		p, _ := parseParams(m.Params)
		if token := p.Token(); token != nil && !json.Valid(token) {
			t.Fatalf("progress token %s is not JSON; want valid JSON", token)
		}
		if key, ok := requestKey(m.ID); ok && len(key) == 0 {
			t.Fatal("requestKey of the message's ID is empty; want a key")
		}
		if m.isRequest() && !json.Valid(rpcError(m.ID, 1, "text")) {
			t.Fatalf("error answer with the ID %s is not JSON; want valid JSON", m.ID)
		}
	})
}

func TestFindIDInLargeRequest(t *testing.T) {
	for messageJSON, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"`: `7`,
		`{"params":{"id":1},"id":"a\u0062","method":"x","para`: `"a\u0062"`,
		`{"params":{"id":1,"a":"`:                              ``,
		`{"id":{},"a":"`:                                       ``,
		`{"id":12`:                                             ``, // the number may be the beginning of 123
		`[{"id":1}]`:                                           ``,
		``:                                                     ``,
		`{"a":"` + strings.Repeat("x", idSearchBytes) + `","id":1,"b"`: ``,
	} {
		if got := string(findIDAtStart([]byte(messageJSON))); got != want {
			t.Errorf("findIDAtStart(%.60s) = %s, want %s", messageJSON, got, want)
		}
	}
	for messageJSON, want := range map[string]string{
		`x"},"jsonrpc":"2.0","id":-7}`:  `-7`,
		`x"} , "id" : "a\"b" } ` + "\n": `"a\"b"`,
		`x","id":7}}`:                   ``,
		`x"},"id":7,"jsonrpc":"2.0"}`:   ``,
		`"x,\"id":7}`:                   ``,
		`{"id":null}`:                   ``,
		`{"id":1e2}`:                    ``,
	} {
		if got := string(findIDAtEnd([]byte(messageJSON))); got != want {
			t.Errorf("findIDAtEnd(%s) = %s, want %s", messageJSON, got, want)
		}
	}
}
