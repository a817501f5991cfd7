package terminal

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"opentabs/internal/plaintext"
)

func newTestTerminal(b *bytes.Buffer) *Output {
	return NewTerminal(b, func() (int, int) { return 30, 24 })
}

func newTestPipe(b *bytes.Buffer) *Output {
	return New(b, b, func(string) string { return "" })
}

func TestPrintJSON(t *testing.T) {
	const jsonText = `{"n":9007199254740993,"b":1.50,"a":["<\u001b>"]}`
	var pipeBuffer, terminal bytes.Buffer
	if err := newTestPipe(&pipeBuffer).PrintJSON([]byte(" " + jsonText)); err != nil || pipeBuffer.String() != jsonText+"\n" {
		t.Errorf("PrintJSON in a pipe wrote %q, error %v; want the JSON on one line", pipeBuffer.String(), err)
	}
	want := "{\n  \"n\": 9007199254740993,\n  \"b\": 1.50,\n  \"a\": [\n    \"<\\u001b>\"\n  ]\n}\n"
	if err := newTestTerminal(&terminal).PrintJSON([]byte(jsonText)); err != nil || terminal.String() != want {
		t.Errorf("PrintJSON on a terminal wrote %q, error %v; want %v", terminal.String(), err, want)
	}
	if err := newTestTerminal(&terminal).PrintJSON([]byte("{")); err == nil {
		t.Error("PrintJSON of an invalid text returned no error, want an error")
	}
}

func TestTerminalOutputIsEscaped(t *testing.T) {
	const hostileText = "\x1b[2J\u009b\x07\u202e"
	var b bytes.Buffer
	o := newTestTerminal(&b)
	o.PrintText(hostileText)
	o.Notef("%s", hostileText)
	o.PrintTable("", [][]string{{hostileText, hostileText}})
	if err := o.PrintJSON([]byte(`"` + "\u009b\u202e" + `"`)); err != nil {
		t.Error(err)
	}
	if err := o.PrintJSONLine([]byte(`"` + "\u009b\u202e" + `"`)); err != nil {
		t.Error(err)
	}
	if err := o.PrintValue(hostileText); err != nil {
		t.Error(err)
	}
	if r, found := plaintext.FindHiddenRune(b.String()); found {
		t.Errorf("the terminal received the hidden character %q, want it escaped", r)
	}
}

func TestPipeOutputIsUnchanged(t *testing.T) {
	var b bytes.Buffer
	newTestPipe(&b).PrintText("\x1b[31mred\n")
	if b.String() != "\x1b[31mred\n" {
		t.Errorf("output in a pipe = %q; want %q", b.String(), "\x1b[31mred\n")
	}
}

func TestTable(t *testing.T) {
	tableRows := [][]string{{"A", "LONG"}, {"世界", "x\ny"}, {"bcd", strings.Repeat("z", 40)}, {"e", ""}}
	var pipeBuffer, terminal bytes.Buffer
	newTestPipe(&pipeBuffer).PrintTable("  ", tableRows)
	want := "  A     LONG\n  世界  x y\n  bcd   " + strings.Repeat("z", 40) + "\n  e\n"
	if pipeBuffer.String() != want {
		t.Errorf("table in a pipe:\n%s\nwant\n%v", pipeBuffer.String(), want)
	}
	newTestTerminal(&terminal).PrintTable("", tableRows)
	want = "A     LONG\n世界  x y\nbcd   " + strings.Repeat("z", 21) + "...\ne\n"
	if terminal.String() != want {
		t.Errorf("table on a terminal:\n%s\nwant\n%v", terminal.String(), want)
	}
}

func TestOutputSettingsForEnvironment(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want Glyphs
	}{
		{map[string]string{"LANG": "de_DE.UTF-8"}, unicodeGlyphs},
		{map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, ASCIIGlyphs},
		{map[string]string{"LC_CTYPE": "C.utf8"}, unicodeGlyphs},
		{nil, ASCIIGlyphs},
	} {
		o := New(new(bytes.Buffer), new(bytes.Buffer), func(name string) string { return c.env[name] })
		columns, _ := o.Size()
		if o.glyphSet.fullGlyph != c.want.fullGlyph || o.IsTerminal() || o.stderr.isTerminal || o.color || columns != fallbackColumns {
			t.Errorf("New with the environment %v = %+v, want the glyphs of the case, no color and the default width", c.env, o)
		}
	}
}

