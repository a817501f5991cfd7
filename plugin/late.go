package plugin

import (
	"bytes"
	"regexp"

	"opentabs/wire"
)

// StartFacts are the facts of a package that decide whether scripts of the page
// run before its adapter.
type StartFacts struct {
	World wire.World
	// Legacy says that the original OpenTabs SDK built the package.
	Legacy bool
	// Start is when the package wants its adapter to start; empty if it does not say.
	Start Start
	// Activates says that the adapter has an onActivate hook.
	Activates bool
}

// StartsLate reports whether scripts of the page run before the adapter does.
// Such a page can replace the built-ins that the adapter uses while it starts, and
// so read its settings and make calls in its name.
//
// An adapter in the isolated world is never late: the page has no access to that
// world. Packages of the original OpenTabs SDK count as late whenever they start,
// because their run time looks its built-ins up at each use.
//
// Another adapter of our SDK is not late, although a browser with many plugins may
// bring it into a page on demand, after the page's scripts: the host restores the
// built-ins of document_start while the adapter's modules take theirs
// (extension/src/host/life.ts). A page sees only what the adapter hands to it then.
func (f StartFacts) StartsLate() bool {
	switch {
	case f.World == wire.WorldIsolated:
		return false
	case f.Legacy:
		return true
	case f.Start != "":
		return f.Start != StartAtOnce
	}
	return f.Activates
}

// StartsLate reports whether scripts of the page run before the plugin's adapter;
// see [StartFacts.StartsLate].
func (p *Plugin) StartsLate() bool {
	return StartFacts{World: p.World, Legacy: p.Legacy, Start: p.Start, Activates: p.Activates}.StartsLate()
}

const activate = "onActivate"

// defines matches from a mention of onActivate on that gives a plugin this
// hook: a method, a field or a property; assigned what follows a dot.
var (
	defines  = regexp.MustCompile(`^onActivate["']?\]?\s*(?:\([^()]*\)\s*\{|=[^=>]|:)`)
	assigned = regexp.MustCompile(`^onActivate\s*=[^=>]`)
	// lowered is how esbuild writes a field for browsers that have none.
	lowered = []byte("__publicField(this, \"")
)

// HasOnActivate reports whether the code of an adapter defines an onActivate hook,
// which may rely on the document when the adapter starts.
func HasOnActivate(code []byte) bool {
	for at := 0; ; at += len(activate) {
		next := bytes.Index(code[at:], []byte(activate))
		if next < 0 {
			return false
		}
		at += next
		before, rest := code[:at], code[at:min(len(code), at+200)]
		switch {
		case bytes.HasSuffix(before, lowered):
			return true
		case bytes.HasSuffix(before, []byte(".")):
			if assigned.Match(rest) {
				return true
			}
		case at > 0 && partOfName(code[at-1]):
		case defines.Match(rest):
			return true
		}
	}
}

// partOfName reports whether c can be part of an ASCII name in JavaScript.
func partOfName(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// LateMeaning says what it means for a user that a plugin starts late.
const LateMeaning = "It starts after the page's scripts, so the page can read its settings and run its tools in that tab. " +
	"It gets no secret settings and calls no other plugin unless you allow it (--late-access)."

// WorldMeaning says what it means for a user that an adapter runs in this world.
func WorldMeaning(world wire.World) string {
	if world == wire.WorldIsolated {
		return "isolated: its code is apart from the page's scripts, which can neither read nor change what it works with; both share the page's content."
	}
	return "main: its code runs among the page's own scripts and can use what they define; they can see and change what it works with in the page."
}
