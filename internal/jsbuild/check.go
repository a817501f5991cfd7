package jsbuild

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"
)

// CheckVersion changes when [CheckScript] refuses more than before: what an
// older check let through has to be checked again.
const CheckVersion = 1

// wrapping is text that is put around an adapter to see whether the adapter
// stays inside. before ends its first line, so that the adapter's lines are
// one further down.
type wrapping struct{ before, after string }

// wrappings are three places for one function's body. Only the first is run.
//
// Code that parses in it can still have closed the function and opened another
// one. But then it also does so in the other two, because all three bodies are
// read by the same grammar up to the brace that closes them, and what may
// follow that brace differs: only a comma may in the first and in the second,
// and none may in the third. So what parses in all three closes none.
func wrappings(code []byte) [3]wrapping {
	names := parameters(code)
	return [3]wrapping{
		{"(function (" + names + ") {\n", "\n});"},
		{"({ m(" + names + ") {\n", "\n} });"},
		{"function f(" + names + ") {\n", "\n}"},
	}
}

// CheckScript returns an error if code is not a whole classic script that
// stays inside the function which [WrapAdapter] writes around it: one that
// closed this function would run outside of its private container, and could
// take the place of another plugin's host. Module syntax, top-level await and
// what else a browser refuses in a function are errors too.
//
// It takes about 0.5 s for a script of 1 MB on a busy machine: do it once.
func CheckScript(code []byte) error {
	if at := invalidUTF8(code); at >= 0 {
		// Readers do not agree on what such bytes mean.
		return fmt.Errorf("%s:%d: the text is not UTF-8", bundleName, 1+bytes.Count(code[:at], []byte("\n")))
	}
	body := string(dropShebang(code))
	for i, w := range wrappings(code) {
		if m, ok := firstError(w.before+body+w.after, i == 0); ok {
			return scriptError(m, code)
		}
	}
	return nil
}

// firstError parses a script and returns the first thing that is wrong;
// decorators are looked for if asked.
func firstError(text string, decorators bool) (api.Message, bool) {
	options := api.TransformOptions{
		Loader: api.LoaderJS, Target: api.ESNext, Sourcefile: bundleName, LogLevel: api.LogLevelSilent,
		TsconfigRaw: "{}", MinifyWhitespace: true,
		// Without a format import.meta would count as good.
		Format:      api.FormatIIFE,
		TreeShaking: api.TreeShakingFalse,
		Supported:   map[string]bool{"decorators": true}, // leave them as they are
		LogOverride: map[string]api.LogLevel{
			"empty-import-meta": api.LogLevelError,
			// A comment that only some parsers see.
			"html-comment-in-js": api.LogLevelError,
		},
	}
	result := api.Transform(text, options)
	if len(result.Errors) > 0 {
		return result.Errors[0], true
	}
	if !decorators || !strings.Contains(text, "@") {
		return api.Message{}, false
	}
	// Esbuild knows decorators and Chrome does not: they are there if translating
	// them makes a difference.
	options.Supported = map[string]bool{"decorators": false}
	if lowered := api.Transform(text, options); !bytes.Equal(lowered.Code, result.Code) {
		return api.Message{Text: "browsers have no decorators; build for ES2022"}, true
	}
	return api.Message{}, false
}

// scriptError tells what is wrong with code, whose first line is the second
// of the text that the message is about.
func scriptError(m api.Message, code []byte) error {
	if at := m.Location; at != nil {
		lines := 1 + bytes.Count(code, []byte("\n"))
		at.Line--
		if at.Line > lines { // what is missing at the end of the code
			at.Line, at.Column, at.LineText = lines, 0, ""
		}
	}
	return errors.New(fromEsbuild([]api.Message{m})[0].String() +
		"; an adapter is one classic script: leave out import, export and await at its top, and close what is open")
}

// invalidUTF8 returns where code stops being UTF-8, or -1.
func invalidUTF8(code []byte) int {
	if utf8.Valid(code) {
		return -1
	}
	for at := 0; ; {
		r, size := utf8.DecodeRune(code[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
}
