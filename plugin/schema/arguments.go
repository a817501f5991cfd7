package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"opentabs/dispatch"
	"opentabs/dispatch/errtext"
	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// Subject identifies the tool or prompt whose arguments an error message is about.
type Subject struct {
	// Plugin and Version name the plugin package in error messages about a schema that
	// does not compile.
	Plugin, Version string
	// Name is the tool's or prompt's name within the plugin, such as "export".
	Name string
	// TargetKind is the kind of target in which the tool runs. It determines the tool's name
	// for agents.
	TargetKind dispatch.TargetKind
	// RetryAdvice completes the advice "Correct the arguments and ...", for example with "call
	// the tool again".
	RetryAdvice string
}

func (s Subject) fullName() string {
	return dispatch.Tool{Plugin: s.Plugin, Name: s.Name, TargetKind: s.TargetKind}.FullName()
}

// CheckArguments checks the arguments of a call against the input schema. If args is
// empty, CheckArguments checks an empty object instead. If the arguments are invalid or
// the schema does not compile, CheckArguments returns a *dispatch.Error; otherwise nil.
// The error has the code invalid_arguments and lists every violation, or has the code
// internal if the schema does not compile.
func (v *Validator) CheckArguments(s Subject, schema, args json.RawMessage) error {
	if i := skipBlanks(args, 0); i < len(args) && args[i] == '{' && v.accepts(schema, args) {
		return nil
	}
	members, err := s.decode(args)
	if err != nil {
		return err
	}
	return v.checkMembers(s, schema, members)
}

// CheckTextArguments checks the arguments of a prompt and converts them for the page. MCP clients send every argument
// of a prompt as a string, so CheckTextArguments converts two kinds of strings:
//
//   - A string that the argument's schema does not allow is parsed as JSON, such as "20"
//     for a number, "true" for a boolean, "[\"a\"]" for an array.
//   - An empty string for an optional argument is dropped, because clients send empty
//     strings for empty fields of a form.
//
// CheckTextArguments returns the errors of [Validator.CheckArguments].
func (v *Validator) CheckTextArguments(s Subject, schema, args json.RawMessage) (json.RawMessage, error) {
	members, err := s.decode(args)
	if err != nil {
		return nil, err
	}
	if err := v.Compile(schema); err != nil {
		return nil, s.newSchemaError(err)
	}
	parseTextArguments(members, v.schemaDocument)
	if err := v.checkMembers(s, schema, members); err != nil {
		return nil, err
	}
	return rawjson.Encode(members), nil
}

func (v *Validator) checkMembers(s Subject, schema json.RawMessage, members map[string]any) error {
	if isTooDeep(members, maxDepth) {
		return s.invalidArguments([]string{fmt.Sprintf("the arguments are nested more than %d levels deep; flatten them", maxDepth)})
	}
	if problemText := checkNumbers(members); problemText != "" {
		return s.invalidArguments([]string{problemText})
	}
	violations, err := v.violationTexts(schema, members)
	switch {
	case err != nil:
		return s.newSchemaError(err)
	case len(violations) > 0:
		return s.invalidArguments(violations)
	}
	return nil
}

func (s Subject) decode(args json.RawMessage) (map[string]any, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return nil, s.invalidArguments([]string{"the arguments are not valid JSON: " + err.Error()})
	}
	members, ok := value.(map[string]any)
	if !ok {
		return nil, s.invalidArguments([]string{"the arguments are " + rawjson.KindOf(args) + "; they have to be an object"})
	}
	return members, nil
}

func (s Subject) invalidArguments(violations []string) *dispatch.Error {
	var b strings.Builder
	fmt.Fprintf(&b, "invalid arguments for %s:", s.fullName())
	for _, v := range violations {
		b.WriteString("\n- ")
		b.WriteString(v)
	}
	return &dispatch.Error{
		Code: wire.ErrInvalidArguments, Message: fmt.Sprintf("%s\nNothing was run. Correct the arguments and %s.", b.String(), s.RetryAdvice),
		UserText: errtext.AppendNextUserStep(wire.ErrInvalidArguments, b.String()+"\nNothing was run."),
	}
}

func (s Subject) newSchemaError(err error) *dispatch.Error {
	return &dispatch.Error{Code: wire.ErrInternal, Message: fmt.Sprintf(
		"the input schema of %s cannot be used, so its arguments cannot be checked and nothing was run: %v. Report it to the author of plugin %s (%s).",
		s.fullName(), err, s.Plugin, s.Version)}
}
