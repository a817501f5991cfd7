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
	// WrittenBytes is the number of bytes that the program under test has written to the terminal.
	WrittenBytes int

	mu               sync.Mutex // guards all fields
	lines            [][]rune
	rowIndex, column int
}

// Write changes the simulated screen as a terminal does when a program writes p to it. Write always
// returns a nil error.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.WrittenBytes += len(p)
	printedRunes := []rune(string(p))
	for i := 0; i < len(printedRunes); i++ {
		for s.rowIndex >= len(s.lines) {
			s.lines = append(s.lines, nil)
		}
		switch r := printedRunes[i]; r {
		case '\r':
			s.column = 0
		case '\n':
			s.rowIndex, s.column = s.rowIndex+1, 0
		case '\x1b':
			commandEnd := i + 2
			for printedRunes[commandEnd] < '@' {
				commandEnd++
			}
			s.applyCommand(printedRunes[commandEnd], string(printedRunes[i+2:commandEnd]))
			i = commandEnd
		default:
			s.writeRune(r)
		}
	}
	for s.rowIndex >= len(s.lines) {
		s.lines = append(s.lines, nil)
	}
	return len(p), nil
}

func (s *Screen) writeRune(r rune) {
	if s.column == s.Columns {
		s.rowIndex, s.column = s.rowIndex+1, 0
		s.lines = append(s.lines, nil)
	}
	line := &s.lines[s.rowIndex]
	for len(*line) <= s.column {
		*line = append(*line, ' ')
	}
	(*line)[s.column] = r
	s.column++
}

func (s *Screen) applyCommand(command rune, argument string) {
	switch command {
	case 'A':
		n, err := strconv.Atoi(argument)
		topLine := max(0, len(s.lines)-s.Rows)
		if err != nil || s.rowIndex-n < topLine {
			panic(fmt.Sprintf("up %s from line %d of a screen that begins at %d", argument, s.rowIndex, topLine))
		}
		s.rowIndex -= n
	case 'K':
		s.lines[s.rowIndex] = s.lines[s.rowIndex][:min(s.column, len(s.lines[s.rowIndex]))]
	case 'J':
		s.lines[s.rowIndex] = s.lines[s.rowIndex][:min(s.column, len(s.lines[s.rowIndex]))]
		s.lines = s.lines[:s.rowIndex+1]
	default:
		panic("unknown command " + string(command))
	}
}

// Size returns the current columns and rows of the simulated terminal.
func (s *Screen) Size() (columns, screenRows int) {
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
	rowIndex, column := 0, 0
	for i, line := range s.lines {
		if i == s.rowIndex {
			rowIndex, column = len(lines)+max(0, s.column-1)/columns, s.column-max(0, s.column-1)/columns*columns
		}
		for len(line) > columns {
			lines = append(lines, line[:columns:columns])
			line = line[columns:]
		}
		lines = append(lines, line)
	}
	s.lines, s.rowIndex, s.column = lines, rowIndex, column
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
