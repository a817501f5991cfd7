// Package jsonread reads handwritten JSON objects and collects all mistakes, so that an
// author can correct them in one pass.
//
// [New] reads an object in compact JSON, without white space between tokens (see
// [opentabs/internal/rawjson]). The methods of [Reader], such as Text and Bool, return
// members and check their types. Each mistake in the JSON object becomes a [Problem],
// which contains the path of the wrong JSON member.
package jsonread

import (
	"fmt"
	"math"
	"strings"

	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
)

// Reader returns the members of one JSON object and collects problems. Unlike
// encoding/json, Reader compares member names case-sensitively. A Reader is not safe for
// concurrent use.
type Reader struct {
	// Path is the prefix of member names in the Reader's problems, such as "tools[3]."
	// for an object in an array.
	Path     string
	Members  map[string][]byte
	Problems *Problems
}

// New returns a Reader for a JSON object that has no white space between its tokens. If a
// member name occurs more than once, the last member wins, as in JavaScript.
func New(rawJSON []byte, path string, problems *Problems) *Reader {
	r := &Reader{Path: path, Members: map[string][]byte{}, Problems: problems}
	for m := range rawjson.Members(rawJSON) {
		r.Members[m.Key] = m.Value
	}
	return r
}

// Add adds a problem about the member named key. The text of the problem begins with the
// path of the JSON member.
func (r *Reader) Add(key, format string, args ...any) {
	r.Problems.Add("%s%s %s", r.Path, key, fmt.Sprintf(format, args...))
}

// Has reports whether the object has the member key with a value other than null.
func (r *Reader) Has(key string) bool {
	rawJSON, ok := r.Members[key]
	return ok && string(rawJSON) != "null"
}

// Text returns a required string, which must contain more than white space. If the string
// is missing or empty, Text adds a problem whose text ends with remedy, the advice to the
// author.
func (r *Reader) Text(key, remedy string) string {
	if !r.Has(key) {
		r.Add(key, "is missing; %s", remedy)
		return ""
	}
	s, ok := r.TextOrFalse(key)
	if ok && strings.TrimSpace(s) == "" {
		r.Add(key, "is empty; %s", remedy)
	}
	return s
}

// OptionalText returns an optional string; empty if the member is absent or invalid.
func (r *Reader) OptionalText(key string) string {
	s, _ := r.TextOrFalse(key)
	return s
}

// TextOrFalse returns the text of an optional string; an empty text and true if the
// member is absent. If the member is not a string, or contains characters that a reviewer
// would not see, TextOrFalse returns false.
func (r *Reader) TextOrFalse(key string) (string, bool) {
	if !r.Has(key) {
		return "", true
	}
	if rawjson.KindOf(r.Members[key]) != rawjson.KindString {
		r.Add(key, "is %s; make it a string", rawjson.KindOf(r.Members[key]))
		return "", false
	}
	s := rawjson.Unquote(r.Members[key])
	if problemText := plaintext.CheckDisplayText(s); problemText != "" {
		r.Add(key, "%s", problemText)
		return "", false
	}
	return plaintext.Clean(s, math.MaxInt), true
}

// Bool returns an optional boolean; nil if the member is absent or not a boolean.
func (r *Reader) Bool(key string) *bool {
	if !r.Has(key) {
		return nil
	}
	if rawjson.KindOf(r.Members[key]) != rawjson.KindBool {
		r.Add(key, "is %s; make it true or false", rawjson.KindOf(r.Members[key]))
		return nil
	}
	b := string(r.Members[key]) == "true"
	return &b
}

// Object returns a reader for a nested JSON object; nil if the member is absent or not an
// object.
func (r *Reader) Object(key string) *Reader {
	if !r.Has(key) {
		return nil
	}
	if rawjson.KindOf(r.Members[key]) != rawjson.KindObject {
		r.Add(key, "is %s; make it an object", rawjson.KindOf(r.Members[key]))
		return nil
	}
	return New(r.Members[key], r.Path+key+".", r.Problems)
}

// Strings returns the valid strings of an optional array. Strings returns nil if the
// member is absent or not an array. If the array is empty, Strings returns an empty slice
// instead of nil.
func (r *Reader) Strings(key string) []string {
	if !r.Has(key) {
		return nil
	}
	if rawjson.KindOf(r.Members[key]) != rawjson.KindArray {
		r.Add(key, "is %s; make it an array of strings", rawjson.KindOf(r.Members[key]))
		return nil
	}
	items := rawjson.Elements(r.Members[key])
	strings := make([]string, 0, len(items))
	for i, item := range items {
		if rawjson.KindOf(item) != rawjson.KindString {
			r.Add(fmt.Sprintf("%s[%d]", key, i), "is %s; make it a string", rawjson.KindOf(item))
			continue
		}
		unquoted := rawjson.Unquote(item)
		if problemText := plaintext.CheckDisplayText(unquoted); problemText != "" {
			r.Add(fmt.Sprintf("%s[%d]", key, i), "%s", problemText)
			continue
		}
		strings = append(strings, unquoted)
	}
	return strings
}

// Problem is one mistake in a file of a plugin's package.
type Problem struct {
	// File is the path of the file with the mistake, relative to the package folder. The
	// field File is empty if the mistake concerns the package folder as a whole.
	File string
	// Text describes the mistake and its correction in one sentence, such as "version is
	// missing; write it".
	Text string
}

func (p Problem) String() string {
	if p.File == "" {
		return p.Text
	}
	return p.File + ": " + p.Text
}

// Problems collects the problems of one file, in the order of discovery.
type Problems struct {
	File string
	List []Problem
}

// Add formats a sentence like fmt.Sprintf, and appends it to List as a problem of the
// file.
func (p *Problems) Add(format string, args ...any) {
	p.List = append(p.List, Problem{File: p.File, Text: fmt.Sprintf(format, args...)})
}
