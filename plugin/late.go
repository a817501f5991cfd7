package plugin

import (
	"bytes"

	"opentabs/internal/lazyregexp"
	"opentabs/wire"
)

// StartsAfterPageScripts reports whether scripts of the page run before the adapter. Scripts that run
// before an adapter can replace the built-ins that the adapter uses, read its settings
// and make calls in its name.
//
// An adapter in the isolated world never counts as late, because the page has no access
// to the isolated world. Adapters of the original OpenTabs SDK always count as late,
// because the SDK's runtime looks up built-ins at each use.
//
// An adapter for document_start never counts as late, even if a browser has so many
// plugins that it injects the adapter after the page's scripts. While an adapter's
// modules run, the host restores the original built-ins
// (extension/src/host/lifecycle.ts). After an adapter has started, the page receives only
// values that the adapter passes to the page.
func (p *Plugin) StartsAfterPageScripts() bool {
	switch {
	case p.World == wire.WorldIsolated:
		return false
	case p.IsForOriginalSDK:
		return true
	case p.Start != "":
		return p.Start != StartAtDocumentStart
	}
	return p.HasActivateHook
}

const activateHookName = "onActivate"

// hookDefinitionPattern matches the definition of an onActivate hook as a method, a field or
// a property. hookAssignmentPattern matches an assignment to the onActivate member of an
// object.
var (
	hookDefinitionPattern = lazyregexp.New(`^onActivate["']?\]?\s*(?:\([^()]*\)\s*\{|=[^=>]|:)`)
	hookAssignmentPattern = lazyregexp.New(`^onActivate\s*=[^=>]`)
	// compiledFieldPrefix is the code that esbuild emits for a class field when it compiles for
	// old browsers.
	compiledFieldPrefix = []byte("__publicField(this, \"")
)

// DefinesActivateHook reports whether the code of an adapter defines an onActivate hook. An
// onActivate hook may need the page's document when the adapter starts.
func DefinesActivateHook(code []byte) bool {
	for offset := 0; ; offset += len(activateHookName) {
		relativeIndex := bytes.Index(code[offset:], []byte(activateHookName))
		if relativeIndex < 0 {
			return false
		}
		offset += relativeIndex
		textBefore, textAfter := code[:offset], code[offset:min(len(code), offset+200)]
		switch {
		case bytes.HasSuffix(textBefore, compiledFieldPrefix):
			return true
		case bytes.HasSuffix(textBefore, []byte(".")):
			if hookAssignmentPattern().Match(textAfter) {
				return true
			}
		case offset > 0 && isIdentifierByte(code[offset-1]):
		case hookDefinitionPattern().Match(textAfter):
			return true
		}
	}
}

func isIdentifierByte(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// LateStartDescription explains to the user what the late start of an adapter means.
const LateStartDescription = "It starts after the page's scripts, so the page can read its settings and run its tools in that tab. " +
	"It gets no secret settings and calls no other plugin unless you allow it (--late-access)."

// DescribeWorld explains to the user what the JavaScript world of an adapter means.
func DescribeWorld(world wire.World) string {
	if world == wire.WorldIsolated {
		return "isolated: its code is apart from the page's scripts, which can neither read nor change what it works with; both share the page's content."
	}
	return "main: its code runs among the page's own scripts and can use what they define; they can see and change what it works with in the page."
}
