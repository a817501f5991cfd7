package inspection

import (
	"regexp"
	"slices"
	"strings"

	"opentabs/internal/lazyregexp"
)

// mention is a browser feature that a plugin's code names and that matters for a review,
// such as network access or storage.
type mention struct {
	// Name is the feature's name in code, such as "localStorage".
	Name string
	// Meaning explains the feature to a reviewer in one sentence.
	Meaning string
}

// capability is a browser feature with a pattern that finds the feature in code, even if
// the code is minified.
type capability struct {
	mention
	// literal is part of every match of pattern. Code is searched for literal first,
	// because pattern is slower.
	literal string
	pattern func() *regexp.Regexp
}

// wordCapabilities returns capabilities that match whole names in code. Minified code
// keeps the names of browser APIs.
func wordCapabilities(meaning string, names ...string) []capability {
	var capabilities []capability
	for _, name := range names {
		capabilities = append(capabilities, capability{mention{name, meaning}, name, lazyregexp.New(`(^|[^\w$])` + regexp.QuoteMeta(name) + `($|[^\w$])`)})
	}
	return capabilities
}

// patternCapability returns a capability that matches a regular expression instead of a
// whole name.
func patternCapability(name, meaning, literal, pattern string) []capability {
	return []capability{{mention{name, meaning}, literal, lazyregexp.New(pattern)}}
}

// capabilities are the browser features for which [findMentions] searches, sorted by
// name.
var capabilities = sortedCapabilities(
	wordCapabilities("Sends requests from the page, with the user's session.", "fetch", "XMLHttpRequest", "EventSource", "sendBeacon"),
	wordCapabilities("Opens a connection that sends and receives data.", "WebSocket", "RTCPeerConnection"),
	wordCapabilities("Loads code or runs it beside the page.", "importScripts", "Worker", "SharedWorker", "serviceWorker"),
	wordCapabilities("Runs text as code, which this review does not show.", "eval", "Function"),
	wordCapabilities("Reads or writes cookies.", "document.cookie", "cookieStore"),
	wordCapabilities("Reads or writes what the site keeps in the browser.", "localStorage", "sessionStorage", "indexedDB"),
	wordCapabilities("Asks for passwords or keys that the browser keeps.", "credentials.get"),
	wordCapabilities("Reads or writes the clipboard.", "clipboard"),
	wordCapabilities("Sends messages to other windows or frames.", "postMessage"),
	wordCapabilities("Adds elements to the page; a script, an image or a frame loads an address.", "createElement"),
	wordCapabilities("Writes HTML into the page, which can run scripts or load addresses.", "innerHTML", "outerHTML", "insertAdjacentHTML"),
	patternCapability("document.write", "Writes HTML into the page, which can run scripts or load addresses.", "write", `\bdocument(\?\.|\.)write(ln)?\b|\bdocument\[["']write(ln)?["']\]`),
	patternCapability("window.open", "Opens a window or tab at an address of its choice.", "open",
		`\b(window|self|globalThis|top|parent)(\?\.|\.)open\b|\b(window|self|globalThis|top|parent)\[["']open["']\]|(^|[^\w$.])open\(\s*["'`+"`"+`]`),
	patternCapability("import()", "Loads further code when it runs, which this review does not show.", "import", `(^|[^\w$.])import\s*(/\*.*?\*/\s*)?\(`),
	patternCapability("context.call", "Calls tools, maybe of other plugins.", "call", `\bcontext\s*(\?\.|\.)\s*call\b|(\?\.|\.)call(\?\.)?\(\s*["'`+"`"+`]|\[["']call["']\]|[({,]\s*call\s*(:\s*[\w$]+\s*)?[,}][^;]*?\)?\s*(=>|\{)`),
	patternCapability("Image", "Loads an image, which can send data in its address.", "Image", `\bnew\s+(window\.|globalThis\.|self\.)?Image\b`),
	patternCapability("timer with a string", "Runs text as code later, which this review does not show.", "set",
		`\b(setTimeout|setInterval)\s*(\?\.)?\(\s*["'`+"`"+`]`),
)

// sortedCapabilities merges lists of capabilities and sorts them by name.
func sortedCapabilities(lists ...[]capability) []capability {
	capabilities := slices.Concat(lists...)
	slices.SortFunc(capabilities, func(a, b capability) int { return strings.Compare(a.Name, b.Name) })
	return capabilities
}

// findMentions returns the browser features that code names, sorted by name. A mention
// may be harmless, and code can use browser features without naming them.
func findMentions(code string) []mention {
	var mentions []mention
	for _, p := range capabilities {
		if strings.Contains(code, p.literal) && p.pattern().MatchString(code) {
			mentions = append(mentions, p.mention)
		}
	}
	return mentions
}

func mentionNames(mentions []mention) []string {
	var names []string
	for _, m := range mentions {
		names = append(names, m.Name)
	}
	return names
}

// sortedMentions merges lists of mentions, sorts them by name and removes duplicates.
func sortedMentions(lists ...[]mention) []mention {
	mentions := slices.Concat(lists...)
	slices.SortFunc(mentions, func(a, b mention) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(mentions)
}
