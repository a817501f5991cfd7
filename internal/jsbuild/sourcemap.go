package jsbuild

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"opentabs/internal/lazyregexp"
)

// frameAt matches the position in one line of the engine's stack traces.
var frameAt = lazyregexp.New(`:(\d+):(\d+)\)?$`)

// sourceLocation returns the location in the plugin's source for a stack trace of the bundle, as
// file:line:column; "" if no frame is in the plugin's source.
func (b bundled) sourceLocation(stack string) string {
	for _, frame := range strings.Split(stack, "\n") {
		at := frameAt().FindStringSubmatch(strings.TrimSpace(frame))
		if at == nil {
			continue
		}
		line, _ := strconv.Atoi(at[1])
		column, _ := strconv.Atoi(at[2])
		if where := sourceOf(b.SourceMap, line-1, column-1); where != "" {
			return where
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
	var source, atLine, atColumn int // the mappings encode differences, across all lines
	var found string
	for i, group := range strings.Split(m.Mappings, ";") {
		if i > line {
			break
		}
		generated := 0
		for _, segment := range strings.Split(group, ",") {
			fields := decodeVLQ(segment)
			if len(fields) == 0 {
				continue
			}
			generated += fields[0]
			if len(fields) < 4 {
				continue
			}
			source, atLine, atColumn = source+fields[1], atLine+fields[2], atColumn+fields[3]
			if i == line && (generated <= column || found == "") && source >= 0 && source < len(m.Sources) {
				found = formatLocation(m.Sources[source], atLine+1, atColumn+1)
			}
		}
	}
	return found
}

// formatLocation formats a location in a file whose path is relative to dist.
func formatLocation(file string, line, column int) string {
	if strings.Contains(file, ":") || strings.Contains(file, "node_modules/") || strings.HasSuffix(file, "opentabs-entry.ts") {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", path.Join("dist", file), line, column)
}

const vlqDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// decodeVLQ decodes one segment of a source map's mappings (ECMA-426): numbers in base
// 64, with five bits per digit and the sign in the lowest bit.
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
