package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// fields reads the members of one JSON object and notes what is wrong with
// them. Names are compared exactly, unlike in encoding/json's structs.
type fields struct {
	// at is where the object stands in its file, as in "tools[3].".
	at     string
	member map[string]json.RawMessage
	to     *problems
}

func (f *fields) add(key, format string, args ...any) {
	f.to.add("%s%s %s", f.at, key, fmt.Sprintf(format, args...))
}

// has reports whether there is a member of this name other than null, which
// stands for an absent one.
func (f *fields) has(key string) bool {
	raw, ok := f.member[key]
	return ok && string(raw) != "null"
}

// text returns a string that has to be there and not be empty.
func (f *fields) text(key, remedy string) string {
	if !f.has(key) {
		f.add(key, "is missing; %s", remedy)
		return ""
	}
	s, ok := f.string(key)
	if ok && strings.TrimSpace(s) == "" {
		f.add(key, "is empty; %s", remedy)
	}
	return s
}

// optional returns a string that may be absent, which is the same as empty.
func (f *fields) optional(key string) string {
	s, _ := f.string(key)
	return s
}

func (f *fields) string(key string) (string, bool) {
	var s string
	if !f.has(key) {
		return "", true
	}
	if err := json.Unmarshal(f.member[key], &s); err != nil {
		f.add(key, "is %s; make it a string", kindOf(f.member[key]))
		return "", false
	}
	return s, true
}

// flag returns a boolean that may be absent.
func (f *fields) flag(key string) *bool {
	var b bool
	if !f.has(key) {
		return nil
	}
	if err := json.Unmarshal(f.member[key], &b); err != nil {
		f.add(key, "is %s; make it true or false", kindOf(f.member[key]))
		return nil
	}
	return &b
}

// object returns an object's members; nil if it is absent or no object.
func (f *fields) object(key string) *fields {
	if !f.has(key) {
		return nil
	}
	if kindOf(f.member[key]) != kindObject {
		f.add(key, "is %s; make it an object", kindOf(f.member[key]))
		return nil
	}
	sub := &fields{at: f.at + key + ".", to: f.to}
	if err := json.Unmarshal(f.member[key], &sub.member); err != nil {
		f.add(key, "%s", syntaxProblem(f.member[key], err))
		return nil
	}
	return sub
}

// strings returns an array of strings: nil if it is absent or something else,
// but not nil if it is empty.
func (f *fields) strings(key string) []string {
	if !f.has(key) {
		return nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(f.member[key], &raw); err != nil {
		f.add(key, "is %s; make it an array of strings", kindOf(f.member[key]))
		return nil
	}
	list := make([]string, 0, len(raw))
	for i, item := range raw {
		var s string
		if err := json.Unmarshal(item, &s); err != nil || kindOf(item) != kindString {
			f.add(fmt.Sprintf("%s[%d]", key, i), "is %s; make it a string", kindOf(item))
			continue
		}
		list = append(list, s)
	}
	return list
}

// The kinds of JSON values, as sentences name them.
const (
	kindObject = "an object"
	kindArray  = "an array"
	kindString = "a string"
	kindBool   = "a boolean"
	kindNull   = "null"
	kindNumber = "a number"
)

// kindOf names what raw, which is valid JSON, holds.
func kindOf(raw []byte) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return kindObject
	case '[':
		return kindArray
	case '"':
		return kindString
	case 't', 'f':
		return kindBool
	case 'n':
		return kindNull
	default:
		return kindNumber
	}
}

// syntaxProblem says where text is no JSON.
func syntaxProblem(text []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return "cannot be read as JSON: " + err.Error()
	}
	before := text[:min(max(syntax.Offset-1, 0), int64(len(text)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("is not valid JSON at line %d, column %d: %s; correct it there", line, column, syntax)
}
