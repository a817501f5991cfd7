package jsbuild

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"opentabs/internal/lazyregexp"
)

// windowNames are the JavaScript names of the page's window and of other windows, to
// which a page can add properties.
var windowNames = splitWords("window self globalThis top parent frames opener")

// unavailableObjects are the properties of the window that are missing or different in
// the isolated world.
var unavailableObjects = map[string]PageScriptUse{
	"customElements": "customElements, which the isolated world does not have",
	"eval":           "eval, which a page may forbid and the isolated world does not share",
	"Function":       "Function, which compiles code from a string",
}

// environmentNames are global names that libraries check to detect their environment, such as
// process in Node.
var environmentNames = splitWords("process Buffer require module exports global define")

// browserGlobalNames are the global names that the browser defines, not the page.
var browserGlobalNames = sync.OnceValue(func() map[string]bool {
	allNames := map[string]bool{}
	for line := range strings.Lines(webGlobalNames) {
		if !strings.HasPrefix(line, "#") {
			for name := range splitWords(line) {
				allNames[name] = true
			}
		}
	}
	return allNames
})

var (
	// frameworkProperties matches properties that frameworks such as React set on elements.
	frameworkProperties = lazyregexp.New(`^(__[\w$]+|_reactRootContainer|_vnode)$`)
	// frameworkTexts matches strings that contain the property of a framework, or a
	// script element.
	frameworkTexts = lazyregexp.New(`__(react|vue|ng|svelte|preact)|<script`)
	// windowSettings matches names such as location and onload: properties of the window that a plugin may set.
	windowSettings = lazyregexp.New(`^(location|name|status|on[a-z]+)$`)
	// languageProperties are properties that JavaScript itself defines and whose names
	// begin with underscores.
	languageProperties = splitWords("__proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__")
	// settableGlobals are browser objects, such as location, whose properties a plugin may set without a report.
	settableGlobals = splitWords("document location localStorage sessionStorage")
)

// pageUseScanner searches the tokens of a plugin's code for uses of the page's own JavaScript.
type pageUseScanner struct {
	tokens []jsToken
	uses   map[PageScriptUse]bool
}

func (s *pageUseScanner) addPageScriptUse(format string, args ...any) {
	s.uses[PageScriptUse(fmt.Sprintf(format, args...))] = true
}

func (s *pageUseScanner) tokenText(i int) string {
	if i < 0 || i >= len(s.tokens) || s.tokens[i].kind == tokenString || s.tokens[i].kind == tokenRegexp {
		return ""
	}
	return s.tokens[i].source
}

func (s *pageUseScanner) findUses() {
	for i, t := range s.tokens {
		switch {
		case t.kind == tokenString:
			s.scanText(i)
		case t.kind != tokenName || t.isDeclared || reservedWords[t.source]:
		case s.tokenText(i-1) == "." || s.tokenText(i-1) == "?.":
			s.scanProperty(i)
		case s.isPropertyKey(i):
			if use, ok := sdkPageUses[t.source]; ok {
				s.uses[use] = true
			}
		default:
			s.scanVariable(i)
		}
	}
}

func (s *pageUseScanner) scanText(i int) {
	tokenText := s.tokens[i].source
	if frameworkTexts().MatchString(tokenText) {
		s.addPageScriptUse("a property of a framework, or a script (%.40s)", tokenText)
	}
	if strings.Trim(tokenText, "\"'`") == "script" && s.tokenText(i-1) == "(" && s.tokenText(i-2) == "createElement" {
		s.addPageScriptUse("a script element, which runs among the page's scripts")
	}
}

func (s *pageUseScanner) scanProperty(i int) {
	name := s.tokens[i].source
	if use, ok := sdkPageUses[name]; ok {
		s.uses[use] = true
	}
	switch {
	case frameworkProperties().MatchString(name) && !languageProperties[name]:
		s.addPageScriptUse("the property %s, which a script of the page sets", name)
	case (name == "contentWindow" || name == "defaultView" || name == "wrappedJSObject") && s.tokenText(i+2) != "postMessage":
		s.addPageScriptUse("the window of a document (%s)", name)
	}
}

