package jsbuild

import (
	"strings"

	"opentabs/internal/lazyregexp"
)

type tokenKind int

const (
	tokenName tokenKind = iota
	tokenString
	tokenNumber
	tokenRegexp
	tokenSign
)

// jsToken is one token of esbuild's output.
type jsToken struct {
	kind tokenKind
	text string
	// declared is true if the code declares the name; see renamedTokens.
	declared bool
}

var (
	namePattern   = lazyregexp.New(`^[A-Za-z_$\x80-\x{10ffff}][\w$\x80-\x{10ffff}]*`)
	numberPattern = lazyregexp.New(`^\.?\d[\w.]*`)
	signPattern   = lazyregexp.New(`^(===|!==|\?\?=|\|\|=|&&=|\*\*=|\.\.\.|<<=|>>=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|\*\*|.)`)
)

// reserved are words that can't be the name of a variable, or only in some contexts.
var reserved = setOf(`await break case catch class const continue debugger default delete do else enum export extends false finally for
	function if import in instanceof new null return super switch this throw true try typeof var void while with yield let static async
	of get set as from arguments undefined`)

// beforeRegexp are keywords after which a slash begins a regular expression.
var beforeRegexp = setOf("return typeof case in of do else instanceof new delete void throw yield await")

// setOf returns the words of a text as a set.
func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// jsTokens splits esbuild's output into tokens. The texts of template literals are
// string tokens, and the expressions between ${ and } are code.
func jsTokens(code string) []jsToken {
	var tokens []jsToken
	var templates []int // the number of open braces in the expression of each open template
	add := func(kind tokenKind, text string) { tokens = append(tokens, jsToken{kind: kind, text: text}) }
	for at := 0; at < len(code); {
		rest := code[at:]
		c := rest[0]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			at++
		case strings.HasPrefix(rest, "//"):
			at += lengthTo(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			at += lengthTo(rest, "*/")
		case c == '"' || c == '\'':
			n := quotedLength(rest, c)
			add(tokenString, rest[:n])
			at += n
		case c == '`' || c == '}' && len(templates) > 0 && templates[len(templates)-1] == 0:
			if c == '}' {
				templates = templates[:len(templates)-1]
				add(tokenSign, ")")
			}
			n, more := templateLength(rest)
			add(tokenString, rest[:n])
			if more {
				templates = append(templates, 0)
				add(tokenSign, "(") // treat the expression like an argument
			}
			at += n
		case namePattern().MatchString(rest):
			name := namePattern().FindString(rest)
			add(tokenName, name)
			at += len(name)
		case numberPattern().MatchString(rest):
			n := len(numberPattern().FindString(rest))
			add(tokenNumber, rest[:n])
			at += n
		case c == '/' && startsRegexp(tokens):
			n := regexpLength(rest)
			add(tokenRegexp, rest[:n])
			at += n
		default:
			text := signPattern().FindString(rest)
			if text == "" {
				text = rest[:1]
			}
			if len(templates) > 0 {
				switch text {
				case "{":
					templates[len(templates)-1]++
				case "}":
					templates[len(templates)-1]--
				}
			}
			add(tokenSign, text)
			at += len(text)
		}
	}
	return tokens
}

// lengthTo returns the length of text up to and including end.
func lengthTo(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}

// quotedLength returns the length of the string literal at the start of text.
func quotedLength(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(text)
}

// templateLength returns the length of a template's text that begins with ` or }. more
// is true if an expression follows.
func templateLength(text string) (n int, more bool) {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '`':
			return i + 1, false
		case strings.HasPrefix(text[i:], "${"):
			return i + 2, true
		}
	}
	return len(text), false
}

// startsRegexp reports whether a slash after these tokens begins a regular
// expression.
func startsRegexp(tokens []jsToken) bool {
	if len(tokens) == 0 {
		return true
	}
	last := tokens[len(tokens)-1]
	switch last.kind {
	case tokenName:
		return beforeRegexp[last.text]
	case tokenSign:
		return last.text != ")" && last.text != "]" && last.text != "}" && last.text != "++" && last.text != "--"
	}
	return false
}

// regexpLength returns the length of the regular expression at the start of text.
func regexpLength(text string) int {
	class := false
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '\n':
			return i
		case '/':
			if !class {
				for i++; i < len(text) && 'a' <= text[i] && text[i] <= 'z'; i++ { // the flags
				}
				return i
			}
		}
	}
	return len(text)
}
