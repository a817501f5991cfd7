// Package sourcemap reads and rewrites source maps (ECMA-426) in the form that esbuild
// writes.
package sourcemap

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"opentabs/internal/lazyregexp"
)

// Map is a decoded source map. A Map is immutable and safe for concurrent use.
type Map struct {
	sources  []string
	contents []string
	lines    [][]segment
}

// The type segment maps a column of the bundle to a position in a source file. The
// columns, lines and source indexes count from 0.
type segment struct{ column, source, line, sourceColumn int }

// rawMap is the JSON form of a source map.
type rawMap struct {
	Version        int      `json:"version"`
	Sources        []string `json:"sources"`
	SourcesContent []string `json:"sourcesContent"`
	Mappings       string   `json:"mappings"`
	Names          []string `json:"names"`
}

// maxLines is the maximum number of lines in a bundle. Source maps come from the files of
// plugins, so an attacker can write a huge source map.
const maxLines = 2_000_000

// Parse decodes the JSON text of a source map.
func Parse(text []byte) (*Map, error) {
	var raw rawMap
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("read a source map: %w", err)
	}
	if strings.Count(raw.Mappings, ";") > maxLines {
		return nil, errors.New("read a source map: the map has too many lines")
	}
	m := &Map{sources: raw.Sources, contents: raw.SourcesContent}
	var last segment // each position in a source map is relative to the position before it
	for group := range strings.SplitSeq(raw.Mappings, ";") {
		last.column = 0
		var line []segment
		for text := range strings.SplitSeq(group, ",") {
			fields := decodeVLQ(text)
			if len(fields) == 0 {
				continue
			}
			last.column += fields[0]
			if len(fields) < 4 {
				continue
			}
			last.source, last.line, last.sourceColumn = last.source+fields[1], last.line+fields[2], last.sourceColumn+fields[3]
			if last.source >= 0 && last.source < len(m.sources) && last.line >= 0 && last.sourceColumn >= 0 {
				line = append(line, last)
			}
		}
		m.lines = append(m.lines, line)
	}
	return m, nil
}

// Position is a line and column in a source file of the plugin. Line and Column count
// from 1.
type Position struct {
	// File is the path of the source file, relative to the plugin's directory.
	File         string
	Line, Column int
}

// String formats the position as file:line:column.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Find returns the position in the author's source for a position in the bundle. The
// arguments line and column count from 1. Find returns false for code that the author did
// not write.
func (m *Map) Find(line, column int) (Position, bool) {
	if line < 1 || line > len(m.lines) || len(m.lines[line-1]) == 0 {
		return Position{}, false
	}
	segments := m.lines[line-1]
	i, isExact := slices.BinarySearchFunc(segments, column-1, func(s segment, column int) int { return cmp.Compare(s.column, column) })
	if !isExact {
		i = max(i-1, 0)
	}
	s := segments[i]
	file, isOwn := pluginFilePath(m.sources[s.source])
	return Position{File: file, Line: s.line + 1, Column: s.sourceColumn + 1}, isOwn
}

// Paths in a source map are relative to the folder dist.
func pluginFilePath(source string) (string, bool) {
	if strings.Contains(source, ":") || strings.Contains(source, "node_modules/") || strings.HasSuffix(source, "opentabs-entry.ts") {
		return "", false
	}
	return path.Join("dist", source), true
}

var framePosition = lazyregexp.New(`:(\d+):(\d+)\)?$`)

// FindInStack returns the position of the innermost stack frame that is in the author's
// code. If no stack frame is in the author's code, the position is empty.
func (m *Map) FindInStack(stack string) Position {
	for frame := range strings.SplitSeq(stack, "\n") {
		match := framePosition().FindStringSubmatch(strings.TrimSpace(frame))
		if match == nil {
			continue
		}
		var line, column int
		_, _ = fmt.Sscan(match[1], &line)
		_, _ = fmt.Sscan(match[2], &column)
		if position, ok := m.Find(line, column); ok {
			return position
		}
	}
	return Position{}
}

// MoveLines returns the source map of a bundle in which whole lines were moved or removed. The function newLine returns
// the new number of a line, or -1 for a removed line; line numbers count from 0. The map that MoveLines returns
// contains only the source files that still have code in the bundle.
func (m *Map) MoveLines(newLine func(line int) int) *Map {
	moved := &Map{}
	indexes := map[int]int{}
	for i, line := range m.lines {
		target := newLine(i)
		if target < 0 || len(line) == 0 {
			continue
		}
		for len(moved.lines) <= target {
			moved.lines = append(moved.lines, nil)
		}
		for _, s := range line {
			index, isKnown := indexes[s.source]
			if !isKnown {
				index = len(moved.sources)
				indexes[s.source] = index
				content := ""
				if s.source < len(m.contents) {
					content = m.contents[s.source]
				}
				moved.sources, moved.contents = append(moved.sources, m.sources[s.source]), append(moved.contents, content)
			}
			s.source = index
			moved.lines[target] = append(moved.lines[target], s)
		}
	}
	return moved
}

// Encode returns the JSON text of the source map.
func (m *Map) Encode() ([]byte, error) {
	var mappings strings.Builder
	var last segment
	for i, line := range m.lines {
		if i > 0 {
			mappings.WriteByte(';')
		}
		last.column = 0
		for j, s := range line {
			if j > 0 {
				mappings.WriteByte(',')
			}
			for _, number := range []int{s.column - last.column, s.source - last.source, s.line - last.line, s.sourceColumn - last.sourceColumn} {
				encodeVLQ(&mappings, number)
			}
			last = s
		}
	}
	raw := rawMap{Version: 3, Sources: m.sources, SourcesContent: m.contents, Mappings: mappings.String(), Names: []string{}}
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, fmt.Errorf("write a source map: %w", err)
	}
	return text, nil
}

const vlqDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// A segment contains several numbers in base 64, with five bits per digit. The lowest bit of each number in a source
// map is the number's sign.
func decodeVLQ(segment string) []int {
	var fields []int
	value, shift := 0, 0
	for _, c := range segment {
		digit := strings.IndexRune(vlqDigits, c)
		if digit < 0 || shift > 30 {
			return nil
		}
		value += (digit & 31) << shift
		if digit&32 != 0 {
			shift += 5
			continue
		}
		if value&1 != 0 {
			fields = append(fields, -(value >> 1))
		} else {
			fields = append(fields, value>>1)
		}
		value, shift = 0, 0
	}
	return fields
}

func encodeVLQ(b *strings.Builder, number int) {
	value := number << 1
	if number < 0 {
		value = -number<<1 | 1
	}
	for {
		digit := value & 31
		if value >>= 5; value > 0 {
			digit |= 32
		}
		b.WriteByte(vlqDigits[digit])
		if value == 0 {
			return
		}
	}
}
