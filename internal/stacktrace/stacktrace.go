// Package stacktrace finds the author's source lines for Chrome's stack traces of
// adapters. The package reads the source map beside the adapter. Pages do not receive
// this source map.
package stacktrace

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"opentabs/internal/lazyregexp"
	"opentabs/internal/sourcemap"
)

const (
	// maxFrames limits the number of frames in one stack trace.
	maxFrames = 10
	// maxMapBytes limits the size of a source map that Resolver reads.
	maxMapBytes = 32 << 20
	// mapSuffix is the suffix of the file with an adapter's source map.
	mapSuffix = ".map"
)

// Trace is a stack trace of an adapter in the format of Chrome.
type Trace struct {
	Stack string
	// Origin is the stack trace of an error that was created in the line before the
	// adapter's first line.
	Origin string
}

// Resolver reads source maps to resolve stack traces. The zero value of Resolver is ready
// for use. A Resolver is safe for concurrent use.
type Resolver struct {
	mu sync.Mutex // guards the fields below
	// file is the path of the last source map that was read, with its modification time
	// and size.
	file    string
	modTime int64
	size    int64
	parsed  *sourcemap.Map // nil if the source map cannot be read
}

// frame is one line of a stack trace.
type frame struct {
	function, script string
	line, column     int
}

// framePattern matches one line of a stack trace: a function and its position.
var framePattern = lazyregexp.New(`^\s*at (?:(.+?) \()?(.*?):(\d+):(\d+)\)?$`)

// Frames returns the frames of the author's code in a stack trace, the innermost first,
// for example "exportMessages (src/tools/export.ts:31:11)". adapterFile is the file of
// the adapter. Without a source map, the positions of the frames are in the adapter.
func (r *Resolver) Frames(adapterFile string, trace Trace) []string {
	origins := parseFrames(trace.Origin)
	if len(origins) == 0 {
		return nil
	}
	origin := origins[0]
	sourceMap := r.read(adapterFile + mapSuffix)
	var frames []string
	for _, f := range parseFrames(trace.Stack) {
		line := f.line - origin.line
		if f.script != origin.script || line < 1 || len(frames) == maxFrames {
			continue
		}
		location := filepath.Base(adapterFile) + ":" + strconv.Itoa(line) + ":" + strconv.Itoa(f.column)
		if sourceMap != nil {
			position, isOwn := sourceMap.Find(line, f.column)
			if !isOwn {
				continue
			}
			location = position.String()
		}
		if f.function != "" {
			location = f.function + " (" + location + ")"
		}
		frames = append(frames, location)
	}
	return frames
}

// anonymous matches the parts of function names that are meaningless to an author.
var anonymous = lazyregexp.New(`<anonymous>|\[as \w+\]|^(?:Object|Generator|async)\b[. ]?`)

// parseFrames returns the frames of a stack trace that have a position.
func parseFrames(stack string) []frame {
	var frames []frame
	for line := range strings.SplitSeq(stack, "\n") {
		match := framePattern().FindStringSubmatch(line)
		if match == nil {
			continue
		}
		lineNumber, lineErr := strconv.Atoi(match[3])
		column, columnErr := strconv.Atoi(match[4])
		if lineErr != nil || columnErr != nil {
			continue
		}
		function := strings.Trim(anonymous().ReplaceAllString(match[1], ""), ". ")
		frames = append(frames, frame{function: function, script: match[2], line: lineNumber, column: column})
	}
	return frames
}

// read returns the source map in a file; nil if the file is missing. read parses the file
// again only if the file has changed.
func (r *Resolver) read(file string) *sourcemap.Map {
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxMapBytes || !info.Mode().IsRegular() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == file && r.modTime == info.ModTime().UnixNano() && r.size == info.Size() {
		return r.parsed
	}
	r.file, r.modTime, r.size, r.parsed = file, info.ModTime().UnixNano(), info.Size(), nil
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	if parsed, err := sourcemap.Parse(text); err == nil {
		r.parsed = parsed
	}
	return r.parsed
}
