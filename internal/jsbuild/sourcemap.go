package jsbuild

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"opentabs/internal/lazyregexp"
)

// framePosition matches the position in one line of the engine's stack traces.
var framePosition = lazyregexp.New(`:(\d+):(\d+)\)?$`)

// sourceLocation returns the location in the plugin's source for a stack trace, as
// file:line:column; "" if there is none.
func (b bundledScript) sourceLocation(stack string) string {
	for _, frame := range strings.Split(stack, "\n") {
		match := framePosition().FindStringSubmatch(strings.TrimSpace(frame))
		if match == nil {
			continue
		}
		line, _ := strconv.Atoi(match[1])
		column, _ := strconv.Atoi(match[2])
		if location := sourceOf(b.SourceMap, line-1, column-1); location != "" {
			return location
		}
	}
	return ""
}

// sourceOf looks up a position of a bundle in its source map. line and column count
// from 0. sourceOf returns "" for files that are not the plugin's.
func sourceOf(sourceMap []byte, line, column int) string {
	var m struct {
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
	}
	if json.Unmarshal(sourceMap, &m) != nil {
		return ""
	}
	var source, sourceLine, sourceColumn int // each position in the mappings is relative to the previous position
	var location string
	for i, group := range strings.Split(m.Mappings, ";") {
		if i > line {
			break
		}
		generatedColumn := 0
		for _, segment := range strings.Split(group, ",") {
			fields := decodeVLQ(segment)
			if len(fields) == 0 {
				continue
			}
			generatedColumn += fields[0]
			if len(fields) < 4 {
				continue
			}
			source, sourceLine, sourceColumn = source+fields[1], sourceLine+fields[2], sourceColumn+fields[3]
			if i == line && (generatedColumn <= column || location == "") && source >= 0 && source < len(m.Sources) {
				location = formatLocation(m.Sources[source], sourceLine+1, sourceColumn+1)
			}
		}
	}
	return location
}

// formatLocation formats a location in a file whose path is relative to dist.
func formatLocation(file string, line, column int) string {
	if strings.Contains(file, ":") || strings.Contains(file, "node_modules/") || strings.HasSuffix(file, "opentabs-entry.ts") {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", path.Join("dist", file), line, column)
}

const vlqDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// decodeVLQ decodes one segment of a source map's mappings (ECMA-426). The numbers are
// in base 64, with five bits per digit and the sign in the lowest bit.
func decodeVLQ(segment string) []int {
	var fields []int
	value, shift := 0, 0
	for _, c := range segment {
		digit := strings.IndexRune(vlqDigits, c)
		if digit < 0 {
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
