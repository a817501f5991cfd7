// Package jsonread reads JSON objects written by hand and collects their problems, so
// that an author can correct all of them at once.
//
// [New] reads a compact object (see [opentabs/internal/rawjson]). The methods of
// [Reader] return members by type; each mistake becomes a [Problem] with the path of
// the member. A Reader is for one goroutine.
package jsonread

import (
	"fmt"
	"math"
	"strings"

	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
)

// Reader reads the members of one JSON object and collects problems. Unlike
// encoding/json, Reader compares names exactly.
type Reader struct {
	// Path is the path of the object in its file, such as "tools[3].".
	Path     string
	Members  map[string][]byte
	Problems *Problems
}

// New returns a reader for a compact object. Of several members with one name the
// last counts, as in JavaScript.
func New(raw []byte, path string, problems *Problems) *Reader {
	r := &Reader{Path: path, Members: map[string][]byte{}, Problems: problems}
	for m := range rawjson.Members(raw) {
		r.Members[m.Key] = m.Value
	}
	return r
}

// Add reports a problem with a member.
func (r *Reader) Add(key, format string, args ...any) {
	r.Problems.Add("%s%s %s", r.Path, key, fmt.Sprintf(format, args...))
}

// Has reports whether a member is present and not null.
func (r *Reader) Has(key string) bool {
	raw, ok := r.Members[key]
	return ok && string(raw) != "null"
}

// Text returns a required string, which must not be empty.
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

// Optional returns an optional string; empty if the string is absent.
func (r *Reader) Optional(key string) string {
	s, _ := r.TextOrFalse(key)
	return s
}

// TextOrFalse returns an optional string. TextOrFalse reports false if the member is not a valid
// string.
func (r *Reader) TextOrFalse(key string) (string, bool) {
	if !r.Has(key) {
		return "", true
	}
	if rawjson.KindOf(r.Members[key]) != rawjson.KindString {
		r.Add(key, "is %s; make it a string", rawjson.KindOf(r.Members[key]))
		return "", false
	}
	s := rawjson.Unquote(r.Members[key])
	if problem := plaintext.CheckShown(s); problem != "" {
		r.Add(key, "%s", problem)
		return "", false
	}
	return plaintext.Clean(s, math.MaxInt), true
}

// Bool returns an optional boolean; nil if the boolean is absent.
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

// Object returns a reader for an object; nil if it is absent or not an object.
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

// Strings returns an array of strings. The result is nil if the member is absent or not
// an array, but not nil for an empty array.
func (r *Reader) Strings(key string) []string {
	if !r.Has(key) {
		return nil
	}
	if rawjson.KindOf(r.Members[key]) != rawjson.KindArray {
		r.Add(key, "is %s; make it an array of strings", rawjson.KindOf(r.Members[key]))
		return nil
	}
	items := rawjson.Elements(r.Members[key])
	list := make([]string, 0, len(items))
	for i, item := range items {
		if rawjson.KindOf(item) != rawjson.KindString {
			r.Add(fmt.Sprintf("%s[%d]", key, i), "is %s; make it a string", rawjson.KindOf(item))
			continue
		}
		text := rawjson.Unquote(item)
		if problem := plaintext.CheckShown(text); problem != "" {
			r.Add(fmt.Sprintf("%s[%d]", key, i), "%s", problem)
			continue
		}
		list = append(list, text)
	}
	return list
}

// Problem is one mistake in a file.
type Problem struct {
	// File is relative to the folder of the package; empty for the folder itself.
	File string
	// Text is a sentence with the mistake and its correction.
	Text string
}

func (p Problem) String() string {
	if p.File == "" {
		return p.Text
	}
	return p.File + ": " + p.Text
}

// Problems collects the problems of one file.
type Problems struct {
	File string
	List []Problem
}

// Add formats a sentence and adds it to List as a problem of the file.
func (p *Problems) Add(format string, args ...any) {
	p.List = append(p.List, Problem{File: p.File, Text: fmt.Sprintf(format, args...)})
}
