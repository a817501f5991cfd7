package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/terminal/terminaltest"
)

type screen struct {
	mu         sync.Mutex // the mutex guards all fields below
	writeCount int
	line       []rune
	column     int
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeCount++
	for _, r := range string(p) {
		switch {
		case r == '\r':
			s.column = 0
		case s.column < len(s.line):
			s.line[s.column] = r
			s.column++
		default:
			s.line = append(s.line, r)
			s.column++
		}
	}
	return len(p), nil
}

func (s *screen) currentLine() (line string, writeCount int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(string(s.line), " "), s.writeCount
}

func screenOutput(s *screen) *Output {
	return NewTerminal(s, func() (int, int) { return 61, 24 })
}

func TestProgressBarIsDrawnAfterDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		v := screenOutput(s).ShowProgress("a__b")
		advanceTime(200 * time.Millisecond)
		if line, writeCount := s.currentLine(); writeCount != 0 {
			t.Errorf("a quick call drew the progress line %q; want none", line)
		}
		advanceTime(101 * time.Millisecond)
		if line, _ := s.currentLine(); line != `a__b  \  no progress yet  0.3 s` {
			t.Errorf("bar before the first report = %q; want %q", line, `a__b  \  no progress yet  0.3 s`)
		}
		v.Update(Progress{Progress: 1, Total: 4, HasTotal: true, Message: "first"})
		v.Update(Progress{Progress: 2, Total: 4, HasTotal: true})
		advanceTime(50 * time.Millisecond)
		if line, _ := s.currentLine(); line != "a__b  #######.......   50%  2/4  0.3 s  first" {
			t.Errorf("bar after a report = %q; want %q", line, "a__b  #######.......   50%  2/4  0.3 s  first")
		}
		v.Close()
		v.Close()
		v.Update(Progress{Progress: 3})
		if line, _ := s.currentLine(); line != "" || s.column != 0 {
			t.Errorf("after Close: line %q, cursor in column %d; want an empty line and column 0", line, s.column)
		}
	})
}

func TestProgressBarRedrawRateIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		v := screenOutput(s).ShowProgress("a__b")
		for i := range 2000 {
			v.Update(Progress{Progress: float64(i), Total: 2000, HasTotal: true, Message: fmt.Sprint(i)})
			advanceTime(time.Millisecond)
		}
		v.Close()
		if _, writeCount := s.currentLine(); writeCount > 2*20+1 || writeCount < 2*15 {
			t.Errorf("the bar was written %d times in 2 s, want 30 to 41 times", writeCount)
		}
	})
}

func TestBarViewOnANarrowedTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal := &terminaltest.Screen{Columns: 70, Rows: 24}
		fmt.Fprint(terminal, "$ opentabs call a__b\n")
		v := NewTerminal(terminal, terminal.Size).ShowProgress("a__b")
		v.Update(Progress{Progress: 2, Total: 4, HasTotal: true, Message: strings.Repeat("message ", 10)})
		advanceTime(300 * time.Millisecond)
		if got, want := terminal.String(), "$ opentabs call a__b\na__b  ########.........   50%  2/4  0.3 s  message message message..."; got != want {
			t.Errorf("the terminal of 70 columns shows\n%s\nwant\n%s", got, want)
		}
		for _, columns := range []int{40, 60, 21} {
			terminal.Resize(columns)
			advanceTime(100 * time.Millisecond)
			if got := terminal.String(); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "$ opentabs call a__b\n") {
				t.Errorf("the terminal of %d columns shows\n%s\nwant the command and one line", columns, got)
			}
		}
		v.Close()
		if got, want := terminal.String(), "$ opentabs call a__b"; got != want {
			t.Errorf("after Close, the terminal shows\n%s\nwant %q", got, want)
		}
	})
}

func advanceTime(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestLineViewPrintsProgress(t *testing.T) {
	var b bytes.Buffer
	v := newTestPipe(&b).ShowProgress("a__b")
	for _, p := range []Progress{
		{Progress: 0.000001},
		{Progress: 0.000002, Message: "Reads the list."},
		{Progress: 1, Total: 3, HasTotal: true, Message: "one\nline \x1b[31m"},
		{Progress: 1.000003, Total: 3, HasTotal: true},
		{Progress: 3, Total: 3, HasTotal: true},
		{Progress: 3.000003, Message: "Tidies up."},
		{Progress: 1234567.000001},
	} {
		v.Update(p)
	}
	v.Close()
	const want = "Reads the list.|33% 1/3 one line \\x1b[31m|100% 3/3|3 Tidies up.|1234567|"
	if got := strings.ReplaceAll(strings.ReplaceAll(b.String(), "opentabs: progress ", ""), "\n", "|"); got != want {
		t.Errorf("progress lines = %q, want %q", got, want)
	}
}
