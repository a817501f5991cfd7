package inspection

import (
	"regexp"
	"slices"
	"strings"

	"opentabs/internal/lazyregexp"
)

// mention is the name of a browser feature that code contains: a feature that reaches
// out of the page, stores data, creates code or writes HTML.
type mention struct {
	// Name is the feature as code spells it.
	Name string
	// Meaning is one sentence for a reviewer.
	Meaning string
}

// power is a mention with the pattern that finds it, also in minified code.
type power struct {
	mention
	// literal is part of every match of pattern. literal is searched first.
	literal string
	pattern func() *regexp.Regexp
}

// wordPowers returns powers that match whole names. Minified code keeps the names of
// platform APIs.
func wordPowers(meaning string, names ...string) []power {
	var powers []power
	for _, name := range names {
		powers = append(powers, power{mention{name, meaning}, name, lazyregexp.New(`(^|[^\w$])` + regexp.QuoteMeta(name) + `($|[^\w$])`)})
	}
	return powers
}

// patternPower returns a power with a special pattern.
func patternPower(name, meaning, literal, pattern string) []power {
	return []power{{mention{name, meaning}, literal, lazyregexp.New(pattern)}}
}

// powers are all that [mentions] looks for, by name.
var powers = sortedPowers(
	wordPowers("Sends requests from the page, with the user's session.", "fetch", "XMLHttpRequest", "EventSource", "sendBeacon"),
	wordPowers("Opens a connection that sends and receives data.", "WebSocket", "RTCPeerConnection"),
	wordPowers("Loads code or runs it beside the page.", "importScripts", "Worker", "SharedWorker", "serviceWorker"),
	wordPowers("Runs text as code, which this review does not show.", "eval", "Function"),
	wordPowers("Reads or writes cookies.", "document.cookie", "cookieStore"),
	wordPowers("Reads or writes what the site keeps in the browser.", "localStorage", "sessionStorage", "indexedDB"),
	wordPowers("Asks for passwords or keys that the browser keeps.", "credentials.get"),
	wordPowers("Reads or writes the clipboard.", "clipboard"),
	wordPowers("Sends messages to other windows or frames.", "postMessage"),
	wordPowers("Adds elements to the page; a script, an image or a frame loads an address.", "createElement"),
	wordPowers("Writes HTML into the page, which can run scripts or load addresses.", "innerHTML", "outerHTML", "insertAdjacentHTML"),
	patternPower("document.write", "Writes HTML into the page, which can run scripts or load addresses.", "write", `\bdocument(\?\.|\.)write(ln)?\b|\bdocument\[["']write(ln)?["']\]`),
	patternPower("window.open", "Opens a window or tab at an address of its choice.", "open",
		`\b(window|self|globalThis|top|parent)(\?\.|\.)open\b|\b(window|self|globalThis|top|parent)\[["']open["']\]|(^|[^\w$.])open\(\s*["'`+"`"+`]`),
	patternPower("import()", "Loads further code when it runs, which this review does not show.", "import", `(^|[^\w$.])import\s*(/\*.*?\*/\s*)?\(`),
	patternPower("context.call", "Calls tools, maybe of other plugins.", "call", `\bcontext\s*(\?\.|\.)\s*call\b|(\?\.|\.)call(\?\.)?\(\s*["'`+"`"+`]|\[["']call["']\]|[({,]\s*call\s*(:\s*[\w$]+\s*)?[,}][^;]*?\)?\s*(=>|\{)`),
	patternPower("Image", "Loads an image, which can send data in its address.", "Image", `\bnew\s+(window\.|globalThis\.|self\.)?Image\b`),
	patternPower("timer with a string", "Runs text as code later, which this review does not show.", "set",
		`\b(setTimeout|setInterval)\s*(\?\.)?\(\s*["'`+"`"+`]`),
)

// sortedPowers merges lists of powers.
func sortedPowers(lists ...[]power) []power {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b power) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// findMentions returns the powers that code mentions, sorted by name. A mention may be
// harmless, and code can use features without mentioning them.
func findMentions(code string) []mention {
	var all []mention
	for _, p := range powers {
		if strings.Contains(code, p.literal) && p.pattern().MatchString(code) {
			all = append(all, p.mention)
		}
	}
	return all
}

// mentionNames returns the names of mentions.
func mentionNames(all []mention) []string {
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	return names
}

// sortedMentions merges lists of mentions, each power once.
func sortedMentions(lists ...[]mention) []mention {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b mention) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(all)
}
