// Package terminaltest simulates a terminal for tests.
package terminaltest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Screen simulates a terminal that interprets the escape sequences of package terminal, and panics on any other escape
// sequence. Unlike a real terminal, Screen keeps all lines, not only the last Rows lines. Screen is safe for concurrent
// use.
type Screen struct {
	// Columns and Rows are the initial size of the simulated terminal. To change the terminal's
	// size later, call Resize.
	Columns, Rows int
	// Written is the number of bytes that the program under test has written to the terminal.
	Written int

	mu          sync.Mutex // the mutex guards all fields
	lines       [][]rune
	row, column int
}

// Write changes the simulated screen as a terminal does when a program writes p to it. Write always
// returns a nil error.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Written += len(p)
	text := []rune(string(p))
	for i := 0; i < len(text); i++ {
		for s.row >= len(s.lines) {
			s.lines = append(s.lines, nil)
		}
		switch r := text[i]; r {
		case '\r':
			s.column = 0
		case '\n':
			s.row, s.column = s.row+1, 0
		case '\x1b':
			commandEnd := i + 2
			for text[commandEnd] < '@' {
				commandEnd++
			}
			s.obeyCommand(text[commandEnd], string(text[i+2:commandEnd]))
			i = commandEnd
		default:
			s.putRune(r)
		}
	}
	for s.row >= len(s.lines) {
		s.lines = append(s.lines, nil)
	}
	return len(p), nil
}

func (s *Screen) putRune(r rune) {
	if s.column == s.Columns {
		s.row, s.column = s.row+1, 0
		s.lines = append(s.lines, nil)
	}
	line := &s.lines[s.row]
	for len(*line) <= s.column {
		*line = append(*line, ' ')
	}
	(*line)[s.column] = r
	s.column++
}

func (s *Screen) obeyCommand(command rune, argument string) {
	switch command {
	case 'A':
		n, err := strconv.Atoi(argument)
		topLine := max(0, len(s.lines)-s.Rows)
		if err != nil || s.row-n < topLine {
			panic(fmt.Sprintf("up %s from line %d of a screen that begins at %d", argument, s.row, topLine))
		}
		s.row -= n
	case 'K':
		s.lines[s.row] = s.lines[s.row][:min(s.column, len(s.lines[s.row]))]
	case 'J':
		s.lines[s.row] = s.lines[s.row][:min(s.column, len(s.lines[s.row]))]
		s.lines = s.lines[:s.row+1]
	default:
		panic("unknown command " + string(command))
	}
}

// Size returns the current columns and rows of the simulated terminal.
func (s *Screen) Size() (columns, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Columns, s.Rows
}

// Resize sets the number of columns of the simulated terminal. Like most terminals,
// Resize wraps lines that are now too long, and keeps the cursor after the same
// character.
func (s *Screen) Resize(columns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Columns = columns
	var lines [][]rune
	row, column := 0, 0
	for i, line := range s.lines {
		if i == s.row {
			row, column = len(lines)+max(0, s.column-1)/columns, s.column-max(0, s.column-1)/columns*columns
		}
		for len(line) > columns {
			lines = append(lines, line[:columns:columns])
			line = line[columns:]
		}
		lines = append(lines, line)
	}
	s.lines, s.row, s.column = lines, row, column
}

// String returns all lines of the simulated terminal, without spaces at the ends of the lines.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
