package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/mcpclient"
)

// screen is a terminal of one line that counts what is drawn.
type screen struct {
	mu     sync.Mutex // guards all below
	writes int
	line   []rune
	column int
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
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

func (s *screen) show() (line string, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(string(s.line), " "), s.writes
}

func terminalOutput(s *screen) *output {
	return &output{stderr: s, errTerminal: true, errSize: func() (int, int) { return 61, 24 }, glyphs: asciiGlyphs}
}

func TestBarView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		v := newProgressView(terminalOutput(s), "a__b", true)
		pass(200 * time.Millisecond)
		if line, writes := s.show(); writes != 0 {
			t.Errorf("a quick call would flicker: %q", line)
		}
		pass(101 * time.Millisecond)
		if line, _ := s.show(); line != `a__b  \  no progress yet  0.3s` {
			t.Errorf("got %q", line)
		}
		v.report(mcpclient.Progress{Progress: 1, Total: 4, HasTotal: true, Message: "first"})
		v.report(mcpclient.Progress{Progress: 2, Total: 4, HasTotal: true})
		pass(50 * time.Millisecond)
		if line, _ := s.show(); line != "a__b  #######.......   50%  2/4  0.3s  first" {
			t.Errorf("got %q", line)
		}
		v.close()
		v.close()
		v.report(mcpclient.Progress{Progress: 3})
		if line, _ := s.show(); line != "" || s.column != 0 {
			t.Errorf("left behind %q, column %d", line, s.column)
		}
	})
}

// TestBarViewRate reports much more often than anybody can see.
func TestBarViewRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		v := newProgressView(terminalOutput(s), "a__b", true)
		for i := range 2000 {
			v.report(mcpclient.Progress{Progress: float64(i), Total: 2000, HasTotal: true, Message: fmt.Sprint(i)})
			pass(time.Millisecond)
		}
		v.close()
		if _, writes := s.show(); writes > 2*20+1 || writes < 2*15 {
			t.Errorf("%d writes in 2 s", writes)
		}
	})
}

// pass lets time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// Numbers are always shown, messages only if they are for the user or all are
// asked for.
func TestLineView(t *testing.T) {
	reports := []mcpclient.Progress{
		{Progress: 0.000001, Message: "indexing"},
		{Progress: 0.000002, Message: "Reads the list.", Audience: "user"},
		{Progress: 0.000003, Message: "cached", Audience: "internal"},
		{Progress: 1, Total: 3, HasTotal: true, Message: "one\nline \x1b[31m", Audience: "user"},
		{Progress: 1.000003, Total: 3, HasTotal: true, Message: "page 2", Audience: "other"},
		{Progress: 2, Total: 3, HasTotal: true, Message: "page 3"},
		{Progress: 3, Total: 3, HasTotal: true},
		{Progress: 3.000003, Message: "Tidies up.", Audience: "user"},
		{Progress: 1234567.000001},
	}
	for all, want := range map[bool]string{
		false: "Reads the list.|33% 1/3 one line \\x1b[31m|66% 2/3|100% 3/3|3 Tidies up.|1234567|",
		true: "indexing|Reads the list.|cached|33% 1/3 one line \\x1b[31m|33% 1/3 page 2|66% 2/3 page 3|" +
			"100% 3/3|3 Tidies up.|1234567|",
	} {
		var b bytes.Buffer
		v := newProgressView(&output{stderr: &b}, "a__b", all)
		for _, p := range reports {
			v.report(p)
		}
		v.close()
		if got := strings.ReplaceAll(strings.ReplaceAll(b.String(), "opentabs: progress ", ""), "\n", "|"); got != want {
			t.Errorf("all %t: got %q, want %q", all, got, want)
		}
	}
}

func TestBarViewShowsMessagesForTheUser(t *testing.T) {
	for all, want := range map[bool]string{
		false: `a__b  ####..........   33%  1/3  0.3s  Reads the list.`,
		true:  `a__b  ####..........   33%  1/3  0.3s  cached`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &screen{}
			v := newProgressView(terminalOutput(s), "a__b", all)
			v.report(mcpclient.Progress{Progress: 0.000001, Message: "Reads the list.", Audience: "user"})
			v.report(mcpclient.Progress{Progress: 1, Total: 3, HasTotal: true, Message: "cached"})
			pass(301 * time.Millisecond)
			line, _ := s.show()
			v.close()
			if strings.Join(strings.Fields(line), " ") != strings.Join(strings.Fields(want), " ") {
				t.Errorf("all %t: got %q, want %q", all, line, want)
			}
		})
	}
}
