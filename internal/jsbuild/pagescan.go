package jsbuild

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"opentabs/internal/lazyregexp"
)

// windowNames are the names of the window and of other windows, whose properties a page
// can define.
var windowNames = setOf("window self globalThis top parent frames opener")

// notIsolated are the properties of the window that are missing or different in the
// isolated world.
var notIsolated = map[string]PageUse{
	"customElements": "customElements, which the isolated world does not have",
	"eval":           "eval, which a page may forbid and the isolated world does not share",
	"Function":       "Function, which compiles code from a string",
}

// programNames are names that libraries check to detect their environment.
var programNames = setOf("process Buffer require module exports global define")

// platformNames are the names that the browser defines, not the page.
var platformNames = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(webNames) {
		if !strings.HasPrefix(line, "#") {
			for name := range setOf(line) {
				all[name] = true
			}
		}
	}
	return all
})

var (
	// frameworkProperties matches properties that frameworks set on elements.
	frameworkProperties = lazyregexp.New(`^(__[\w$]+|_reactRootContainer|_vnode)$`)
	// frameworkTexts matches strings that contain such a property or a script element.
	frameworkTexts = lazyregexp.New(`__(react|vue|ng|svelte|preact)|<script`)
	// windowSettings matches properties of the window that code may set.
	windowSettings = lazyregexp.New(`^(location|name|status|on[a-z]+)$`)
	// languageProperties are the properties of JavaScript that begin with underscores.
	languageProperties = setOf("__proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__")
	// settableObjects are objects whose properties code may set.
	settableObjects = setOf("document location localStorage sessionStorage")
)

// pageScan finds uses of the page's own JavaScript in tokens.
type pageScan struct {
	tokens []jsToken
	uses   map[PageUse]bool
}

// addUse adds a use.
func (s *pageScan) addUse(format string, args ...any) {
	s.uses[PageUse(fmt.Sprintf(format, args...))] = true
}

// tokenText returns the token at i; "" for a string, a regular expression, or an index out
// of range.
func (s *pageScan) tokenText(i int) string {
	if i < 0 || i >= len(s.tokens) || s.tokens[i].kind == tokenString || s.tokens[i].kind == tokenRegexp {
		return ""
	}
	return s.tokens[i].text
}

// run scans all tokens.
func (s *pageScan) run() {
	for i, t := range s.tokens {
		switch {
		case t.kind == tokenString:
			s.scanText(i)
		case t.kind != tokenName || t.declared || reserved[t.text]:
		case s.tokenText(i-1) == "." || s.tokenText(i-1) == "?.":
			s.scanProperty(i)
		case s.isKey(i):
			if use, ok := sdkPageUses[t.text]; ok {
				s.uses[use] = true
			}
		default:
			s.scanVariable(i)
		}
	}
}

// scanText checks a string.
func (s *pageScan) scanText(i int) {
	text := s.tokens[i].text
	if frameworkTexts().MatchString(text) {
		s.addUse("a property of a framework, or a script (%.40s)", text)
	}
	if strings.Trim(text, "\"'`") == "script" && s.tokenText(i-1) == "(" && s.tokenText(i-2) == "createElement" {
		s.addUse("a script element, which runs among the page's scripts")
	}
}

// scanProperty checks the name of a property.
func (s *pageScan) scanProperty(i int) {
	name := s.tokens[i].text
	if use, ok := sdkPageUses[name]; ok {
		s.uses[use] = true
	}
	switch {
	case frameworkProperties().MatchString(name) && !languageProperties[name]:
		s.addUse("the property %s, which a script of the page sets", name)
	case (name == "contentWindow" || name == "defaultView" || name == "wrappedJSObject") && s.tokenText(i+2) != "postMessage":
		s.addUse("the window of a document (%s)", name)
	}
}

