package relay

import (
	"reflect"
	"testing"
)

func TestParseMessage(t *testing.T) {
	for line, want := range map[string]rpcMessage{
		`{"jsonrpc":"2.0","id":1,"method":"a"}`:                  {requests: []string{"1"}, method: "a"},
		`{"method":"a","params":{"id":9,"method":"x"},"id":"q"}`: {requests: []string{`"q"`}, method: "a"},
		`{"method":"n"}`:           {method: "n"},
		`{"id":null,"method":"n"}`: {method: "n"},
		`{"jsonrpc":"2.0","id":"1","result":{"method":"x"}}`:          {responseLines: []string{`"1"`}},
		`{"result":{"id":5},"id":7}`:                                  {responseLines: []string{"7"}},
		`{"id":7,"error":{"code":1}}`:                                 {responseLines: []string{"7"}},
		`{"id":7,"result":{"truncated": `:                             {responseLines: []string{"7"}},
		` [{"id":1,"method":"a"},{"method":"n"},{"id":2,"result":1}]`: {requests: []string{"1"}, responseLines: []string{"2"}},
		`[{"id":1`:             {},
		`nonsense`:             {},
		``:                     {},
		`5`:                    {},
		`{"id":1,"method":5}`:  {},
		`{"id":1,"method":"a"`: {requests: []string{"1"}, method: "a"},
	} {
		if got := parseMessage([]byte(line)); !reflect.DeepEqual(got, want) {
			t.Errorf("parseMessage(%s) = %+v, want %+v", line, got, want)
		}
	}
}

func TestMessageExpectsAnswer(t *testing.T) {
	for line, want := range map[string]bool{
		`{"id":1,"method":"a"}`:  true,
		`nonsense`:               true,
		`{"method":"n"}`:         false,
		`{"id":1,"result":null}`: false,
	} {
		if got := parseMessage([]byte(line)).expectsAnswer(); got != want {
			t.Errorf("expectsAnswer of %s = %v; want %v", line, got, want)
		}
	}
}

func TestErrorLine(t *testing.T) {
	want := `{"jsonrpc":"2.0","id":"a\"b","error":{"code":-32000,"message":"spell \"why\""}}` + "\n"
	if got := string(errorLine(`"a\"b"`, `spell "why"`)); got != want {
		t.Errorf("errorLine = %s; want %v", got, want)
	}
}

func FuzzParseMessage(f *testing.F) {
	for _, seed := range []string{`{"id":1,"method":"a"}`, `[{"id":1}]`, `{`, ``, `{"id":1,"result":`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		l := parseMessage(line)
		if l.expectsAnswer() && len(l.responseLines) > 0 && len(l.requests) == 0 {
			t.Errorf("expectsAnswer of the response %q = true, want false", line)
		}
	})
}
