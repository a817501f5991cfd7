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

// jsToken is one JavaScript token in esbuild's output.
type jsToken struct {
	kind   tokenKind
	source string
	// isDeclared is true if the code itself declares the name; see renamedTokens.
	isDeclared bool
}

var (
	namePattern     = lazyregexp.New(`^[A-Za-z_$\x80-\x{10ffff}][\w$\x80-\x{10ffff}]*`)
	numberPattern   = lazyregexp.New(`^\.?\d[\w.]*`)
	operatorPattern = lazyregexp.New(`^(===|!==|\?\?=|\|\|=|&&=|\*\*=|\.\.\.|<<=|>>=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|\*\*|.)`)
)

var reservedWords = splitWords(`await break case catch class const continue debugger default delete do else enum export extends false finally for
	function if import in instanceof new null return super switch this throw true try typeof var void while with yield let static async
	of get set as from arguments undefined`)

var keywordsBeforeRegexp = splitWords("return typeof case in of do else instanceof new delete void throw yield await")

func splitWords(words string) map[string]bool {
	wordSet := map[string]bool{}
	for _, word := range strings.Fields(words) {
		wordSet[word] = true
	}
	return wordSet
}

// jsTokens returns the texts of template literals as string tokens.
func jsTokens(code string) []jsToken {
	var tokens []jsToken
	var templates []int
	addToken := func(kind tokenKind, tokenText string) {
		tokens = append(tokens, jsToken{kind: kind, source: tokenText})
	}
	for offset := 0; offset < len(code); {
		remainingCode := code[offset:]
		c := remainingCode[0]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			offset++
		case strings.HasPrefix(remainingCode, "//"):
			offset += lengthUpTo(remainingCode, "\n")
		case strings.HasPrefix(remainingCode, "/*"):
			offset += lengthUpTo(remainingCode, "*/")
		case c == '"' || c == '\'':
			n := quotedLength(remainingCode, c)
			addToken(tokenString, remainingCode[:n])
			offset += n
		case c == '`' || c == '}' && len(templates) > 0 && templates[len(templates)-1] == 0:
			if c == '}' {
				templates = templates[:len(templates)-1]
				addToken(tokenSign, ")")
			}
			n, hasSubstitution := templateLength(remainingCode)
			addToken(tokenString, remainingCode[:n])
			if hasSubstitution {
				templates = append(templates, 0)
				addToken(tokenSign, "(") // the expression in a template literal is put in parentheses, like an argument
			}
			offset += n
		case namePattern().MatchString(remainingCode):
			name := namePattern().FindString(remainingCode)
			addToken(tokenName, name)
			offset += len(name)
		case numberPattern().MatchString(remainingCode):
			n := len(numberPattern().FindString(remainingCode))
			addToken(tokenNumber, remainingCode[:n])
			offset += n
		case c == '/' && startsRegexp(tokens):
			n := regexpLength(remainingCode)
			addToken(tokenRegexp, remainingCode[:n])
			offset += n
		default:
			tokenText := operatorPattern().FindString(remainingCode)
			if tokenText == "" {
				tokenText = remainingCode[:1]
			}
			if len(templates) > 0 {
				switch tokenText {
				case "{":
					templates[len(templates)-1]++
				case "}":
					templates[len(templates)-1]--
				}
			}
			addToken(tokenSign, tokenText)
			offset += len(tokenText)
		}
	}
	return tokens
}

func lengthUpTo(code, terminator string) int {
	if i := strings.Index(code, terminator); i >= 0 {
		return i + len(terminator)
	}
	return len(code)
}

func quotedLength(code string, quote byte) int {
	for i := 1; i < len(code); i++ {
		switch code[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(code)
}

func templateLength(code string) (n int, hasSubstitution bool) {
	for i := 1; i < len(code); i++ {
		switch {
		case code[i] == '\\':
			i++
		case code[i] == '`':
			return i + 1, false
		case strings.HasPrefix(code[i:], "${"):
			return i + 2, true
		}
	}
	return len(code), false
}

// startsRegexp reports whether a slash that follows the given tokens begins a regular
// expression, not a division.
func startsRegexp(tokens []jsToken) bool {
	if len(tokens) == 0 {
		return true
	}
	lastToken := tokens[len(tokens)-1]
	switch lastToken.kind {
	case tokenName:
		return keywordsBeforeRegexp[lastToken.source]
	case tokenSign:
		return lastToken.source != ")" && lastToken.source != "]" && lastToken.source != "}" && lastToken.source != "++" && lastToken.source != "--"
	}
	return false
}

func regexpLength(code string) int {
	isInClass := false
	for i := 1; i < len(code); i++ {
		switch code[i] {
		case '\\':
			i++
		case '[':
			isInClass = true
		case ']':
			isInClass = false
		case '\n':
			return i
		case '/':
			if !isInClass {
				for i++; i < len(code) && 'a' <= code[i] && code[i] <= 'z'; i++ {
				}
				return i
			}
		}
	}
	return len(code)
}
