package mcpserver

import (
	"strings"
	"testing"

	"opentabs/internal/plaintext"
	"opentabs/wire"
)

func TestErrorTextHasNoHiddenCharacters(t *testing.T) {
	name := "no\U000e0101\U000e0148\u202epe"
	replyText := newProtocolErrorReply(wire.CodeInternal, "There is no tool %q. List the tools.", name).Message
	if r, isHidden := plaintext.FindHiddenRune(replyText); isHidden || !strings.Contains(replyText, "List the tools.") {
		t.Errorf("hidden character %U in the text %q; want none, and the text \"List the tools.\"", r, replyText)
	}
	if longText := newProtocolErrorReply(wire.CodeInternal, "There is no tool %q.", strings.Repeat("x", 1<<20)).Message; len(longText) > 4010 {
		t.Errorf("message of %d bytes; want at most 4010", len(longText))
	}
}
