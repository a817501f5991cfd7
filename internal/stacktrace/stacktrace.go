// Package stacktrace maps Chrome's stack traces of adapters to lines in the source code of
// the plugin's author. Package stacktrace reads the source map file beside the adapter.
// opentabs never sends source maps to pages.
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
	maxFrames   = 10
	maxMapBytes = 32 << 20
	mapSuffix   = ".map"
)

// Trace is a stack trace of an error in an adapter, in Chrome's format.
type Trace struct {
	Stack string
	// Origin is the stack trace of an error that was created on purpose in the line before
	// the adapter's first line. Origin shows at which line of the script the adapter
	// begins.
	Origin string
}

// Resolver resolves stack traces with source maps, and caches the last source map. The
// zero Resolver is ready for use. A Resolver is safe for concurrent use.
type Resolver struct {
	mu        sync.Mutex // guards the fields below
	file      string
	modTime   int64
	size      int64
	parsedMap *sourcemap.Map
}

// The type frame is one position in a stack trace.
type frame struct {
	function, script string
	line, column     int
}

// framePattern matches one line of a stack trace, such as "at save
// (https://a.test/b.js:3:7)".
var framePattern = lazyregexp.New(`^\s*at (?:(.+?) \()?(.*?):(\d+):(\d+)\)?$`)

// Frames returns the positions of the author's code in a stack trace, innermost first,
// such as "exportMessages (src/tools/export.ts:31:11)". The argument adapterFile is the
// path of the bundled adapter. If the plugin has no source map, Frames returns positions
// in the bundled adapter.
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

// The variable anonymousPattern matches parts of function names that mean nothing to an author,
// such as "<anonymous>".
var anonymousPattern = lazyregexp.New(`<anonymous>|\[as \w+\]|^(?:Object|Generator|async)\b[. ]?`)

func parseFrames(stack string) []frame {
	var frames []frame
	for line := range strings.SplitSeq(stack, "\n") {
		regexpMatch := framePattern().FindStringSubmatch(line)
		if regexpMatch == nil {
			continue
		}
		lineNumber, lineErr := strconv.Atoi(regexpMatch[3])
		column, columnErr := strconv.Atoi(regexpMatch[4])
		if lineErr != nil || columnErr != nil {
			continue
		}
		function := strings.Trim(anonymousPattern().ReplaceAllString(regexpMatch[1], ""), ". ")
		frames = append(frames, frame{function: function, script: regexpMatch[2], line: lineNumber, column: column})
	}
	return frames
}

func (r *Resolver) read(file string) *sourcemap.Map {
	fileInfo, err := os.Stat(file)
	if err != nil || fileInfo.Size() > maxMapBytes || !fileInfo.Mode().IsRegular() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == file && r.modTime == fileInfo.ModTime().UnixNano() && r.size == fileInfo.Size() {
		return r.parsedMap
	}
	r.file, r.modTime, r.size, r.parsedMap = file, fileInfo.ModTime().UnixNano(), fileInfo.Size(), nil
	fileContent, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	if parsedMap, err := sourcemap.Parse(fileContent); err == nil {
		r.parsedMap = parsedMap
	}
	return r.parsedMap
}
