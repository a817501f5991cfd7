package jsbuild

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// windows are the names of the window, and of others that a page can define
// variables on.
var windows = setOf("window self globalThis top parent frames opener")

// notIsolated are names of the window that the isolated world lacks, or that make
// code whose world is not that of the caller.
var notIsolated = map[string]PageUse{
	"customElements": "customElements, which the isolated world does not have",
	"eval":           "eval, which a page may forbid and the isolated world does not share",
	"Function":       "Function, which makes code of a text",
}

// programNames are names that libraries ask for to find out where they run.
var programNames = setOf("process Buffer require module exports global define")

// platformNames are the names that no page has defined.
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
	// ownWords are properties by which frameworks of a page mark its elements.
	ownWords = regexp.MustCompile(`^(__[\w$]+|_reactRootContainer|_vnode)$`)
	// ownTexts are texts that name such properties, or a script.
	ownTexts = regexp.MustCompile(`__(react|vue|ng|svelte|preact)|<script`)
	// windowSettings are what code may set on the window without a patch.
	windowSettings = regexp.MustCompile(`^(location|name|status|on[a-z]+)$`)
	// plainWords are properties with two underscores that the language has.
	plainWords = setOf("__proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__")
	// settable are what code may set properties of without a patch.
	settable = setOf("document location localStorage sessionStorage")
)

// pageScan looks through tokens for uses of the page's own JavaScript.
type pageScan struct {
	tokens []jsToken
	uses   map[PageUse]bool
}

func (s *pageScan) use(format string, args ...any) {
	s.uses[PageUse(fmt.Sprintf(format, args...))] = true
}

// text is the sign or name at i; empty beyond the tokens and for anything else.
func (s *pageScan) text(i int) string {
	if i < 0 || i >= len(s.tokens) || s.tokens[i].kind == tokenString || s.tokens[i].kind == tokenRegexp {
		return ""
	}
	return s.tokens[i].text
}

func (s *pageScan) run() {
	for i, t := range s.tokens {
		switch {
		case t.kind == tokenString:
			s.scanText(i)
		case t.kind != tokenName || t.declared || reserved[t.text]:
		case s.text(i-1) == "." || s.text(i-1) == "?.":
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

func (s *pageScan) scanText(i int) {
	text := s.tokens[i].text
	if ownTexts.MatchString(text) {
		s.use("what a framework of the page or a script keeps (%.40s)", text)
	}
	if strings.Trim(text, "\"'`") == "script" && s.text(i-1) == "(" && s.text(i-2) == "createElement" {
		s.use("a script element, which runs among the page's scripts")
	}
}

func (s *pageScan) scanProperty(i int) {
	name := s.tokens[i].text
	if use, ok := sdkPageUses[name]; ok {
		s.uses[use] = true
	}
	switch {
	case ownWords.MatchString(name) && !plainWords[name]:
		s.use("the property %s, which a script of the page has set", name)
	case (name == "contentWindow" || name == "defaultView" || name == "wrappedJSObject") && s.text(i+2) != "postMessage":
		s.use("the window of a document (%s)", name)
	}
}

// isKey reports whether the name at i is a key or a method of an object or a class.
func (s *pageScan) isKey(i int) bool {
	before, after := s.text(i-1), s.text(i+1)
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
			switch s.text(j) {
			case "(":
				open++
			case ")":
				if open--; open == 0 {
					return s.text(j+1) == "{"
				}
			}
		}
	}
	return false
}

// scanVariable looks at a name that the code does not declare, and at what is asked
// of it.
func (s *pageScan) scanVariable(i int) {
	root := s.tokens[i].text
	if use, ok := notIsolated[root]; ok {
		s.uses[use] = true
		return
	}
	if !windows[root] {
		if !platformNames()[root] && !programNames[root] {
			s.use("the variable %s, which a script of the page has defined", root)
			return
		}
		s.scanChain(i, []string{root}, i)
		return
	}
	at := i
	for windows[s.text(at)] && (s.text(at+1) == "." || s.text(at+1) == "?.") && s.text(at+2) != "" && s.text(at+2) != "(" {
		at += 2
	}
	switch name := s.text(at); {
	case windows[name]:
		s.scanWindow(i, at)
	case !platformNames()[name] && !programNames[name]:
		s.use("the variable %s of the page's window", name)
	default:
		if use, ok := notIsolated[name]; ok {
			s.uses[use] = true
		}
		s.scanChain(i, []string{"window", name}, at)
	}
}

// scanWindow looks at the window itself, which is named by the tokens from first to
// last: comparing it is no use, handing it on is one that can't be followed.
func (s *pageScan) scanWindow(first, last int) {
	compares := []string{"===", "!==", "==", "!="}
	before, after := s.text(first-1), s.text(last+1)
	switch {
	case slices.Contains(compares, before), slices.Contains(compares, after), before == "typeof":
	case before == "(" && slices.Contains([]string{"call", "apply", "bind"}, s.text(first-2)):
	case after == "[" && last+3 < len(s.tokens) && s.tokens[last+2].kind == tokenString && s.text(last+3) == "]":
		if name := strings.Trim(s.tokens[last+2].text, "\"'`"); !platformNames()[name] {
			s.use("the variable %.40s of the page's window", name)
		}
	default:
		s.use("the window as a whole, which may have variables of the page")
	}
}

// scanChain looks whether a property of something that all scripts share is set. at
// is the last token of the chain so far, first its first.
func (s *pageScan) scanChain(first int, chain []string, at int) {
	for (s.text(at+1) == "." || s.text(at+1) == "?.") && at+2 < len(s.tokens) && s.tokens[at+2].kind == tokenName {
		chain = append(chain, s.tokens[at+2].text)
		at += 2
	}
	name := strings.Join(chain, ".")
	before, after := s.text(first-1), s.text(at+1)
	defines := before == "(" && after == "," && slices.Contains([]string{"defineProperty", "defineProperties", "assign", "setPrototypeOf"}, s.text(first-2))
	sets := strings.HasSuffix(after, "=") && !slices.Contains([]string{"==", "===", "!=", "!==", "<=", ">="}, after)
	switch {
	case chain[len(chain)-1] == "prototype" && after != "[":
		s.use("a change of %s, which scripts of the page share", name)
	case !defines && !sets:
	case sets && chain[0] == "window" && len(chain) == 2 && windowSettings.MatchString(chain[1]):
	case settable[chain[0]] || len(chain) > 1 && chain[0] == "window" && settable[chain[1]]:
	default:
		s.use("a change of %s, which scripts of the page share", name)
	}
}