func (s *pageUseScanner) isPropertyKey(i int) bool {
	tokenBefore, tokenAfter := s.tokenText(i-1), s.tokenText(i+1)
	switch tokenAfter {
	case ":":
		return tokenBefore == "{" || tokenBefore == ","
	case "(":
		switch tokenBefore {
		case "{", ",", "}", ";", "get", "set", "async", "static", "*":
		default:
			return false
		}
		openBrackets := 0
		for j := i + 1; j < len(s.tokens); j++ {
			switch s.tokenText(j) {
			case "(":
				openBrackets++
			case ")":
				if openBrackets--; openBrackets == 0 {
					return s.tokenText(j+1) == "{"
				}
			}
		}
	}
	return false
}

func (s *pageUseScanner) scanVariable(i int) {
	root := s.tokens[i].source
	if use, ok := unavailableObjects[root]; ok {
		s.uses[use] = true
		return
	}
	if !windowNames[root] {
		if !browserGlobalNames()[root] && !environmentNames[root] {
			s.addPageScriptUse("the variable %s, which a script of the page defines", root)
			return
		}
		s.scanChain(i, []string{root}, i)
		return
	}
	index := i
	for windowNames[s.tokenText(index)] && (s.tokenText(index+1) == "." || s.tokenText(index+1) == "?.") && s.tokenText(index+2) != "" && s.tokenText(index+2) != "(" {
		index += 2
	}
	switch name := s.tokenText(index); {
	case windowNames[name]:
		s.scanWindow(i, index)
	case !browserGlobalNames()[name] && !environmentNames[name]:
		s.addPageScriptUse("the variable %s of the page's window", name)
	default:
		if use, ok := unavailableObjects[name]; ok {
			s.uses[use] = true
		}
		s.scanChain(i, []string{"window", name}, index)
	}
}

// Code that only compares a value with the window is allowed: the comparison does not use the page's JavaScript. Code
// that passes the window to other code counts as a use of the page's JavaScript, because scanWindow cannot follow the
// window there.
func (s *pageUseScanner) scanWindow(firstIndex, lastIndex int) {
	comparisons := []string{"===", "!==", "==", "!="}
	tokenBefore, tokenAfter := s.tokenText(firstIndex-1), s.tokenText(lastIndex+1)
	switch {
	case slices.Contains(comparisons, tokenBefore), slices.Contains(comparisons, tokenAfter), tokenBefore == "typeof":
	case tokenBefore == "(" && slices.Contains([]string{"call", "apply", "bind"}, s.tokenText(firstIndex-2)):
	case tokenAfter == "[" && lastIndex+3 < len(s.tokens) && s.tokens[lastIndex+2].kind == tokenString && s.tokenText(lastIndex+3) == "]":
		if name := strings.Trim(s.tokens[lastIndex+2].source, "\"'`"); !browserGlobalNames()[name] {
			s.addPageScriptUse("the variable %.40s of the page's window", name)
		}
	default:
		s.addPageScriptUse("the window as a whole, which can have variables of the page")
	}
}

func (s *pageUseScanner) scanChain(firstIndex int, propertyChain []string, index int) {
	for (s.tokenText(index+1) == "." || s.tokenText(index+1) == "?.") && index+2 < len(s.tokens) && s.tokens[index+2].kind == tokenName {
		propertyChain = append(propertyChain, s.tokens[index+2].source)
		index += 2
	}
	name := strings.Join(propertyChain, ".")
	tokenBefore, tokenAfter := s.tokenText(firstIndex-1), s.tokenText(index+1)
	isDefinition := tokenBefore == "(" && tokenAfter == "," && slices.Contains([]string{"defineProperty", "defineProperties", "assign", "setPrototypeOf"}, s.tokenText(firstIndex-2))
	isAssignment := strings.HasSuffix(tokenAfter, "=") && !slices.Contains([]string{"==", "===", "!=", "!==", "<=", ">="}, tokenAfter)
	switch {
	case propertyChain[len(propertyChain)-1] == "prototype" && tokenAfter != "[":
		s.addPageScriptUse("a change of %s, which scripts of the page share", name)
	case !isDefinition && !isAssignment:
	case isAssignment && propertyChain[0] == "window" && len(propertyChain) == 2 && windowSettings().MatchString(propertyChain[1]):
	case settableGlobals[propertyChain[0]] || len(propertyChain) > 1 && propertyChain[0] == "window" && settableGlobals[propertyChain[1]]:
	default:
		s.addPageScriptUse("a change of %s, which scripts of the page share", name)
	}
}
