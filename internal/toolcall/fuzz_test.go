package toolcall

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"opentabs/internal/mcpclient"
	"opentabs/internal/usererr"
)

// FuzzArguments checks that any arguments on the command line become a JSON object with
// exactly these arguments, or a [usererr.Error].
func FuzzArguments(f *testing.F) {
	const schema = `{"type":"object","additionalProperties":false,"properties":{"text":{"type":"string"},"count":{"type":"integer"},
		"tags":{"type":"array","items":{"type":"string"}},"maybe":{"anyOf":[{"type":"number"},{"type":"null"}]},"any":{},
		"self":{"$ref":"#/$defs/self"}},"$defs":{"self":{"anyOf":[{"$ref":"#/$defs/self"},{"const":1}]}}}`
	for _, pair := range []string{"text=12", "count=9007199254740993", "tags=a", "tags=[1,2]", "maybe=null", "any={}", "self=1", "=", "text", "text=\xff", "count=1e999"} {
		f.Add(schema, pair, "tags=b", `{"a": 1}`)
	}
	f.Add(`{"properties":{"a":null,"b":true}}`, "a=1", "b=2", "[]")
	f.Add("", "a=1", "a=2", `{"a":1,"a":2}`)
	f.Fuzz(func(t *testing.T, schema, firstPair, secondPair, argumentsJSON string) {
		a := newArgumentParser(mcpclient.Tool{Name: "t", InputSchema: json.RawMessage(schema)})
		givenNames := map[string]bool{}
		for _, pair := range []string{firstPair, secondPair} {
			name, _, _ := strings.Cut(pair, "=")
			givenNames[name] = true
		}
		args, err := a.parse([]string{firstPair, secondPair})
		checkArguments(t, args, err)
		if err == nil && !maps.Equal(givenNames, argumentNames(args)) {
			t.Fatalf("parse of %q and %q returned the arguments %v, want exactly the given names", firstPair, secondPair, argumentNames(args))
		}
		if strings.HasPrefix(argumentsJSON, "@") { // text after @ is a path, and the fuzzer must not read files
			return
		}
		args, err = readInput(argumentsJSON, strings.NewReader(firstPair))
		checkArguments(t, args, err)
		if err == nil {
			err = a.addTargetArguments(args, "b", 7)
			checkArguments(t, args, err)
		}
	})
}

func argumentNames(args map[string]json.RawMessage) map[string]bool {
	keys := map[string]bool{}
	for key := range args {
		keys[key] = true
	}
	return keys
}

func checkArguments(t *testing.T, args map[string]json.RawMessage, err error) {
	t.Helper()
	if err != nil {
		var userErr *usererr.Error
		if !errors.As(err, &userErr) {
			t.Fatalf("parse returned the error %v, want a user error", err)
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !json.Valid(args[name]) {
			t.Fatalf("argument %q = %q, want valid JSON", name, args[name])
		}
	}
}
