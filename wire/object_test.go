package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestSplitObject(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{}`, ""},
		{" {\n} \t", ""},
		{`{"a":1}`, "a=1;"},
		{` { "a" : 1 , "b" : [1,{"c":"}"}] , "d":"x\"y\\" } `, `a=1;b=[1,{"c":"}"}];d="x\"y\\";`},
		{`{"a":null,"A":true,"":-1.5e3}`, "a=null;A=true;=-1.5e3;"},
		{`{"a\"b":{}}`, `a\"b={};`},
		{``, "! not an object"},
		{`[]`, "! not an object"},
		{`null`, "! not an object"},
		{`{`, "! a member without a key"},
		{`{"a":1`, `! the member "a" has no value`},
		{`{"a":{}`, "! the object is not closed"},
		{`{"a"}`, `! the member "a" has no value`},
		{`{"a":}`, `! the member "a" has no value`},
		{`{"a":,"b":1}`, `! the member "a" has no value`},
		{`{"a":"x}`, `! the member "a" has no value`},
		{`{"a":"x\`, `! the member "a" has no value`},
		{`{"a":[}`, "! the object is not closed"},
		{`{a:1}`, "! a member without a key"},
		{`{"a":1,}`, "! a member without a key"},
		{`{"a":1 "b":2}`, "! the object is not closed"},
		{`{"a":1}x`, "! unexpected text after the object"},
		{`{"a":1}{}`, "! unexpected text after the object"},
		{`{"a":1,"b":2,"a":3}`, `! duplicate member "a"`},
	}
	for _, tt := range tests {
		var b strings.Builder
		err := splitObject([]byte(tt.in), func(key, value []byte) error {
			fmt.Fprintf(&b, "%s=%s;", key, value)
			return nil
		})
		got := b.String()
		if err != nil {
			got = "! " + err.Error()
		}
		if got != tt.want {
			t.Errorf("splitObject(%s) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestSplitObjectLimitsMembers(t *testing.T) {
	var b strings.Builder
	for i := range maxMembers + 1 {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	if err := splitObject([]byte("{"+b.String()[1:]+"}"), func(_, _ []byte) error { return nil }); err == nil {
		t.Errorf("an object with %d members was accepted", maxMembers+1)
	}
}

func TestSplitObjectStopsAtError(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	err := splitObject([]byte(`{"a":1,"b":2}`), func(_, _ []byte) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("err = %v after %d members, want stop after 1", err, n)
	}
}

func TestParseRejectsInjectedMembers(t *testing.T) {
	for _, jsonText := range []string{
		`1},"id":"call_other","result":{"output":2`,
		`1},"result":{"output":2`,
		`1},"id":"call_other","x":{"y":2`,
		`1},"method":"call.cancel","params":{"callId":"call_other"`,
	} {
		frame := `{"jsonrpc":"2.0","id":"call_mine","result":{"output":` + jsonText + `}}`
		if !json.Valid([]byte(frame)) {
			t.Fatalf("the frame must be valid JSON to prove anything: %s", frame)
		}
		if e, err := Parse([]byte(frame)); err == nil {
			t.Errorf("Parse(%s) = %+v, want an error", frame, e)
		}
	}
}

// encoding/json would decode the member "ID" as "id", but Parse ignores it.
func TestParseMatchesKeysExactly(t *testing.T) {
	e, err := Parse([]byte(`{"jsonrpc":"2.0","id":"mine","ID":"other","result":{}}`))
	if err != nil || e.ID != "mine" {
		t.Errorf("id = %q, err = %v, want mine", e.ID, err)
	}
}

func FuzzSplitObject(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"a":[1,{"b":"}"}],"c":"\\\""}`, ` {"a" : null } `, `{"a":1,"a":2}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := map[string]json.RawMessage{}
		valid := true
		err := splitObject(b, func(key, value []byte) error {
			var k string
			if json.Unmarshal([]byte(`"`+string(key)+`"`), &k) != nil || !json.Valid(value) {
				valid = false
			}
			got[k] = value
			return nil
		})
		var want map[string]json.RawMessage
		if json.Unmarshal(b, &want) != nil || want == nil {
			if err == nil && valid {
				t.Fatalf("splitObject accepts %q, package json rejects it", b)
			}
			return
		}
		if err != nil {
			if strings.Contains(err.Error(), "duplicate") || strings.Contains(err.Error(), "more than") {
				return
			}
			t.Fatalf("splitObject(%q): %v", b, err)
		}
		for k, v := range want {
			if string(got[k]) != string(v) {
				t.Fatalf("%q: %s = %s, want %s", b, k, got[k], v)
			}
		}
	})
}
