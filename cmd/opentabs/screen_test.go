package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// vt is a terminal that knows as much as liveBlock needs. It has as many lines as
// are written; the last rows of them are its screen.
type vt struct {
	columns, rows int
	lines         [][]rune
	y, x          int
	written       int
}

func (v *vt) Write(p []byte) (int, error) {
	v.written += len(p)
	text := []rune(string(p))
	for i := 0; i < len(text); i++ {
		for v.y >= len(v.lines) {
			v.lines = append(v.lines, nil)
		}
		switch r := text[i]; r {
		case '\r':
			v.x = 0
		case '\n': // the system's terminal adds the \r
			v.y, v.x = v.y+1, 0
		case '\x1b':
			end := i + 2
			for text[end] < '@' {
				end++
			}
			v.obey(text[end], string(text[i+2:end]))
			i = end
		default:
			v.put(r)
		}
	}
	for v.y >= len(v.lines) {
		v.lines = append(v.lines, nil)
	}
	return len(p), nil
}

func (v *vt) put(r rune) {
	if v.x == v.columns { // it wraps
		v.y, v.x = v.y+1, 0
		v.lines = append(v.lines, nil)
	}
	line := &v.lines[v.y]
	for len(*line) <= v.x {
		*line = append(*line, ' ')
	}
	(*line)[v.x] = r
	v.x++
}

func (v *vt) obey(command rune, argument string) {
	switch command {
	case 'A':
		n, err := strconv.Atoi(argument)
		top := max(0, len(v.lines)-v.rows)
		if err != nil || v.y-n < top {
			panic(fmt.Sprintf("up %s from line %d of a screen that begins at %d", argument, v.y, top))
		}
		v.y -= n
	case 'K':
		v.lines[v.y] = v.lines[v.y][:min(v.x, len(v.lines[v.y]))]
	case 'J':
		v.lines[v.y] = v.lines[v.y][:min(v.x, len(v.lines[v.y]))]
		v.lines = v.lines[:v.y+1]
	default:
		panic("unknown command " + string(command))
	}
}

func (v *vt) String() string {
	var b strings.Builder
	for _, line := range v.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func TestLiveBlock(t *testing.T) {
	v := &vt{columns: 20, rows: 6}
	b := &liveBlock{out: v, size: func() (int, int) { return v.columns, v.rows }}
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
		b.draw(c.lines)
		if got := v.String(); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	b.clear()
	if got := v.String(); got != "$ opentabs" {
		t.Errorf("after clear: %q", got)
	}
	b.clear()
}

// TestLiveBlockWritesChanges: what stays the same is not written again.
func TestLiveBlockWritesChanges(t *testing.T) {
	v := &vt{columns: 80, rows: 50}
	b := &liveBlock{out: v, size: func() (int, int) { return v.columns, v.rows }}
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("line %d %s", i, strings.Repeat("-", 60)))
	}
	b.draw(lines)
	before := v.written
	lines[20] = "changed"
	b.draw(lines)
	if n := v.written - before; n > 80 {
		t.Errorf("one changed line costs %d bytes", n)
	}
	before = v.written
	b.draw(lines)
	if v.written != before {
		t.Errorf("what has not changed costs %d bytes", v.written-before)
	}
	if !strings.Contains(v.String(), "\nchanged\nline 21 ") {
		t.Errorf("got\n%s", v)
	}
}

func TestLiveBlockAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	v := &vt{columns: 30, rows: 10}
	b := &liveBlock{out: v, size: func() (int, int) { return v.columns, v.rows }}
	for range 2000 {
		lines := make([]string, random.IntN(14))
		var want []string
		for i := range lines {
			lines[i] = strings.Repeat(string(rune('a'+random.IntN(3))), random.IntN(40)) + "."
			if i < v.rows-1 {
				want = append(want, fit(lines[i], v.columns-1))
			}
		}
		b.draw(lines)
		if got := v.String(); got != strings.Join(want, "\n") {
			t.Fatalf("drew\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
	}
}

// TestLiveBlockOnANarrowedTerminal: what was one line is two now.
func TestLiveBlockOnANarrowedTerminal(t *testing.T) {
	var out bytes.Buffer
	columns := 80
	b := &liveBlock{out: &out, size: func() (int, int) { return columns, 24 }}
	b.draw([]string{strings.Repeat("x", 60), "short"})
	out.Reset()
	columns = 40
	b.draw([]string{"a", "short"})
	if got, want := out.String(), "\r\x1b[3A\x1b[Ja\x1b[K\nshort\x1b[K\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}
