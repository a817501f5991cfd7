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

// segment maps a column of the bundle to a position in a source file. The columns, lines
// and source indexes count from 0.
type segment struct{ column, sourceIndex, line, sourceColumn int }

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
func Parse(mapJSON []byte) (*Map, error) {
	var parsedMap rawMap
	if err := json.Unmarshal(mapJSON, &parsedMap); err != nil {
		return nil, fmt.Errorf("read a source map: %w", err)
	}
	if strings.Count(parsedMap.Mappings, ";") > maxLines {
		return nil, errors.New("read a source map: the map has too many lines")
	}
	m := &Map{sources: parsedMap.Sources, contents: parsedMap.SourcesContent}
	var lastSegment segment // each position in a source map is relative to the position before it
	for group := range strings.SplitSeq(parsedMap.Mappings, ";") {
		lastSegment.column = 0
		var line []segment
		for segmentText := range strings.SplitSeq(group, ",") {
			fields := decodeVLQ(segmentText)
			if len(fields) == 0 {
				continue
			}
			lastSegment.column += fields[0]
			if len(fields) < 4 {
				continue
			}
			lastSegment.sourceIndex, lastSegment.line, lastSegment.sourceColumn = lastSegment.sourceIndex+fields[1], lastSegment.line+fields[2], lastSegment.sourceColumn+fields[3]
			if lastSegment.sourceIndex >= 0 && lastSegment.sourceIndex < len(m.sources) && lastSegment.line >= 0 && lastSegment.sourceColumn >= 0 {
				line = append(line, lastSegment)
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
	file, isPluginFile := pluginFilePath(m.sources[s.sourceIndex])
	return Position{File: file, Line: s.line + 1, Column: s.sourceColumn + 1}, isPluginFile
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
		regexpMatch := framePosition().FindStringSubmatch(strings.TrimSpace(frame))
		if regexpMatch == nil {
			continue
		}
		var line, column int
		_, _ = fmt.Sscan(regexpMatch[1], &line)
		_, _ = fmt.Sscan(regexpMatch[2], &column)
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
	shiftedMap := &Map{}
	indexes := map[int]int{}
	for i, line := range m.lines {
		target := newLine(i)
		if target < 0 || len(line) == 0 {
			continue
		}
		for len(shiftedMap.lines) <= target {
			shiftedMap.lines = append(shiftedMap.lines, nil)
		}
		for _, s := range line {
			index, isKnown := indexes[s.sourceIndex]
			if !isKnown {
				index = len(shiftedMap.sources)
				indexes[s.sourceIndex] = index
				content := ""
				if s.sourceIndex < len(m.contents) {
					content = m.contents[s.sourceIndex]
				}
				shiftedMap.sources, shiftedMap.contents = append(shiftedMap.sources, m.sources[s.sourceIndex]), append(shiftedMap.contents, content)
			}
			s.sourceIndex = index
			shiftedMap.lines[target] = append(shiftedMap.lines[target], s)
		}
	}
	return shiftedMap
}

// Encode returns the JSON text of the source map.
func (m *Map) Encode() ([]byte, error) {
	var mappings strings.Builder
	var lastSegment segment
	for i, line := range m.lines {
		if i > 0 {
			mappings.WriteByte(';')
		}
		lastSegment.column = 0
		for j, s := range line {
			if j > 0 {
				mappings.WriteByte(',')
			}
			for _, number := range []int{s.column - lastSegment.column, s.sourceIndex - lastSegment.sourceIndex, s.line - lastSegment.line, s.sourceColumn - lastSegment.sourceColumn} {
				encodeVLQ(&mappings, number)
			}
			lastSegment = s
		}
	}
	parsedMap := rawMap{Version: 3, Sources: m.sources, SourcesContent: m.contents, Mappings: mappings.String(), Names: []string{}}
	mapJSON, err := json.Marshal(parsedMap)
	if err != nil {
		return nil, fmt.Errorf("write a source map: %w", err)
	}
	return mapJSON, nil
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
