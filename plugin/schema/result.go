package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"opentabs/dispatch"
	"opentabs/wire"
)

const (
	// maxCheckedResult is the maximum size of a tool's result that CheckResult checks, in
	// bytes. CheckResult accepts larger results without a check, because the check would
	// take too long.
	maxCheckedResult = 4 << 20
	// maxQuotedResult is the maximum length of an invalid result that the error quotes,
	// in bytes.
	maxQuotedResult = 4000
)

// CheckResult checks the result of a tool against the output schema. A nil result is
// JavaScript's undefined. CheckResult returns nil or a *dispatch.Error with the code
// invalid_result, whose message lists every violation and quotes the result. A schema
// that does not compile counts as a violation.
func (v *Validator) CheckResult(s Subject, schema, result json.RawMessage) error {
	if len(result) > maxCheckedResult {
		return nil
	}
	if len(result) == 0 {
		return s.invalidResult([]string{"it returned undefined"}, nil)
	}
	if v.accepts(schema, result) {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(result))
	if err != nil {
		return s.invalidResult([]string{"the result is not valid JSON: " + err.Error()}, result)
	}
	if isTooDeep(value, maxDepth) || checkNumbers(value) != "" {
		return nil // a check of deeply nested values or of huge numbers would take too long
	}
	violations, err := v.violationTexts(schema, value)
	if err == nil && len(violations) == 0 {
		return nil
	}
	if err != nil {
		violations = []string{"the output schema cannot be used: " + err.Error()}
	}
	return s.invalidResult(violations, result)
}

func (s Subject) invalidResult(violations []string, result json.RawMessage) *dispatch.Error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has run, but what it returned does not match its own output schema (%s):", s.fullName(), wire.ErrInvalidResult)
	for _, v := range violations {
		b.WriteString("\n- ")
		b.WriteString(v)
	}
	step := fmt.Sprintf("it to the author of plugin %s (%s).", s.Plugin, s.Version)
	quotedResult := ""
	if len(result) > 0 {
		shown := result
		if len(shown) > maxQuotedResult {
			shown = append(bytes.ToValidUTF8(shown[:maxQuotedResult:maxQuotedResult], nil), "..."...)
		}
		quotedResult = fmt.Sprintf("\nIt returned: %s", shown)
	}
	return &dispatch.Error{
		Code: wire.ErrInvalidResult, Message: fmt.Sprintf("%s\nDo not call it again to mend this; report %s%s", b.String(), step, quotedResult),
		UserText: fmt.Sprintf("%s\nReport %s%s", b.String(), step, quotedResult),
	}
}
