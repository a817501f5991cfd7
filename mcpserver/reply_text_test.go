package mcpserver

import (
	"strings"
	"testing"

	"opentabs/internal/plaintext"
	"opentabs/wire"
)

func TestFaultRepeatsNoHiddenCharacters(t *testing.T) {
	name := "no\U000e0101\U000e0148\u202epe"
	text := newFaultReply(wire.CodeInternal, "There is no tool %q. List the tools.", name).Message
	if r, hidden := plaintext.FirstHidden(text); hidden || !strings.Contains(text, "List the tools.") {
		t.Errorf("the text contains %U: %q", r, text)
	}
	if longText := newFaultReply(wire.CodeInternal, "There is no tool %q.", strings.Repeat("x", 1<<20)).Message; len(longText) > 4010 {
		t.Errorf("the message has %d bytes", len(longText))
	}
}
