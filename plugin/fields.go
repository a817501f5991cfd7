package plugin

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"opentabs/internal/plaintext"
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
	for m := range eachMember(raw) {
		f.member[m.key] = m.value
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
	if kindOf(f.member[key]) != kindString {
		f.add(key, "is %s; make it a string", kindOf(f.member[key]))
		return "", false
	}
	s := unquote(f.member[key])
	if problem := CheckShown(s); problem != "" {
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

// CheckShown says what is wrong with a text for people that has a character in it
// which is not shown; "" if nothing is.
func CheckShown(text string) string {
	i := strings.IndexFunc(text, hidden)
	if i < 0 {
		return ""
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return hiddenProblem(r)
}

// hidden reports whether r makes a text unfit for review: control characters, the
// marks that change the writing direction, and letters without a look. The other
// characters that show nothing are removed (internal/plaintext): they occur in
// texts that are copied from elsewhere.
func hidden(r rune) bool {
	if r >= ' ' && r <= '~' { // nearly all of them
		return false
	}
	switch r {
	case '\n', '\r', '\t', '\u00ad', '\u200c', '\u200d', '\u200e', '\u200f', '\u061c', '\ufeff':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf)
}

// flag returns a boolean that may be absent.
func (f *fields) flag(key string) *bool {
	if !f.has(key) {
		return nil
	}
	if kindOf(f.member[key]) != kindBool {
		f.add(key, "is %s; make it true or false", kindOf(f.member[key]))
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
	if kindOf(f.member[key]) != kindObject {
		f.add(key, "is %s; make it an object", kindOf(f.member[key]))
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
	if kindOf(f.member[key]) != kindArray {
		f.add(key, "is %s; make it an array of strings", kindOf(f.member[key]))
		return nil
	}
	items := elements(f.member[key])
	list := make([]string, 0, len(items))
	for i, item := range items {
		if kindOf(item) != kindString {
			f.add(fmt.Sprintf("%s[%d]", key, i), "is %s; make it a string", kindOf(item))
			continue
		}
		text := unquote(item)
		if problem := CheckShown(text); problem != "" {
			f.add(fmt.Sprintf("%s[%d]", key, i), "%s", problem)
			continue
		}
		list = append(list, text)
	}
	return list
}