func TestTableOnANarrowTerminal(t *testing.T) {
	rows := func() [][]string {
		return [][]string{{"CALL", "CLIENT", "RAN", "MESSAGE"}, {"call_1", "a client", "10s", "the last message, which is long"}}
	}
	for _, c := range []struct {
		width       int
		tableHeader string
	}{
		{60, "CALL    CLIENT    RAN  MESSAGE"},
		{47, "CALL    CLIENT    RAN  MESSAGE"},
		{46, "CALL    RAN  MESSAGE"},
		{35, "CALL    MESSAGE"},
		{10, "CALL    MESSAGE"},
	} {
		var b bytes.Buffer
		o := NewTerminal(&b, func() (int, int) { return c.width, 24 })
		o.PrintTable("", rows(), "CLIENT", "RAN")
		tableHeader, _, _ := strings.Cut(b.String(), "\n")
		if tableHeader != truncateColumns(c.tableHeader, c.width) {
			t.Errorf("head of the table on %d columns = %q, want it without the optional columns", c.width, tableHeader)
		}
	}
	var b bytes.Buffer
	newTestPipe(&b).PrintTable("", rows(), "CLIENT")
	if !strings.Contains(b.String(), "a client") {
		t.Errorf("table in a pipe = %q; want a text that contains %q", b.String(), "a client")
	}
}

func TestTableNeverTruncatesStatus(t *testing.T) {
	var b bytes.Buffer
	o := NewTerminal(&b, func() (int, int) { return 80, 24 })
	o.PrintTable("", [][]string{
		{"CALL", "TOOL", "STATUS", "RAN", "TIME LEFT"},
		{"call_x6axhe37", "messages__export_messages_of_all_channels_of_a_workspace", "waiting for approval", "10s", "4m10s"},
	}, "RAN")
	want := "CALL           TOOL                              STATUS                TIME LEFT\n" +
		"call_x6axhe37  messages__export_messages_of_...  waiting for approval  4m10s\n"
	if b.String() != want {
		t.Errorf("the table on a terminal of 80 columns is\n%swant\n%s", b.String(), want)
	}
}

func TestStatusColorsInTables(t *testing.T) {
	var b bytes.Buffer
	o := NewTerminal(&b, func() (int, int) { return 44, 24 })
	o.hasStdoutColor = true
	o.PrintTable("  ", [][]string{
		{"CALL", "STATUS", "MESSAGE"},
		{"世 failed", "failed (denied)", "the user denied the call"},
		{"b", "done", "failed"},
		{"c", "waiting for approval", "ok"},
	})
	want := "\x1b[1m  CALL       STATUS                MESSAGE\x1b[0m\n" +
		"  世 failed  \x1b[31mfailed (denied)\x1b[0m       the us...\n" +
		"  b          \x1b[32mdone\x1b[0m                  failed\n" +
		"  c          \x1b[33mwaiting for approval\x1b[0m  ok\n"
	if b.String() != want {
		t.Errorf("the table in color is\n%q, want\n%q", b.String(), want)
	}
	b.Reset()
	o.PrintParagraph("warn  disk  ", "            ", "the disk is almost full, so files may get lost")
	if want := "\x1b[33mwarn\x1b[0m  disk  the disk is almost full, so\n            files may get lost\n"; b.String() != want {
		t.Errorf("the paragraph in color is %q, want %q", b.String(), want)
	}
	o.hasStdoutColor = false
	b.Reset()
	o.PrintParagraph("warn  disk  ", "", "text")
	if want := "warn  disk  text\n"; b.String() != want {
		t.Errorf("the paragraph without colors is %q, want %q", b.String(), want)
	}
}

func TestHasColorForEnvironment(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        bool
	}{{"TERM", "xterm", true}, {"NO_COLOR", "1", false}, {"TERM", "dumb", false}} {
		if got := hasColor(os.Stdout, func(name string) string { return map[string]string{c.name: c.value}[name] }); got != c.want {
			t.Errorf("hasColor with %s=%s is %t, want %t", c.name, c.value, got, c.want)
		}
	}
}
