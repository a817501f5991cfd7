package transport

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRequestKey(t *testing.T) {
	sameKey := func(a, b string) bool {
		ka, oka := requestKey(json.RawMessage(a))
		kb, okb := requestKey(json.RawMessage(b))
		return oka && okb && ka == kb
	}
	for _, pair := range [][2]string{{`1`, `1`}, {`"a"`, `"\u0061"`}, {`-1`, `-1`}, {`""`, `""`}, {`9007199254740993`, `9007199254740993`}} {
		if !sameKey(pair[0], pair[1]) {
			t.Errorf("%s and %s should be one id", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{`1`, `"1"`}, {`9007199254740992`, `9007199254740993`}, {`"n1"`, `1`}, {`"a"`, `"b"`}} {
		if sameKey(pair[0], pair[1]) {
			t.Errorf("%s and %s should be two ids", pair[0], pair[1])
		}
	}
	for _, bad := range []string{``, `null`, `true`, `{}`, `[1]`} {
		if k, ok := requestKey(json.RawMessage(bad)); ok {
			t.Errorf("%s is no id, but got the key %q", bad, k)
		}
	}
}

func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messages__echo","arguments":{"a":1},"_meta":{"progressToken":"t"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`,
		`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`,
		`[]`, `{"id":null}`, `{"id":{},"method":"tools/call","params":{"_meta":[]}}`, `{nonsense`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, ok := parseMessage(b)
		if !ok {
			if code, text := invalidMessageText(b); code == 0 || text == "" {
				t.Fatal("the message was rejected without a reason")
			}
			return
		}
		p, _ := parseParams(m.Params)
		if token := p.Token(); token != nil && !json.Valid(token) {
			t.Fatalf("the notification is invalid with the token %s", token)
		}
		if key, ok := requestKey(m.ID); ok && len(key) == 0 {
			t.Fatal("the request has an empty key")
		}
		if m.isRequest() && !json.Valid(rpcError(m.ID, 1, "text")) {
			t.Fatalf("the answer is invalid with the ID %s", m.ID)
		}
	})
}

func TestIDsOfLargeRequests(t *testing.T) {
	for text, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"`: `7`,
		`{"params":{"id":1},"id":"a\u0062","method":"x","para`: `"a\u0062"`,
		`{"params":{"id":1,"a":"`:                              ``,
		`{"id":{},"a":"`:                                       ``,
		`{"id":12`:                                             ``, // the number may be the beginning of 123
		`[{"id":1}]`:                                           ``,
		``:                                                     ``,
		`{"a":"` + strings.Repeat("x", idSearchBytes) + `","id":1,"b"`: ``,
	} {
		if got := string(idAtStart([]byte(text))); got != want {
			t.Errorf("%.60s begins with the id %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`x"},"jsonrpc":"2.0","id":-7}`:  `-7`,
		`x"} , "id" : "a\"b" } ` + "\n": `"a\"b"`,
		`x","id":7}}`:                   ``,
		`x"},"id":7,"jsonrpc":"2.0"}`:   ``,
		`"x,\"id":7}`:                   ``,
		`{"id":null}`:                   ``,
		`{"id":1e2}`:                    ``,
	} {
		if got := string(idAtEnd([]byte(text))); got != want {
			t.Errorf("%s ends with the id %s, want %s", text, got, want)
		}
	}
}