// isKey reports whether the name at i is a key or a method of an object or a class.
func (s *pageScan) isKey(i int) bool {
	before, after := s.tokenText(i-1), s.tokenText(i+1)
	switch after {
	case ":":
		return before == "{" || before == ","
	case "(":
		switch before {
		case "{", ",", "}", ";", "get", "set", "async", "static", "*":
		default:
			return false
		}
		open := 0
		for j := i + 1; j < len(s.tokens); j++ {
			switch s.tokenText(j) {
			case "(":
				open++
			case ")":
				if open--; open == 0 {
					return s.tokenText(j+1) == "{"
				}
			}
		}
	}
	return false
}

// scanVariable checks a variable that the code does not declare, with the properties
// that the code reads from it.
func (s *pageScan) scanVariable(i int) {
	root := s.tokens[i].text
	if use, ok := notIsolated[root]; ok {
		s.uses[use] = true
		return
	}
	if !windowNames[root] {
		if !platformNames()[root] && !programNames[root] {
			s.addUse("the variable %s, which a script of the page defines", root)
			return
		}
		s.scanChain(i, []string{root}, i)
		return
	}
	at := i
	for windowNames[s.tokenText(at)] && (s.tokenText(at+1) == "." || s.tokenText(at+1) == "?.") && s.tokenText(at+2) != "" && s.tokenText(at+2) != "(" {
		at += 2
	}
	switch name := s.tokenText(at); {
	case windowNames[name]:
		s.scanWindow(i, at)
	case !platformNames()[name] && !programNames[name]:
		s.addUse("the variable %s of the page's window", name)
	default:
		if use, ok := notIsolated[name]; ok {
			s.uses[use] = true
		}
		s.scanChain(i, []string{"window", name}, at)
	}
}

// scanWindow checks a use of the window itself, which is the tokens from first to last.
// A comparison is no page use. Passing the window on can't be followed and counts as a
// use.
func (s *pageScan) scanWindow(first, last int) {
	compares := []string{"===", "!==", "==", "!="}
	before, after := s.tokenText(first-1), s.tokenText(last+1)
	switch {
	case slices.Contains(compares, before), slices.Contains(compares, after), before == "typeof":
	case before == "(" && slices.Contains([]string{"call", "apply", "bind"}, s.tokenText(first-2)):
	case after == "[" && last+3 < len(s.tokens) && s.tokens[last+2].kind == tokenString && s.tokenText(last+3) == "]":
		if name := strings.Trim(s.tokens[last+2].text, "\"'`"); !platformNames()[name] {
			s.addUse("the variable %.40s of the page's window", name)
		}
	default:
		s.addUse("the window as a whole, which can have variables of the page")
	}
}

// scanChain checks whether the code changes an object that all scripts share. first and
// at are the first and the last token of the chain so far.
func (s *pageScan) scanChain(first int, chain []string, at int) {
	for (s.tokenText(at+1) == "." || s.tokenText(at+1) == "?.") && at+2 < len(s.tokens) && s.tokens[at+2].kind == tokenName {
		chain = append(chain, s.tokens[at+2].text)
		at += 2
	}
	name := strings.Join(chain, ".")
	before, after := s.tokenText(first-1), s.tokenText(at+1)
	defines := before == "(" && after == "," && slices.Contains([]string{"defineProperty", "defineProperties", "assign", "setPrototypeOf"}, s.tokenText(first-2))
	sets := strings.HasSuffix(after, "=") && !slices.Contains([]string{"==", "===", "!=", "!==", "<=", ">="}, after)
	switch {
	case chain[len(chain)-1] == "prototype" && after != "[":
		s.addUse("a change of %s, which scripts of the page share", name)
	case !defines && !sets:
	case sets && chain[0] == "window" && len(chain) == 2 && windowSettings().MatchString(chain[1]):
	case settableObjects[chain[0]] || len(chain) > 1 && chain[0] == "window" && settableObjects[chain[1]]:
	default:
		s.addUse("a change of %s, which scripts of the page share", name)
	}
}
