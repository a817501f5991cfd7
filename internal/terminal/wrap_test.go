package terminal

import (
	"bytes"
	"strings"
	"testing"
)

func TestWrapLine(t *testing.T) {
	for _, c := range []struct{ line, indent, want string }{
		{"short", "  ", "short"},
		{"", "  ", ""},
		{"exactly twenty chars", "  ", "exactly twenty chars"},
		{"one two three four five six", "  ", "one two three four|  five six"},
		{"a  b  c  d  e  f  g  h  i", "", "a  b  c  d  e  f  g|h  i"},
		{"    four spaces and more words", "    ", "    four spaces and|    more words"},
		{"averyveryverylongwordthatdoesnotfit and more", "  ", "averyveryverylongwordthatdoesnotfit|  and more"},
		{"a averyveryverylongwordthatdoesnotfit", "  ", "a|  averyveryverylongwordthatdoesnotfit"},
		{"to stop it, run `opentabs stop`", "  ", "to stop it, run|  `opentabs stop`"},
		{"run `opentabs calls approve CALL`, then wait", "  ", "run|  `opentabs calls approve CALL`,|  then wait"},
		{"an odd ` backtick in a long text", "  ", "an odd ` backtick in|  a long text"},
		{"世界世界世界世界 世界世界", "  ", "世界世界世界世界|  世界世界"},
	} {
		if got := strings.Join(wrapLine(c.line, c.indent, 20), "|"); got != c.want {
			t.Errorf("%q is wrapped as %q, want %q", c.line, got, c.want)
		}
	}
}

func TestProseIsWrappedOnTerminals(t *testing.T) {
	const noteText = "the audit log has no records that match the flags"
	var screenBuffer, pipeBuffer bytes.Buffer
	for _, o := range []*Output{NewTerminal(&screenBuffer, func() (int, int) { return 30, 24 }), newTestPipe(&pipeBuffer)} {
		o.Notef("%s\n%s", noteText, "two")
		PrintWrapped(o, "  ", "head:\n    "+noteText+"\x1b")
	}
	want := "opentabs: the audit log has no\n  records that match the flags\n  two\n" +
		"head:\n    the audit log has no\n      records that match the\n      flags\\x1b\n"
	if screenBuffer.String() != want {
		t.Errorf("the terminal shows\n%swant\n%s", screenBuffer.String(), want)
	}
	if want := "opentabs: " + noteText + "\n  two\nhead:\n    " + noteText + "\x1b\n"; pipeBuffer.String() != want {
		t.Errorf("the pipe gets\n%swant\n%s", pipeBuffer.String(), want)
	}
}

func TestQuestionIsWrapped(t *testing.T) {
	var screenBuffer bytes.Buffer
	ShowQuestion(NewTerminal(&screenBuffer, func() (int, int) { return 40, 24 }), "May this agent use the page for an hour? [Y/n] ")
	const want = "opentabs: May this agent use the\n  page for an hour? [Y/n] "
	if got := screenBuffer.String(); got != want {
		t.Errorf("the question is shown as %q, want %q", got, want)
	}
}
