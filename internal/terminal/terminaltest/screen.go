// Package terminaltest simulates a terminal for tests.
package terminaltest

import (
	"fmt"
	"strconv"
	"strings"
)

// Screen is a terminal that obeys the escape sequences that package terminal writes,
// and panics at others. Screen keeps all lines; the last Rows of them are on the
// screen.
type Screen struct {
	Columns, Rows int
	// Written is how many bytes were written.
	Written int

	lines [][]rune
	y, x  int
}

// Write implements io.Writer.
func (s *Screen) Write(p []byte) (int, error) {
	s.Written += len(p)
	text := []rune(string(p))
	for i := 0; i < len(text); i++ {
		for s.y >= len(s.lines) {
			s.lines = append(s.lines, nil)
		}
		switch r := text[i]; r {
		case '\r':
			s.x = 0
		case '\n': // the system's terminal adds the \r
			s.y, s.x = s.y+1, 0
		case '\x1b':
			end := i + 2
			for text[end] < '@' {
				end++
			}
			s.obeyCommand(text[end], string(text[i+2:end]))
			i = end
		default:
			s.putRune(r)
		}
	}
	for s.y >= len(s.lines) {
		s.lines = append(s.lines, nil)
	}
	return len(p), nil
}

func (s *Screen) putRune(r rune) {
	if s.x == s.Columns { // it wraps
		s.y, s.x = s.y+1, 0
		s.lines = append(s.lines, nil)
	}
	line := &s.lines[s.y]
	for len(*line) <= s.x {
		*line = append(*line, ' ')
	}
	(*line)[s.x] = r
	s.x++
}

func (s *Screen) obeyCommand(command rune, argument string) {
	switch command {
	case 'A':
		n, err := strconv.Atoi(argument)
		top := max(0, len(s.lines)-s.Rows)
		if err != nil || s.y-n < top {
			panic(fmt.Sprintf("up %s from line %d of a screen that begins at %d", argument, s.y, top))
		}
		s.y -= n
	case 'K':
		s.lines[s.y] = s.lines[s.y][:min(s.x, len(s.lines[s.y]))]
	case 'J':
		s.lines[s.y] = s.lines[s.y][:min(s.x, len(s.lines[s.y]))]
		s.lines = s.lines[:s.y+1]
	default:
		panic("unknown command " + string(command))
	}
}

// String returns all lines, without the spaces at their ends.
func (s *Screen) String() string {
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
