package main

import (
	"strings"
	"testing"
	"time"
)

// TestBar draws states at several widths. The bars stand between two marks, so
// that spaces at their ends show.
func TestBar(t *testing.T) {
	half := barState{
		label: "messages__export_messages", progress: 4500, total: 10000, known: true, counted: true,
		message: "page 45 of 100", elapsed: 12300 * time.Millisecond,
	}
	for _, c := range []struct {
		name  string
		state barState
		width int
		want  string
	}{
		{"wide", half, 120, "messages__export_messages  #############.................   45%  4500/10000  12s  page 45 of 100"},
		{"80 columns", half, 80, "messages__export_messages  ########...........   45%  4500/10000  12s  page 4..."},
		{"no room for the message", half, 70, "messages__export_messages  ######.........   45%  4500/10000  12s"},
		{"no room for the label", half, 50, "####.....   45%  4500/10000  12s  page 45 of 100"},
		{"no room for the bar", half, 24, " 45%  4500/10000  12s"},
		{"no room for the time", half, 18, " 45%  4500/10000"},
		{"no room for the count", half, 10, " 45%  4..."},
		{"no room", half, 0, ""},
		{"nothing known", barState{label: "a__b", elapsed: 300 * time.Millisecond}, 60, "a__b  \\  no progress yet  0.3s"},
		{"indeterminate", barState{label: "a__b", progress: 7, counted: true, message: "seven", elapsed: time.Minute + 5*time.Second}, 60, "a__b  -  7  1m05s  seven"},
		{"a percentage", barState{label: "a__b", progress: 33, total: 100, known: true, counted: true, elapsed: time.Hour}, 60, "a__b  ####...........   33%  1h00m"},
		{"just below the end", barState{progress: 9999, total: 10000, known: true, counted: true}, 40, "#####.   99%  9999/10000  0.0s"},
		{"at the end", barState{progress: 10000, total: 10000, known: true, counted: true}, 40, "######  100%  10000/10000  0.0s"},
		{"beyond the end", barState{progress: 12, total: 10, known: true, counted: true}, 40, "#######  100%  12/10  0.0s"},
		{"nothing to do", barState{progress: 0, total: 0, known: true, counted: true}, 40, "#######  100%  0/0  0.0s"},
		{"fractions", barState{progress: 0.123456, total: 3.5, known: true, counted: true}, 50, "........    3%  0.1235/3.5  0.0s"},
		{"wide characters", barState{progress: 1, total: 2, known: true, counted: true, message: "世界世界世界世界"}, 40, "###....   50%  1/2  0.0s  世界世界世..."},
		{"what a page says", barState{label: "a\x1b[2J", progress: 1, counted: true, message: "x\ny\x1b[31m"}, 60, `a\x1b[2J  |  1  0.0s  x y\x1b[31m`},
	} {
		got := c.state.draw(c.width, asciiGlyphs)
		if got != c.want {
			t.Errorf("%s:\ngot  |%s|\nwant |%s|", c.name, got, c.want)
		}
	}
}

// TestBarFits draws at every width with both sets of characters.
func TestBarFits(t *testing.T) {
	states := []barState{
		{}, {label: "tool", counted: true, progress: 5},
		{label: "a__tool", progress: 123456, total: 999999999, known: true, counted: true, message: "世界 and e\u0301 and more", elapsed: time.Hour},
	}
	for width := range 200 {
		for i, s := range states {
			for _, g := range []glyphs{asciiGlyphs, unicodeGlyphs} {
				line := s.draw(width, g)
				if textWidth(line) > width || strings.ContainsAny(line, "\n\r") {
					t.Errorf("state %d at %d columns takes %d: %q", i, width, textWidth(line), line)
				}
			}
		}
	}
}

func TestSpell(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0s", 1299 * time.Millisecond: "1.2s", 9999 * time.Millisecond: "9.9s", 10 * time.Second: "10s",
		59*time.Second + 999*time.Millisecond: "59s", time.Minute: "1m00s", 5*time.Minute + 3*time.Second: "5m03s", 25 * time.Hour: "25h00m",
	} {
		if got := spell(d); got != want {
			t.Errorf("spell(%v) = %s, want %s", d, got, want)
		}
	}
}
