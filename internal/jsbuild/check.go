package jsbuild

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"
)

// CheckVersion increases when [CheckScript] becomes stricter. Scripts that an older
// version accepted must be checked again.
const CheckVersion = 1

// functionWrapping is the text around an adapter that CheckScript parses. Because
// before is the first line, the line numbers of the adapter are shifted by one.
type functionWrapping struct{ before, after string }

// functionWrappings returns three ways to use code as the body of a function.
// WrapAdapter uses the first way.
//
// Code that parses in one wrapping may close the function and open another function. No
// code can do that in all three wrappings: up to the brace that closes the body, the
// grammar is the same in all three. After that brace, the first two wrappings allow
// only a comma, and the third wrapping allows no comma. Code that parses in all three
// wrappings therefore closes none of the functions.
func functionWrappings(code []byte) [3]functionWrapping {
	names := scriptParameters(code)
	return [3]functionWrapping{
		{"(function (" + names + ") {\n", "\n});"},
		{"({ m(" + names + ") {\n", "\n} });"},
		{"function f(" + names + ") {\n", "\n}"},
	}
}

// CheckScript returns an error unless code is one complete classic script that stays
// inside the function which [WrapAdapter] puts around it. Code that closes the function
// would run outside of its private container and could replace the host of another
// plugin. Module syntax, top-level await and everything else that browsers reject in a
// function are errors too.
//
// CheckScript takes about 0.5 s for a script of 1 MB on a busy machine.
func CheckScript(code []byte) error {
	if offset := invalidUTF8(code); offset >= 0 {
		// Parsers interpret invalid UTF-8 differently.
		return fmt.Errorf("%s:%d: the text is not UTF-8", bundleName, 1+bytes.Count(code[:offset], []byte("\n")))
	}
	body := string(dropShebang(code))
	for i, w := range functionWrappings(code) {
		if m, ok := firstError(w.before+body+w.after, i == 0); ok {
			return scriptError(m, code)
		}
	}
	return nil
}

// firstError parses a script and returns the first error. With findDecorators,
// decorators are errors too.
func firstError(text string, findDecorators bool) (api.Message, bool) {
	options := api.TransformOptions{
		Loader: api.LoaderJS, Target: api.ESNext, Sourcefile: bundleName, LogLevel: api.LogLevelSilent,
		TsconfigRaw: "{}", MinifyWhitespace: true,
		// Without a format, esbuild accepts import.meta.
		Format:      api.FormatIIFE,
		TreeShaking: api.TreeShakingFalse,
		Supported:   map[string]bool{"decorators": true}, // esbuild must not compile decorators
		LogOverride: map[string]api.LogLevel{
			"empty-import-meta": api.LogLevelError,
			// Only some parsers treat <!-- and --> as comments.
			"html-comment-in-js": api.LogLevelError,
		},
	}
	result := api.Transform(text, options)
	if len(result.Errors) > 0 {
		return result.Errors[0], true
	}
	if !findDecorators || !strings.Contains(text, "@") {
		return api.Message{}, false
	}
	// esbuild supports decorators and Chrome does not. If compiling decorators changes
	// the output, the code has decorators.
	options.Supported = map[string]bool{"decorators": false}
	if loweredResult := api.Transform(text, options); !bytes.Equal(loweredResult.Code, result.Code) {
		return api.Message{Text: "browsers have no decorators; build for ES2022"}, true
	}
	return api.Message{}, false
}

// scriptError returns the error for a message about wrapped code, with the location
// in the code itself.
func scriptError(m api.Message, code []byte) error {
	if location := m.Location; location != nil {
		lines := 1 + bytes.Count(code, []byte("\n"))
		location.Line--
		if location.Line > lines { // something is missing at the end of the code
			location.Line, location.Column, location.LineText = lines, 0, ""
		}
	}
	return errors.New(fromEsbuild([]api.Message{m})[0].String() +
		"; an adapter is one classic script: remove top-level import, export and await, and close all brackets")
}

// invalidUTF8 returns where code stops being UTF-8, or -1.
func invalidUTF8(code []byte) int {
	if utf8.Valid(code) {
		return -1
	}
	for offset := 0; ; {
		r, size := utf8.DecodeRune(code[offset:])
		if r == utf8.RuneError && size == 1 {
			return offset
		}
		offset += size
	}
}
