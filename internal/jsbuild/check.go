package jsbuild

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"
)

// CheckVersion is the version of the rules that [CheckScript] enforces. An opentabs
// version that makes the rules stricter also increases CheckVersion, so that all scripts
// are checked again.
const CheckVersion = 1

// functionWrapper is the text that CheckScript puts around an adapter to parse the adapter as
// a function body. The field textBefore ends with one line break, so a line number in the
// wrapped code is one higher than in the adapter.
type functionWrapper struct{ textBefore, textAfter string }

// functionWrappers returns three ways to use code as the body of a function.
//
// After the closing brace of the function, code in the first two wrappings must continue with a comma, and code in the
// third must not. Code that parses in all three function wrappings cannot close the function around the code.
func functionWrappers(code []byte) [3]functionWrapper {
	names := scriptParameters(code)
	return [3]functionWrapper{
		{"(function (" + names + ") {\n", "\n});"},
		{"({ m(" + names + ") {\n", "\n} });"},
		{"function f(" + names + ") {\n", "\n}"},
	}
}

// CheckScript returns an error unless code is one complete classic script. [WrapAdapter]
// puts a function around the script; code that closes the function could replace the host
// of another plugin. CheckScript also rejects module syntax, top-level await and all
// other code that browsers reject in a function.
//
// For a script of 1 MB, CheckScript takes about 0.5 s on a busy machine.
func CheckScript(code []byte) error {
	if offset := invalidUTF8(code); offset >= 0 {
		// CheckScript rejects code with invalid UTF-8, because esbuild and browsers could
		// interpret the invalid bytes differently.
		return fmt.Errorf("%s:%d: the text is not UTF-8", bundleFileName, 1+bytes.Count(code[:offset], []byte("\n")))
	}
	body := string(dropShebang(code))
	for i, w := range functionWrappers(code) {
		if m, ok := firstError(w.textBefore+body+w.textAfter, i == 0); ok {
			return scriptError(m, code)
		}
	}
	return nil
}

// If findDecorators is true, firstError rejects decorators.
func firstError(errorText string, findDecorators bool) (api.Message, bool) {
	options := api.TransformOptions{
		Loader: api.LoaderJS, Target: api.ESNext, Sourcefile: bundleFileName, LogLevel: api.LogLevelSilent,
		TsconfigRaw: "{}", MinifyWhitespace: true,
		// The IIFE format makes esbuild reject import.meta, which esbuild accepts if no
		// format is set.
		Format:      api.FormatIIFE,
		TreeShaking: api.TreeShakingFalse,
		Supported:   map[string]bool{"decorators": true},
		LogOverride: map[string]api.LogLevel{
			"empty-import-meta": api.LogLevelError,
			// HTML comments are errors, because only some parsers treat <!-- and --> as comments.
			"html-comment-in-js": api.LogLevelError,
		},
	}
	result := api.Transform(errorText, options)
	if len(result.Errors) > 0 {
		return result.Errors[0], true
	}
	if !findDecorators || !strings.Contains(errorText, "@") {
		return api.Message{}, false
	}
	// esbuild supports decorators in JavaScript, but Chrome does not. To detect
	// decorators, firstError lets esbuild compile them: if the output differs, the code
	// contains decorators.
	options.Supported = map[string]bool{"decorators": false}
	if retryResult := api.Transform(errorText, options); !bytes.Equal(retryResult.Code, result.Code) {
		return api.Message{Text: "browsers have no decorators; build for ES2022"}, true
	}
	return api.Message{}, false
}

// scriptError returns an error whose location is relative to the original code, without the wrapping.
func scriptError(m api.Message, code []byte) error {
	if location := m.Location; location != nil {
		lines := 1 + bytes.Count(code, []byte("\n"))
		location.Line--
		if location.Line > lines {
			location.Line, location.Column, location.LineText = lines, 0, ""
		}
	}
	return errors.New(problemsFromEsbuild([]api.Message{m})[0].String() +
		"; an adapter is one classic script: remove top-level import, export and await, and close all brackets")
}

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
