package jsbuild

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	sdkts "opentabs/sdk-ts"

	"opentabs/internal/lazyregexp"
)

// esbuildAsyncSupport makes esbuild compile async functions to generators. Async generators are not compiled, because their
// values would pass through the page's promises anyway.
var esbuildAsyncSupport = map[string]bool{"async-await": false, "for-await": false}

// asyncHelper and forAwaitHelper match esbuild's helper functions for async code. A bundle with esbuild's helper
// __forAwait also has the helper __async, at an earlier line.
var (
	asyncHelper    = lazyregexp.New(`(?ms)^  var (__async\d*) = \(__this, __arguments, generator\) => \{\n.*?^  \};\n`)
	forAwaitHelper = lazyregexp.New(`(?m)^  var (__forAwait\d*) = \(obj, it, method\) => .*;\n`)
	helperCall     = lazyregexp.New(`\b__(?:async|forAwait)\d*\(`)
)

// replaceAsyncHelpers replaces esbuild's async helpers in a bundle with
// sdk-ts/src/runtime/async.ts. esbuild's helpers use the page's Promise, so the page could read
// every resolved value. replaceAsyncHelpers keeps all line numbers, so that the source map
// stays correct.
func replaceAsyncHelpers(code []byte) ([]byte, error) {
	if !helperCall().Match(code) {
		return code, nil
	}
	runtimeCode, err := asyncRuntime()
	if err != nil {
		return nil, err
	}
	helper := asyncHelper().FindSubmatchIndex(code)
	if helper == nil {
		return nil, errors.New("esbuild's helper for async functions has another form; adapt asyncHelper in async.go")
	}
	name, lines := code[helper[2]:helper[3]], bytes.Count(code[helper[0]:helper[1]], []byte("\n"))
	privateHelper := fmt.Appendf(nil, "  var "+asyncRuntimeName+" = %s, %s = "+asyncRuntimeName+".runAsync;%s", runtimeCode, name, strings.Repeat("\n", lines))
	code = slices.Concat(code[:helper[0]], privateHelper, code[helper[1]:])
	return forAwaitHelper().ReplaceAll(code, []byte("  var $1 = "+asyncRuntimeName+".getAsyncIterator;\n")), nil
}

const asyncRuntimeName = "__opentabsAsync"

var asyncRuntime = sync.OnceValues(func() (string, error) {
	sources := sourceSet{Roots: map[string]fs.FS{"sdk": sdkts.Source}}
	r := api.Build(api.BuildOptions{
		EntryPoints:      []string{"sdk/src/runtime/async.ts"},
		Outfile:          "async.js",
		Bundle:           true,
		Format:           api.FormatIIFE,
		GlobalName:       "runtime",
		Target:           api.ES2022,
		Charset:          api.CharsetASCII,
		MinifyWhitespace: true,
		MinifySyntax:     true,
		TsconfigRaw:      "{}",
		LegalComments:    api.LegalCommentsNone,
		Plugins:          []api.Plugin{sources.Plugin()},
		LogLevel:         api.LogLevelSilent,
	})
	if len(r.Errors) > 0 {
		return "", fmt.Errorf("bundle async.ts: %s", r.Errors[0].Text)
	}
	transformedCode := strings.TrimSpace(string(r.OutputFiles[0].Contents))
	transformedCode = strings.TrimPrefix(transformedCode, `"use strict";`)
	transformedCode, ok := strings.CutPrefix(transformedCode, "var runtime=")
	if !ok || strings.Contains(transformedCode, "\n") {
		return "", fmt.Errorf("bundle async.ts: the result is not one expression in one line")
	}
	return strings.TrimSuffix(transformedCode, ";"), nil
})
