package callview

import (
	"bytes"
	"encoding/json"
	"testing"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
	"opentabs/internal/terminal"
)

// TestFollowEscapesControlCharacters checks that activities are printed to a pipe without escape sequences
// and hidden characters.
func TestFollowEscapesControlCharacters(t *testing.T) {
	const hostileText = "\x1b[2J\x1b]0;title\x07\u009b31m\u202e\u2028x\U000e0049"
	content, err := json.Marshal([]map[string]string{{hostileText: hostileText}})
	if err != nil {
		t.Fatal(err)
	}
	var call dispatch.View
	for _, kind := range []string{"text", "table", "json", hostileText} {
		call.Activities = append(call.Activities, dispatch.ActivityView{Type: kind, Content: content, Audience: "user"})
	}
	var b bytes.Buffer
	p := plainTextCall{terminalOut: terminal.New(&b, &b, func(string) string { return "" }), printedLines: map[string][]string{}}
	p.show(call)
	if r, found := plaintext.FindHiddenRune(b.String()); found || b.Len() == 0 {
		t.Errorf("printed events %q contain the hidden character %q; want some text without hidden characters", b.String(), r)
	}
}
