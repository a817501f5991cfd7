package main

import (
	"bytes"
	"strings"
	"testing"

	"opentabs/internal/plaintext"
)

func onTerminal(b *bytes.Buffer) *output {
	return &output{stdout: b, terminal: true, size: func() (int, int) { return 30, 24 }}
}

func TestRaw(t *testing.T) {
	const text = `{"n":9007199254740993,"b":1.50,"a":["<\u001b>"]}`
	var pipe, terminal bytes.Buffer
	if err := (&output{stdout: &pipe}).raw([]byte(" " + text)); err != nil || pipe.String() != text+"\n" {
		t.Errorf("in a pipe: %q, %v", pipe.String(), err)
	}
	want := "{\n  \"n\": 9007199254740993,\n  \"b\": 1.50,\n  \"a\": [\n    \"<\\u001b>\"\n  ]\n}\n"
	if err := onTerminal(&terminal).raw([]byte(text)); err != nil || terminal.String() != want {
		t.Errorf("on a terminal: %q, %v", terminal.String(), err)
	}
	if err := onTerminal(&terminal).raw([]byte("{")); err == nil {
		t.Error("printed what is not JSON")
	}
}

// TestTerminalIsSafe writes what a hostile tool returns.
func TestTerminalIsSafe(t *testing.T) {
	const evil = "\x1b[2J\u009b\x07\u202e"
	var b bytes.Buffer
	o := onTerminal(&b)
	o.stderr, o.errTerminal = &b, true
	o.text(evil)
	o.say("%s", evil)
	o.table("", [][]string{{evil, evil}})
	if err := o.raw([]byte(`"` + "\u009b\u202e" + `"`)); err != nil {
		t.Error(err)
	}
	if err := o.jsonLine([]byte(`"` + "\u009b\u202e" + `"`)); err != nil {
		t.Error(err)
	}
	if err := o.value(evil); err != nil {
		t.Error(err)
	}
	if r, found := plaintext.FirstHidden(b.String()); found {
		t.Errorf("%q reached the terminal", r)
	}
}

// TestPipeIsExact leaves what a program reads alone.
func TestPipeIsExact(t *testing.T) {
	var b bytes.Buffer
	(&output{stdout: &b}).text("\x1b[31mred\n")
	if b.String() != "\x1b[31mred\n" {
		t.Errorf("got %q", b.String())
	}
}

func TestTable(t *testing.T) {
	rows := [][]string{{"A", "LONG"}, {"世界", "x\ny"}, {"bcd", strings.Repeat("z", 40)}, {"e", ""}}
	var pipe, terminal bytes.Buffer
	(&output{stdout: &pipe}).table("  ", rows)
	want := "  A     LONG\n  世界  x y\n  bcd   " + strings.Repeat("z", 40) + "\n  e\n"
	if pipe.String() != want {
		t.Errorf("in a pipe:\n%s", pipe.String())
	}
	onTerminal(&terminal).table("", rows)
	want = "A     LONG\n世界  x y\nbcd   " + strings.Repeat("z", 21) + "...\ne\n"
	if terminal.String() != want {
		t.Errorf("on a terminal:\n%s", terminal.String())
	}
}

func TestNewOutput(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want glyphs
	}{
		{map[string]string{"LANG": "de_DE.UTF-8"}, unicodeGlyphs},
		{map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, asciiGlyphs},
		{map[string]string{"LC_CTYPE": "C.utf8"}, unicodeGlyphs},
		{nil, asciiGlyphs},
	} {
		o := newOutput(new(bytes.Buffer), new(bytes.Buffer), func(name string) string { return c.env[name] })
		if o.glyphs.full != c.want.full || o.terminal || o.errTerminal || o.color || o.width() != fallbackColumns {
			t.Errorf("%v: %+v", c.env, o)
		}
	}
}

func TestNarrowTable(t *testing.T) {
	rows := func() [][]string {
		return [][]string{{"CALL", "CLIENT", "RAN", "LAST WORD"}, {"call_1", "somebody", "10s", "what it said last, which is long"}}
	}
	for _, c := range []struct {
		width int
		head  string
	}{
		{60, "CALL    CLIENT    RAN  LAST WORD"},
		{47, "CALL    CLIENT    RAN  LAST WORD"},
		{46, "CALL    RAN  LAST WORD"},
		{35, "CALL    LAST WORD"},
		{10, "CALL    LAST WORD"},
	} {
		var b bytes.Buffer
		o := &output{stdout: &b, terminal: true, size: func() (int, int) { return c.width, 24 }}
		o.narrowTable("", rows(), "CLIENT", "RAN")
		head, _, _ := strings.Cut(b.String(), "\n")
		if head != fit(c.head, c.width) {
			t.Errorf("on %d columns: %q", c.width, head)
		}
	}
	var b bytes.Buffer
	(&output{stdout: &b}).narrowTable("", rows(), "CLIENT")
	if !strings.Contains(b.String(), "somebody") {
		t.Errorf("a pipe got %q", b.String())
	}
}
