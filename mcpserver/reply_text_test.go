package mcpserver

import (
	"strings"
	"testing"

	"opentabs/internal/plaintext"
	"opentabs/wire"
)

func TestFaultRepeatsNoHiddenCharacters(t *testing.T) {
	name := "no\U000e0101\U000e0148\u202epe"
	replyText := newFaultReply(wire.CodeInternal, "There is no tool %q. List the tools.", name).Message
	if r, hidden := plaintext.FirstHidden(replyText); hidden || !strings.Contains(replyText, "List the tools.") {
		t.Errorf("the text contains %U: %q", r, replyText)
	}
	if longText := newFaultReply(wire.CodeInternal, "There is no tool %q.", strings.Repeat("x", 1<<20)).Message; len(longText) > 4010 {
		t.Errorf("the message has %d bytes", len(longText))
	}
}
