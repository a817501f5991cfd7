package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"opentabs/dispatch"
	"opentabs/wire"
)

// schemaURL is what a tool's schema is called while it is compiled.
const schemaURL = "opentabs:///schema"

// validator compiles one of a tool's schemas when it is first needed: most tools
// are never called.
type validator struct {
	once   sync.Once
	schema *jsonschema.Schema
	doc    any // the decoded schema, to say what is allowed
	err    error
}

// Validate checks a call's arguments, a JSON object; nothing at all stands for
// an empty one. It returns nil or a *dispatch.Error: invalid_arguments, whose
// text lists every violation, or internal if the tool's schema is broken.
func (t *Tool) Validate(args json.RawMessage) error {
	c := checker{name: t.FullName(), plugin: t.Plugin, again: "call the tool again"}
	value, err := c.decode(args)
	if err != nil {
		return err
	}
	return c.check(&t.arguments, t.InputSchema, value)
}

// checker checks the arguments of one tool or prompt; its errors are
// *dispatch.Errors.
type checker struct {
	// name is the full name, again what to do when the arguments are right.
	name, again string
	plugin      *Plugin
}

// decode returns the arguments' members.
func (c checker) decode(args json.RawMessage) (map[string]any, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return nil, c.invalid([]string{"the arguments are not valid JSON: " + err.Error()})
	}
	members, ok := value.(map[string]any)
	if !ok {
		return nil, c.invalid([]string{"the arguments are " + kindOf(args) + "; they have to be an object"})
	}
	return members, nil
}

// check returns nil if the schema allows the arguments.
func (c checker) check(v *validator, schema json.RawMessage, args map[string]any) error {
	if tooDeep(args, maxDepth) {
		return c.invalid([]string{fmt.Sprintf("the arguments are nested more than %d levels deep; flatten them", maxDepth)})
	}
	if problem := checkNumbers(args); problem != "" {
		return c.invalid([]string{problem})
	}
	found, err := v.violations(schema, args)
	switch {
	case err != nil:
		return c.broken(err)
	case len(found) > 0:
		return c.invalid(found)
	}
	return nil
}

// prepare compiles the schema if that was not done; an error means that it is
// broken.
func (v *validator) prepare(schema json.RawMessage) error {
	v.once.Do(func() { v.compile(schema) })
	return v.err
}

// violations says what in value the schema does not allow. An error means that
// the schema is broken.
func (v *validator) violations(schema json.RawMessage, value any) ([]string, error) {
	if err := v.prepare(schema); err != nil {
		return nil, err
	}
	err := v.schema.Validate(value)
	if err == nil {
		return nil, nil
	}
	var found *jsonschema.ValidationError
	if !errors.As(err, &found) {
		return nil, err
	}
	return explain(found, v.doc, value), nil
}

// invalid returns the error for arguments with these violations.
func (c checker) invalid(violations []string) *dispatch.Error {
	var b strings.Builder
	fmt.Fprintf(&b, "invalid arguments for %s:", c.name)
	for _, v := range violations {
		b.WriteString("\n- ")
		b.WriteString(v)
	}
	fmt.Fprintf(&b, "\nNothing was run. Correct the arguments and %s.", c.again)
	return &dispatch.Error{Code: wire.ErrInvalidArguments, Message: b.String()}
}

// broken returns the error for a schema that cannot be used.
func (c checker) broken(err error) *dispatch.Error {
	return &dispatch.Error{Code: wire.ErrInternal, Message: fmt.Sprintf(
		"the input schema of %s cannot be used, so its arguments cannot be checked and nothing was run: %v. Report it to the author of plugin %s (%s).",
		c.name, err, c.plugin.Name, c.plugin.Version)}
}

