package plugin

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
	// maxCheckedResult is the largest result that is checked, in bytes. A larger
	// one is passed on as it is: checking it would cost more than it is worth.
	maxCheckedResult = 4 << 20
	// maxQuotedResult is how much of a wrong result its error shows, in bytes.
	maxQuotedResult = 4000
)

// DeclaresResults reports whether the tool's output schema holds. The existing
// packages (sdkVersion 0.0.x) have one that nobody ever checked, so that agents
// are not shown it.
func (t *Tool) DeclaresResults() bool {
	v := t.Plugin.SDKVersion
	return v != "" && !strings.HasPrefix(v, "0.0.")
}

// ValidateResult checks what the tool returned, nil for undefined, against its
// output schema. It returns nil or a *dispatch.Error: invalid_result, whose
// text lists every violation and shows the result, or internal if the schema is
// broken.
func (t *Tool) ValidateResult(output json.RawMessage) error {
	if len(output) > maxCheckedResult {
		return nil
	}
	if len(output) == 0 {
		return t.wrongResult([]string{"it returned undefined"}, nil)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(output))
	if err != nil {
		return t.wrongResult([]string{"the result is not valid JSON: " + err.Error()}, output)
	}
	if tooDeep(value, maxDepth) || checkNumbers(value) != "" {
		return nil // nothing a schema can say
	}
	found, err := t.results.violations(t.OutputSchema, value)
	if err == nil && len(found) == 0 {
		return nil
	}
	if err != nil {
		found = []string{"the output schema cannot be used: " + err.Error()}
	}
	return t.wrongResult(found, output)
}

// wrongResult returns the error for a result with these violations.
func (t *Tool) wrongResult(violations []string, output json.RawMessage) *dispatch.Error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has run, but what it returned does not match its own output schema (%s):", t.FullName(), wire.ErrInvalidResult)
	for _, v := range violations {
		b.WriteString("\n- ")
		b.WriteString(v)
	}
	fmt.Fprintf(&b, "\nDo not call it again to mend this; report it to the author of plugin %s (%s).", t.Plugin.Name, t.Plugin.Version)
	if len(output) > 0 {
		shown := output
		if len(shown) > maxQuotedResult {
			shown = append(bytes.ToValidUTF8(shown[:maxQuotedResult:maxQuotedResult], nil), "..."...)
		}
		fmt.Fprintf(&b, "\nIt returned: %s", shown)
	}
	return &dispatch.Error{Code: wire.ErrInvalidResult, Message: b.String()}
}
