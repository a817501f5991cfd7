package terminal

import (
	"strings"
	"testing"
	"time"
)

// The golden file has each bar between two marks, because spaces at the ends of the bar would otherwise be invisible.
func TestBarTextAtEachWidth(t *testing.T) {
	halfFinishedBar := Bar{
		Label: "messages__export_messages", Progress: 4500, Total: 10000, HasTotal: true, HasReport: true,
		Message: "page 45 of 100", Elapsed: 12300 * time.Millisecond,
	}
	for _, c := range []struct {
		name  string
		state Bar
		width int
		want  string
	}{
		{"wide", halfFinishedBar, 120, "messages__export_messages  #############.................   45%  4500/10000  12 s  page 45 of 100"},
		{"80 columns", halfFinishedBar, 80, "messages__export_messages  ########..........   45%  4500/10000  12 s  page 4..."},
		{"no room for the message", halfFinishedBar, 70, "messages__export_messages  ######.........   45%  4500/10000  12 s"},
		{"no room for the label", halfFinishedBar, 50, "###.....   45%  4500/10000  12 s  page 45 of 100"},
		{"no room for the bar", halfFinishedBar, 24, " 45%  4500/10000  12 s"},
		{"no room for the time", halfFinishedBar, 18, " 45%  4500/10000"},
		{"no room for the count", halfFinishedBar, 10, " 45%  4..."},
		{"no room", halfFinishedBar, 0, ""},
		{"nothing known", Bar{Label: "a__b", Elapsed: 300 * time.Millisecond}, 60, "a__b  \\  no progress yet  0.3 s"},
		{"waiting", Bar{Label: "a__b", WaitingText: "waiting for approval", HasReport: true, Elapsed: 300 * time.Millisecond}, 60, "a__b  \\  waiting for approval  0.3 s"},
		{"indeterminate", Bar{Label: "a__b", Progress: 7, HasReport: true, Message: "seven", Elapsed: time.Minute + 5*time.Second}, 60, "a__b  -  7  1 min 05 s  seven"},
		{"a percentage", Bar{Label: "a__b", Progress: 33, Total: 100, HasTotal: true, HasReport: true, Elapsed: time.Hour}, 60, "a__b  ####..........   33%  1 h 00 min"},
		{"just below the end", Bar{Progress: 9999, Total: 10000, HasTotal: true, HasReport: true}, 40, "#####.   99%  9999/10000  0.0 s"},
		{"at the end", Bar{Progress: 10000, Total: 10000, HasTotal: true, HasReport: true}, 40, "######  100%  10000/10000  0.0 s"},
		{"beyond the end", Bar{Progress: 12, Total: 10, HasTotal: true, HasReport: true}, 40, "######  100%  12/10  0.0 s"},
		{"nothing to do", Bar{Progress: 0, Total: 0, HasTotal: true, HasReport: true}, 40, "#######  100%  0/0  0.0 s"},
		{"fractions", Bar{Progress: 0.123456, Total: 3.5, HasTotal: true, HasReport: true}, 50, "........    3%  0.1235/3.5  0.0 s"},
		{"wide characters", Bar{Progress: 1, Total: 2, HasTotal: true, HasReport: true, Message: "世界世界世界世界"}, 40, "###....   50%  1/2  0.0 s  世界世界世..."},
		{"text of a page", Bar{Label: "a\x1b[2J", Progress: 1, HasReport: true, Message: "x\ny\x1b[31m"}, 60, `a\x1b[2J  |  1  0.0 s  x y\x1b[31m`},
	} {
		got := c.state.Draw(c.width, ASCIIGlyphs)
		if got != c.want {
			t.Errorf("bar of the case %s:\ngot  |%s|\nwant |%s|", c.name, got, c.want)
		}
	}
}

func TestBarFitsWidth(t *testing.T) {
	bars := []Bar{
		{}, {Label: "tool", HasReport: true, Progress: 5},
		{Label: "a__tool", Progress: 123456, Total: 999999999, HasTotal: true, HasReport: true, Message: "世界 and e\u0301 and more", Elapsed: time.Hour},
	}
	for width := range 200 {
		for i, s := range bars {
			for _, g := range []Glyphs{ASCIIGlyphs, unicodeGlyphs} {
				line := s.Draw(width, g)
				if textWidth(line) > width || strings.ContainsAny(line, "\n\r") {
					t.Errorf("bar %d: want at most %d columns on one line, got %d columns: %q", i, width, textWidth(line), line)
				}
			}
		}
	}
}

func TestElapsedTimeFormat(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0 s", 1299 * time.Millisecond: "1.2 s", 9999 * time.Millisecond: "9.9 s", 10 * time.Second: "10 s",
		59*time.Second + 999*time.Millisecond: "59 s", time.Minute: "1 min 00 s", 5*time.Minute + 3*time.Second: "5 min 03 s", 25 * time.Hour: "25 h 00 min",
	} {
		if got := Elapsed(d); got != want {
			t.Errorf("Elapsed(%v) = %s, want %s", d, got, want)
		}
	}
}
