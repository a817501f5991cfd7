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
		v := newProgressView(terminalOutput(s), "a__b")
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
		v := newProgressView(terminalOutput(s), "a__b")
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

func TestLineView(t *testing.T) {
	var b bytes.Buffer
	v := newProgressView(&output{stderr: &b}, "a__b")
	v.report(mcpclient.Progress{Progress: 1, Total: 3, HasTotal: true, Message: "one\nline \x1b[31m"})
	v.report(mcpclient.Progress{Progress: 2})
	v.close()
	want := "opentabs: progress 33% 1/3 one line \\x1b[31m\nopentabs: progress 2\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
