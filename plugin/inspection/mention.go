package inspection

import (
	"regexp"
	"slices"
	"strings"

	"opentabs/internal/lazyregexp"
)

// browserFeature is a browser feature that a plugin's code names and that matters for a review,
// such as network access or storage.
type browserFeature struct {
	// Name is the feature's name in code, such as "localStorage".
	Name string
	// Meaning explains the feature to a reviewer in one sentence.
	Meaning string
}

// featurePattern is a browser feature with a pattern that finds the feature in code, even if
// the code is minified.
type featurePattern struct {
	browserFeature
	// Because a regular expression is slow, the code is searched for literal before the search for pattern.
	literal string
	pattern func() *regexp.Regexp
}

// Minified code keeps the names of browser APIs.
func newWordFeaturePatterns(meaning string, names ...string) []featurePattern {
	var capabilities []featurePattern
	for _, name := range names {
		capabilities = append(capabilities, featurePattern{browserFeature{name, meaning}, name, lazyregexp.New(`(^|[^\w$])` + regexp.QuoteMeta(name) + `($|[^\w$])`)})
	}
	return capabilities
}

func newBrowserFeaturePatterns(name, meaning, literal, pattern string) []featurePattern {
	return []featurePattern{{browserFeature{name, meaning}, literal, lazyregexp.New(pattern)}}
}

var featurePatterns = sortedFeaturePatterns(
	newWordFeaturePatterns("Sends requests from the page, with the user's session.", "fetch", "XMLHttpRequest", "EventSource", "sendBeacon"),
	newWordFeaturePatterns("Opens a connection that sends and receives data.", "WebSocket", "RTCPeerConnection"),
	newWordFeaturePatterns("Loads code or runs it beside the page.", "importScripts", "Worker", "SharedWorker", "serviceWorker"),
	newWordFeaturePatterns("Runs text as code, which this review does not show.", "eval", "Function"),
	newWordFeaturePatterns("Reads or writes cookies.", "document.cookie", "cookieStore"),
	newWordFeaturePatterns("Reads or writes what the site keeps in the browser.", "localStorage", "sessionStorage", "indexedDB"),
	newWordFeaturePatterns("Asks for passwords or keys that the browser keeps.", "credentials.get"),
	newWordFeaturePatterns("Reads or writes the clipboard.", "clipboard"),
	newWordFeaturePatterns("Sends messages to other windows or frames.", "postMessage"),
	newWordFeaturePatterns("Adds elements to the page; a script, an image or a frame loads an address.", "createElement"),
	newWordFeaturePatterns("Writes HTML into the page, which can run scripts or load addresses.", "innerHTML", "outerHTML", "insertAdjacentHTML"),
	newBrowserFeaturePatterns("document.write", "Writes HTML into the page, which can run scripts or load addresses.", "write", `\bdocument(\?\.|\.)write(ln)?\b|\bdocument\[["']write(ln)?["']\]`),
	newBrowserFeaturePatterns("window.open", "Opens a window or tab at an address of its choice.", "open",
		`\b(window|self|globalThis|top|parent)(\?\.|\.)open\b|\b(window|self|globalThis|top|parent)\[["']open["']\]|(^|[^\w$.])open\(\s*["'`+"`"+`]`),
	newBrowserFeaturePatterns("import()", "Loads further code when it runs, which this review does not show.", "import", `(^|[^\w$.])import\s*(/\*.*?\*/\s*)?\(`),
	newBrowserFeaturePatterns("context.call", "Calls tools, maybe of other plugins.", "call", `\bcontext\s*(\?\.|\.)\s*call\b|(\?\.|\.)call(\?\.)?\(\s*["'`+"`"+`]|\[["']call["']\]|[({,]\s*call\s*(:\s*[\w$]+\s*)?[,}][^;]*?\)?\s*(=>|\{)`),
	newBrowserFeaturePatterns("Image", "Loads an image, which can send data in its address.", "Image", `\bnew\s+(window\.|globalThis\.|self\.)?Image\b`),
	newBrowserFeaturePatterns("timer with a string", "Runs text as code later, which this review does not show.", "set",
		`\b(setTimeout|setInterval)\s*(\?\.)?\(\s*["'`+"`"+`]`),
)

// sortedFeaturePatterns merges lists of patterns and sorts them by name.
func sortedFeaturePatterns(lists ...[]featurePattern) []featurePattern {
	capabilities := slices.Concat(lists...)
	slices.SortFunc(capabilities, func(a, b featurePattern) int { return strings.Compare(a.Name, b.Name) })
	return capabilities
}

// findBrowserFeatures returns the browser features whose names occur in code, sorted by name.
// A named feature may be harmless, and code can use browser features without naming them.
func findBrowserFeatures(code string) []browserFeature {
	var foundFeatures []browserFeature
	for _, p := range featurePatterns {
		if strings.Contains(code, p.literal) && p.pattern().MatchString(code) {
			foundFeatures = append(foundFeatures, p.browserFeature)
		}
	}
	return foundFeatures
}

func browserFeatureNames(foundFeatures []browserFeature) []string {
	var names []string
	for _, m := range foundFeatures {
		names = append(names, m.Name)
	}
	return names
}

// sortBrowserFeatures merges lists of browser features, sorts them by name and removes
// duplicates.
func sortBrowserFeatures(lists ...[]browserFeature) []browserFeature {
	foundFeatures := slices.Concat(lists...)
	slices.SortFunc(foundFeatures, func(a, b browserFeature) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(foundFeatures)
}