// compile compiles the schema.
func (v *validator) compile(schema json.RawMessage) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		v.err = err
		return
	}
	if problem := checkNumbers(doc); problem != "" {
		v.err = errors.New(problem)
		return
	}
	preferPatterns(doc)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "uri", Validate: checkURI})
	c.UseRegexpEngine(compilePattern)
	c.UseLoader(noLoader{})
	if v.err = c.AddResource(schemaURL, doc); v.err != nil {
		return
	}
	v.doc = doc
	v.schema, v.err = c.Compile(schemaURL)
}

// namedFormat is where the format of a text with a pattern is kept for errors.
const namedFormat = "opentabs/format"

// noLoader keeps schemas from reaching files and the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema may refer only to itself, not to %s", url)
}

// preferPatterns moves "format" out of the way, to namedFormat, where a
// "pattern" stands beside it. Schema generators write both for one check; the
// pattern is what the author's code tests, while the format can be stricter (a
// time needs a zone in JSON Schema, but not in zod).
func preferPatterns(doc any) {
	schema, ok := doc.(map[string]any)
	if !ok {
		return
	}
	if _, ok := schema["pattern"].(string); ok && schema["format"] != nil {
		schema[namedFormat] = schema["format"]
		delete(schema, "format")
	}
	for _, key := range schemaMapKeywords {
		if m, ok := schema[key].(map[string]any); ok {
			for _, sub := range m {
				preferPatterns(sub)
			}
		}
	}
	for _, key := range schemaListKeywords {
		if list, ok := schema[key].([]any); ok {
			for _, sub := range list {
				preferPatterns(sub)
			}
		}
	}
	for _, key := range schemaKeywords {
		preferPatterns(schema[key])
	}
}

// checkURI takes what a browser's URL parser may take: text with a scheme.
func checkURI(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	scheme, _, ok := strings.Cut(strings.TrimSpace(s), ":")
	if !ok || !uriScheme.MatchString(scheme) {
		return errors.New("it has no scheme such as https")
	}
	return nil
}

const (
	// maxDepth is how deep arguments may be nested. Chrome passes no more than
	// some 2,000 levels between the extension's parts.
	maxDepth = 1000
	// maxNumberChars is the longest number, in characters. Numbers are compared
	// exactly, which takes time and memory that grow with their length.
	maxNumberChars = 1000
	// maxExponent is the largest power of ten; those of JavaScript end at 308.
	maxExponent = 400
)

// tooDeep reports whether value has more than levels levels.
func tooDeep(value any, levels int) bool {
	deeper := func(v any) bool { return tooDeep(v, levels-1) }
	switch v := value.(type) {
	case []any:
		return levels == 0 || slices.ContainsFunc(v, deeper)
	case map[string]any:
		if levels == 0 {
			return true
		}
		for _, item := range v {
			if deeper(item) {
				return true
			}
		}
	}
	return false
}

// checkNumbers says which number in value is too large to be worked with.
func checkNumbers(value any) string {
	if at, problem := hugeNumber(value); problem != "" {
		slices.Reverse(at)
		return location(at) + ": " + problem
	}
	return ""
}

// hugeNumber returns the steps to the first number that is too large, the last
// step first.
func hugeNumber(value any) (at []string, problem string) {
	switch v := value.(type) {
	case json.Number:
		return nil, numberProblem(v.String())
	case []any:
		for i, item := range v {
			if at, problem = hugeNumber(item); problem != "" {
				return append(at, strconv.Itoa(i)), problem
			}
		}
	case map[string]any:
		for key, item := range v {
			if at, problem = hugeNumber(item); problem != "" {
				return append(at, key), problem
			}
		}
	}
	return nil, ""
}

func numberProblem(text string) string {
	if len(text) > maxNumberChars {
		return fmt.Sprintf("the number has %d characters; use at most %d", len(text), maxNumberChars)
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if exponent, err := strconv.Atoi(text[i+1:]); err != nil || exponent > maxExponent || exponent < -maxExponent {
			return fmt.Sprintf("the number has an exponent beyond %d; use a smaller one", maxExponent)
		}
	}
	return ""
}
