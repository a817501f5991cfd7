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
	for i := range maxObjectMembers + 1 {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	if err := splitObject([]byte("{"+b.String()[1:]+"}"), func(_, _ []byte) error { return nil }); err == nil {
		t.Errorf("splitObject accepts an object with %d members, want an error", maxObjectMembers+1)
	}
}

func TestSplitObjectStopsAtError(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	err := splitObject([]byte(`{"a":1,"b":2}`), func(_, _ []byte) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("splitObject returned the error %v after %d members, want the error %v after 1 member", err, n, stop)
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
			t.Fatalf("the test's frame %s is not valid JSON, want valid JSON with a duplicate member", frame)
		}
		if e, err := Parse([]byte(frame)); err == nil {
			t.Errorf("Parse(%s) = %+v, want an error", frame, e)
		}
	}
}

// Package encoding/json would decode the member "ID" as "id", but Parse ignores a member "ID".
func TestParseMatchesKeysExactly(t *testing.T) {
	e, err := Parse([]byte(`{"jsonrpc":"2.0","id":"mine","ID":"other","result":{}}`))
	if err != nil || e.ID != "mine" {
		t.Errorf("Parse returned the ID %q with the error %v; want the ID \"mine\" and no error", e.ID, err)
	}
}

func FuzzSplitObject(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"a":[1,{"b":"}"}],"c":"\\\""}`, ` {"a" : null } `, `{"a":1,"a":2}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := map[string]json.RawMessage{}
		allValid := true
		err := splitObject(b, func(key, value []byte) error {
			var k string
			if json.Unmarshal([]byte(`"`+string(key)+`"`), &k) != nil || !json.Valid(value) {
				allValid = false
			}
			got[k] = value
			return nil
		})
		var want map[string]json.RawMessage
		if json.Unmarshal(b, &want) != nil || want == nil {
			if err == nil && allValid {
				t.Fatalf("splitObject accepts %q, want an error as from package json", b)
			}
			return
		}
		if err != nil {
			if strings.Contains(err.Error(), "duplicate") || strings.Contains(err.Error(), "more than") {
				return
			}
			t.Fatalf("splitObject(%q) returned the error %v; want no error", b, err)
		}
		for k, v := range want {
			if string(got[k]) != string(v) {
				t.Fatalf("splitObject(%q): member %q = %s, want %s", b, k, got[k], v)
			}
		}
	})
}
