package terminal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"opentabs/internal/terminal/terminaltest"
)

func TestBlockRedraw(t *testing.T) {
	v := &terminaltest.Screen{Columns: 20, Rows: 6}
	b := &RedrawableBlock{outWriter: v, size: func() (int, int) { return v.Columns, v.Rows }}
	fmt.Fprint(v, "$ opentabs\n")
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"first", []string{"one", "two"}, "$ opentabs\none\ntwo"},
		{"longer", []string{"one", "two and more", "three"}, "$ opentabs\none\ntwo and more\nthree"},
		{"shorter", []string{"1"}, "$ opentabs\n1"},
		{"cut at the edge", []string{strings.Repeat("x", 30)}, "$ opentabs\n" + strings.Repeat("x", 16) + "..."},
		{"higher than the screen", []string{"1", "2", "3", "4", "5", "6", "7", "8"}, "$ opentabs\n1\n2\n3\n4\n5"},
		{"and again", []string{"a"}, "$ opentabs\na"},
	} {
		b.Draw(c.lines)
		if got := v.String(); got != c.want {
			t.Errorf("screen after the step %q:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	b.Clear()
	if got := v.String(); got != "$ opentabs" {
		t.Errorf("screen after Clear = %q; want %q", got, "$ opentabs")
	}
	b.Clear()
}

func TestBlockWritesChanges(t *testing.T) {
	v := &terminaltest.Screen{Columns: 80, Rows: 50}
	b := &RedrawableBlock{outWriter: v, size: func() (int, int) { return v.Columns, v.Rows }}
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("line %d %s", i, strings.Repeat("-", 60)))
	}
	b.Draw(lines)
	bytesWrittenBefore := v.WrittenBytes
	lines[20] = "changed"
	b.Draw(lines)
	if n := v.WrittenBytes - bytesWrittenBefore; n > 80 {
		t.Errorf("Draw wrote %d bytes for one changed line, want at most 80", n)
	}
	bytesWrittenBefore = v.WrittenBytes
	b.Draw(lines)
	if v.WrittenBytes != bytesWrittenBefore {
		t.Errorf("Draw wrote %d bytes for unchanged lines, want 0", v.WrittenBytes-bytesWrittenBefore)
	}
	if !strings.Contains(v.String(), "\nchanged\nline 21 ") {
		t.Errorf("screen:\n%s\nwant a text that contains %q", v, "\nchanged\nline 21 ")
	}
}

func TestBlockRandomDraws(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	v := &terminaltest.Screen{Columns: 30, Rows: 10}
	b := &RedrawableBlock{outWriter: v, size: func() (int, int) { return v.Columns, v.Rows }}
	for range 2000 {
		lines := make([]string, random.IntN(14))
		var want []string
		for i := range lines {
			lines[i] = strings.Repeat(string(rune('a'+random.IntN(3))), random.IntN(40)) + "."
			if i < v.Rows-1 {
				want = append(want, truncateColumns(lines[i], v.Columns-1))
			}
		}
		b.Draw(lines)
		if got := v.String(); got != strings.Join(want, "\n") {
			t.Fatalf("screen after Draw:\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
	}
}

func TestBlockOnANarrowedTerminal(t *testing.T) {
	var outBuffer bytes.Buffer
	columns := 80
	b := &RedrawableBlock{outWriter: &outBuffer, size: func() (int, int) { return columns, 24 }}
	b.Draw([]string{strings.Repeat("x", 60), "short"})
	outBuffer.Reset()
	columns = 40
	b.Draw([]string{"a", "short"})
	if got, want := outBuffer.String(), "\r\x1b[3A\x1b[Ja\x1b[K\nshort\x1b[K\n"; got != want {
		t.Errorf("Draw on a narrower terminal wrote %q, want %q", got, want)
	}
}
