package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"opentabs/internal/alloctest"
)

var fastValidatorCases = []struct {
	schema       string
	acceptedJSON []string
	rejectedJSON []string
}{
	{`{}`, []string{`1`, `-0.5`, `"a"`, `"\u00e9\n"`, `null`, `true`, ` { "a" : [ ] } `, `[1,{"a":{}}]`}, []string{``, ` `, `1 2`, `01`, `1e5`, `[1,]`, `{"a"}`, `{"a":1,}`, `"` + "\n" + `"`, `"\x"`, `tru`, `nul`, `[1`, `{"a":1`, `"a`, `+1`, `.5`, `1.`, `-`}},
	{`true`, []string{`1`}, nil},
	{`false`, nil, []string{`1`}},
	{`{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}},"required":["text"],"additionalProperties":false}`,
		[]string{`{"text":"x"}`, `{"n":-12,"text":""}`, `{"text":"x","text":"y"}`},
		[]string{`{}`, `{"n":1}`, `{"text":1}`, `{"text":"x","more":1}`, `{"text":"x","n":1.5}`, `{"text":"x","n":"1"}`, `[]`, `{"te\u0078t":"x"}`, `{"text":"x","text":1}`}},
	{`{"required":["a","b"],"additionalProperties":{"type":"number"}}`, []string{`{"a":1,"b":2.5}`, `"text"`}, []string{`{"a":1}`, `{"a":1,"b":"2"}`}},
	{`{"type":["string","null"]}`, []string{`"a"`, `null`}, []string{`1`, `false`}},
	{`{"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":2}`, []string{`[true]`, `[true,false]`}, []string{`[]`, `[1]`, `[true,true,true]`}},
	{`{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991}`, []string{`9007199254740991`, `-9007199254740991`, `0`}, []string{`9007199254740992`, `1.0`, `123456789012345678901`}},
	{`{"type":"number","exclusiveMinimum":0,"maximum":10}`, []string{`0.001`, `10`, `10.0`, `5`}, []string{`0`, `0.0`, `10.001`, `10.0000000000000001`}},
	{`{"type":"number","minimum":0.5}`, nil, []string{`1`}},
	{`{"minLength":2,"maxLength":3}`, []string{`"ab"`, `"ééé"`, `5`}, []string{`"a"`, `"éééé"`, `"\u0061b"`}},
	{`{"pattern":"^a+$"}`, []string{`"aaa"`}, []string{`"b"`, `""`}},
	{`{"pattern":"^(?=a)"}`, nil, []string{`"a"`}},
	{`{"format":"email"}`, []string{`"a@example.com"`}, []string{`"a"`}},
	{`{"enum":["a","b",1,null,true]}`, []string{`"a"`, `1`, `null`, `true`}, []string{`"c"`, `1.0`, `false`, `{}`}},
	{`{"enum":["a\\u0041"]}`, nil, []string{`"a\u0041"`, `"a\\u0041"`}},
	{`{"const":"x"}`, []string{`"x"`}, []string{`"y"`}},
	{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, []string{`"x"`, `1`}, []string{`1.5`, `[]`}},
	{`{"type":"integer","anyOf":[{"minimum":5},{"maximum":2}]}`, []string{`6`, `1`}, []string{`3`, `"x"`}},
	{`{"allOf":[{"required":["a"]},{"required":["b"]}]}`, []string{`{"a":1,"b":2}`}, []string{`{"a":1}`}},
	{`{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"next":{"$ref":"#/$defs/node"}},"additionalProperties":false}}}`,
		[]string{`{}`, `{"next":{"next":{}}}`}, []string{`{"next":1}`, strings.Repeat(`{"next":`, 100) + `{}` + strings.Repeat(`}`, 100)}},
	{`{"$ref":"#"}`, nil, []string{`1`}},
	{`{"propertyNames":{"type":"string"},"additionalProperties":{"type":"integer"}}`, []string{`{"a":1}`}, []string{`{"a":"x"}`}},
	{`{"propertyNames":{"maxLength":2}}`, []string{`{"ab":1}`}, []string{`{"abc":1}`}},
	{`{"properties":{"a":{"oneOf":[{"type":"string"}]}}}`, []string{`{"b":1}`}, []string{`{"a":"x"}`}},
	{`{"uniqueItems":true}`, nil, []string{`[1]`}},
	{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, []string{`2`}, []string{`1`}},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","items":{"type":"string"}}`, []string{`["a"]`}, []string{`[1]`}},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}]}`, nil, []string{`[1]`}},
}

func TestFastValidator(t *testing.T) {
	for _, c := range fastValidatorCases {
		var v Validator
		for _, jsonText := range c.acceptedJSON {
			if !v.accepts(json.RawMessage(c.schema), []byte(jsonText)) {
				t.Errorf("the validator for the schema %s rejects %s; want it accepted", c.schema, jsonText)
			}
			checkFastValidator(t, c.schema, jsonText)
		}
		for _, jsonText := range c.rejectedJSON {
			if v.accepts(json.RawMessage(c.schema), []byte(jsonText)) {
				t.Errorf("the validator for the schema %s accepts %s; want it rejected", c.schema, jsonText)
			}
		}
	}
}

