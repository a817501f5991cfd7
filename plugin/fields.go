package plugin

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
)

// fields reads the members of one JSON object and notes what is wrong with
// them. Names are compared exactly, unlike in encoding/json's structs.
type fields struct {
	// at is where the object stands in its file, as in "tools[3].".
	at     string
	member map[string][]byte
	to     *problems
}

// newFields returns the fields of a compact object. Of several members with one
// name the last counts, as in JavaScript.
func newFields(raw []byte, at string, to *problems) *fields {
	f := &fields{at: at, member: map[string][]byte{}, to: to}
	for m := range rawjson.Members(raw) {
		f.member[m.Key] = m.Value
	}
	return f
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
	if !f.has(key) {
		return "", true
	}
	if rawjson.KindOf(f.member[key]) != rawjson.KindString {
		f.add(key, "is %s; make it a string", rawjson.KindOf(f.member[key]))
		return "", false
	}
	s := rawjson.Unquote(f.member[key])
	if problem := plaintext.CheckShown(s); problem != "" {
		f.add(key, "%s", problem)
		return "", false
	}
	return plaintext.Clean(s, math.MaxInt), true
}

// shorten cuts the text of a member to maxChars characters, with a warning.
func (f *fields) shorten(p *Plugin, key, text string, maxChars int) string {
	n := utf8.RuneCountInString(text)
	if n <= maxChars {
		return text
	}
	f.warn(p, key, "has %d characters, more than the %d that are shown; it is cut", n, maxChars)
	return plaintext.Clean(text, maxChars)
}

// short returns a string that may be absent, cut to maxChars characters.
func (f *fields) short(p *Plugin, key string, maxChars int) string {
	return f.shorten(p, key, f.optional(key), maxChars)
}

// flag returns a boolean that may be absent.
func (f *fields) flag(key string) *bool {
	if !f.has(key) {
		return nil
	}
	if rawjson.KindOf(f.member[key]) != rawjson.KindBool {
		f.add(key, "is %s; make it true or false", rawjson.KindOf(f.member[key]))
		return nil
	}
	b := string(f.member[key]) == "true"
	return &b
}

// object returns an object's fields; nil if it is absent or no object.
func (f *fields) object(key string) *fields {
	if !f.has(key) {
		return nil
	}
	if rawjson.KindOf(f.member[key]) != rawjson.KindObject {
		f.add(key, "is %s; make it an object", rawjson.KindOf(f.member[key]))
		return nil
	}
	return newFields(f.member[key], f.at+key+".", f.to)
}

// strings returns an array of strings: nil if it is absent or something else,
// but not nil if it is empty.
func (f *fields) strings(key string) []string {
	if !f.has(key) {
		return nil
	}
	if rawjson.KindOf(f.member[key]) != rawjson.KindArray {
		f.add(key, "is %s; make it an array of strings", rawjson.KindOf(f.member[key]))
		return nil
	}
	items := rawjson.Elements(f.member[key])
	list := make([]string, 0, len(items))
	for i, item := range items {
		if rawjson.KindOf(item) != rawjson.KindString {
			f.add(fmt.Sprintf("%s[%d]", key, i), "is %s; make it a string", rawjson.KindOf(item))
			continue
		}
		text := rawjson.Unquote(item)
		if problem := plaintext.CheckShown(text); problem != "" {
			f.add(fmt.Sprintf("%s[%d]", key, i), "%s", problem)
			continue
		}
		list = append(list, text)
	}
	return list
}
