package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"opentabs/internal/lazyregexp"
	"opentabs/internal/plaintext"
)

const (
	schemaURL = "opentabs:///schema"
	// maxCompileErrorChars is the maximum length of a schema compiler's error text, in
	// characters.
	maxCompileErrorChars = 300
	// renamedFormatKeyword replaces the keyword "format" in schemas that also have a "pattern" (preferPatternsOverFormats).
	renamedFormatKeyword = "opentabs/format"
)

// Validator checks values against one JSON Schema. The zero Validator is ready to use. The first call of a method
// compiles the schema; all later calls must pass an equal schema.
type Validator struct {
	once           sync.Once // the field once guards the fields below, which compile sets
	schema         *jsonschema.Schema
	fastValidator  *fastValidator
	schemaDocument any // schemaDocument is the decoded schema; error texts list the allowed values from the schema
	err            error
}

// Compile compiles the schema, unless an earlier call has compiled it. If the schema is
// invalid, Compile returns an error. Compiling a schema takes about 0.3 ms.
func (v *Validator) Compile(schema json.RawMessage) error {
	v.once.Do(func() { v.compile(schema) })
	return v.err
}

func (v *Validator) violationTexts(schema json.RawMessage, value any) ([]string, error) {
	if err := v.Compile(schema); err != nil {
		return nil, err
	}
	err := v.schema.Validate(value)
	if err == nil {
		return nil, nil
	}
	var validationErr *jsonschema.ValidationError
	if !errors.As(err, &validationErr) {
		return nil, err
	}
	return explainViolations(validationErr, v.schemaDocument, value), nil
}

func (v *Validator) compile(schema json.RawMessage) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		v.err = err
		return
	}
	if problemText := checkNumbers(document); problemText != "" {
		v.err = errors.New(problemText)
		return
	}
	preferPatternsOverFormats(document)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "uri", Validate: checkURI})
	c.UseRegexpEngine(compilePattern)
	c.UseLoader(rejectingLoader{})
	if v.err = c.AddResource(schemaURL, document); v.err != nil {
		return
	}
	v.schemaDocument = document
	if v.schema, v.err = c.Compile(schemaURL); v.err == nil {
		v.fastValidator = newFastValidator(v.schema, map[*jsonschema.Schema]*fastValidator{})
	}
}

func (v *Validator) accepts(schema, valueJSON json.RawMessage) bool {
	return v.Compile(schema) == nil && v.fastValidator.acceptsDocument(valueJSON)
}

// CompileProblem returns the quoted text of an error of [Validator.Compile], without the
// internal URL of the schema.
func CompileProblem(err error) string {
	errorMessage := strings.NewReplacer(schemaURL+"#", "#", schemaURL, "#").Replace(err.Error())
	return fmt.Sprintf("%q", plaintext.Line(errorMessage, maxCompileErrorChars))
}

// rejectingLoader rejects every reference from a schema to a file or URL.
type rejectingLoader struct{}

func (rejectingLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema may refer only to itself, not to %s", url)
}

// For one check in the author's code, schema generators write a "format" and a "pattern", but the check tests only the
// pattern. The format in a schema can be stricter than the pattern. For example, the format "time" requires a time zone
// in JSON Schema, but not in zod.
func preferPatternsOverFormats(document any) {
	schema, ok := document.(map[string]any)
	if !ok {
		return
	}
	if _, ok := schema["pattern"].(string); ok && schema["format"] != nil {
		schema[renamedFormatKeyword] = schema["format"]
		delete(schema, "format")
	}
	for _, key := range schemaMapKeywords {
		if m, ok := schema[key].(map[string]any); ok {
			for _, subschema := range m {
				preferPatternsOverFormats(subschema)
			}
		}
	}
	for _, key := range schemaListKeywords {
		if subschemas, ok := schema[key].([]any); ok {
			for _, subschema := range subschemas {
				preferPatternsOverFormats(subschema)
			}
		}
	}
	for _, key := range schemaKeywords {
		preferPatternsOverFormats(schema[key])
	}
}

var uriScheme = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*$`)

// checkURI accepts any URI that has a scheme, because browsers parse more URLs than RFC
// 3986 allows.
func checkURI(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	scheme, _, ok := strings.Cut(strings.TrimSpace(s), ":")
	if !ok || !uriScheme().MatchString(scheme) {
		return errors.New("the URI has no scheme such as https")
	}
	return nil
}