func TestFastValidatorRejectsHugeNumbers(t *testing.T) {
	var v Validator
	for _, jsonText := range []string{strings.Repeat("1", 1001), `[[1e9999]]`, `{"a":1E5}`} {
		if v.accepts(json.RawMessage(`{}`), []byte(jsonText)) {
			t.Errorf("the validator for the schema {} accepts %.20s; want it rejected", jsonText)
		}
	}
}

// The test fails if a new version of the jsonschema library adds a keyword, because a fastValidator that ignores the
// keyword would accept invalid values.
func TestFastValidatorHandlesAllKeywords(t *testing.T) {
	handledKeywords := strings.Fields(`Bool Ref Types Enum Const AllOf AnyOf Format Required PropertyNames Properties AdditionalProperties
		MinItems MaxItems Items Items2020 MinLength MaxLength Pattern Maximum Minimum ExclusiveMaximum ExclusiveMinimum
		DraftVersion Location ID Anchor RecursiveAnchor DynamicAnchor Title Description Default Comment ReadOnly WriteOnly Examples Deprecated`)
	fields := reflect.VisibleFields(reflect.TypeFor[jsonschema.Schema]())
	for _, f := range fields {
		if !f.IsExported() || slices.Contains(handledKeywords, f.Name) {
			continue
		}
		s := &jsonschema.Schema{}
		setField(t, reflect.ValueOf(s).Elem().FieldByIndex(f.Index), f.Name)
		if newFastValidator(s, map[*jsonschema.Schema]*fastValidator{}).kinds != 0 {
			t.Errorf("newFastValidator supports a schema with the field %s; want no fast validator for an unsupported keyword", f.Name)
		}
	}
}

func setField(t *testing.T, field reflect.Value, name string) {
	t.Helper()
	switch field.Kind() {
	case reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
	case reflect.Slice:
		field.Set(reflect.MakeSlice(field.Type(), 1, 1))
	case reflect.Map:
		field.Set(reflect.MakeMap(field.Type()))
	case reflect.Bool:
		field.SetBool(true)
	case reflect.Interface:
		field.Set(reflect.ValueOf(false))
	default:
		t.Errorf("field %s has the kind %s, want a kind that setField supports; extend setField", name, field.Kind())
	}
}

func checkFastValidator(t *testing.T, schema, jsonText string) {
	t.Helper()
	var v Validator
	if !v.accepts(json.RawMessage(schema), []byte(jsonText)) {
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(jsonText)))
	if err != nil {
		t.Fatalf("the fast validator accepts %q; want valid JSON", jsonText)
	}
	if isTooDeep(value, maxDepth) || checkNumbers(value) != "" {
		t.Fatalf("the fast validator accepts %q; want it rejected, because it is too large", jsonText)
	}
	if violations, err := v.violationTexts(json.RawMessage(schema), value); err != nil || len(violations) > 0 {
		t.Fatalf("schema %s: the fast validator accepts %q, but the library reports %v, error %v; want no violation", schema, jsonText, violations, err)
	}
}

func FuzzFastValidator(f *testing.F) {
	for _, c := range fastValidatorCases {
		for _, jsonText := range slices.Concat(c.acceptedJSON, c.rejectedJSON) {
			f.Add(c.schema, jsonText)
		}
	}
	f.Add(exportInput, `{"channelId":"C1","limit":5,"labels":["a"],"format":"json","target":{"kind":"mail","to":"x"}}`)
	f.Fuzz(func(t *testing.T, schema, jsonText string) { checkFastValidator(t, schema, jsonText) })
}

func TestValidArgumentsAllocateNothing(t *testing.T) {
	schema := json.RawMessage(fastValidatorCases[3].schema)
	var v Validator
	jsonText := json.RawMessage(`{"n":-12,"text":"some text"}`)
	subject := Subject{Plugin: "p", Name: "t"}
	alloctest.Check(t, "the check of arguments", 0, 0, func() {
		if v.CheckArguments(subject, schema, jsonText) != nil || v.CheckResult(schema, jsonText) != nil {
			t.Error("the validator rejects valid arguments or a valid result; want both accepted")
		}
	})
}

func BenchmarkCheckResult(b *testing.B) {
	schema := json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"},"n":{"type":"integer"}},"required":["id","text","n"],"additionalProperties":false}}}}`)
	jsonItem := `{"id":"0123456789","text":"a message with \"quotes\" and more words","n":123},`
	jsonText := json.RawMessage(`{"items":[` + strings.TrimSuffix(strings.Repeat(jsonItem, 1<<20/len(jsonItem)), ",") + `]}`)
	var v Validator
	benchmarkCheck := func(b *testing.B, usesFastValidator bool) {
		if v.Compile(schema) != nil {
			b.Fatal(v.err)
		}
		if !usesFastValidator {
			savedFastValidator := v.fastValidator
			v.fastValidator = rejectAllValidator
			defer func() { v.fastValidator = savedFastValidator }()
		}
		b.SetBytes(int64(len(jsonText)))
		for b.Loop() {
			if err := v.CheckResult(schema, jsonText); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("acceptor", func(b *testing.B) { benchmarkCheck(b, true) })
	b.Run("library", func(b *testing.B) { benchmarkCheck(b, false) })
}
