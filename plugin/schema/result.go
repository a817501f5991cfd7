package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"opentabs/wire"
)

const (
	// maxCheckedResultBytes is the maximum size of a tool's result that CheckResult checks, in bytes. CheckResult accepts a
	// larger result unchecked, because the check would take too long.
	maxCheckedResultBytes = 4 << 20
	maxQuotedResultBytes  = 4000
)

// CheckResult checks the result of a tool call against the tool's output schema. If the tool returned JavaScript's
// undefined, result is nil. CheckResult returns nil or an error with the code invalid_result, whose message lists every
// violation. The PageText of the error quotes the invalid result, because records and lists of calls omit PageText. A
// schema that does not compile counts as a violation.
func (v *Validator) CheckResult(schema, toolResult json.RawMessage) *wire.CallError {
	if len(toolResult) > maxCheckedResultBytes {
		return nil
	}
	if len(toolResult) == 0 {
		return newInvalidResultError([]string{"it returned undefined"}, nil)
	}
	if v.accepts(schema, toolResult) {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(toolResult))
	if err != nil {
		return newInvalidResultError([]string{"the result is not valid JSON: " + err.Error()}, toolResult)
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
	return newInvalidResultError(violations, toolResult)
}

func newInvalidResultError(violations []string, toolResult json.RawMessage) *wire.CallError {
	err := &wire.CallError{
		Code:    wire.ErrInvalidResult,
		Message: "it has run, but what it returned does not match its own output schema:\n- " + strings.Join(violations, "\n- "),
	}
	if len(toolResult) > 0 {
		quotedResult := toolResult
		if len(quotedResult) > maxQuotedResultBytes {
			quotedResult = append(bytes.ToValidUTF8(quotedResult[:maxQuotedResultBytes:maxQuotedResultBytes], nil), "..."...)
		}
		err.PageText = fmt.Sprintf("It returned: %s", quotedResult)
	}
	return err
}
