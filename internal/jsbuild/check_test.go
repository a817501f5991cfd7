package jsbuild

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckScript(t *testing.T) {
	for _, validCode := range []string{
		"", "(() => { 'use strict' })();", "var a = 1 // a comment to the end",
		"#!/usr/bin/env node\nvar a = 1", "#!/usr/bin/env node\r\nvar a = 1", "#! alone", "\uFEFFvar a = 1",
		"var a = '}); \u2028 @'; /}/.test(a)", "with ({}) {}\nvar let_ = 010;", "import('x')",
		"async function f() { for await (const x of y) await using_(x) }", "class A { static { this.a = 1 } #b = 2 }",
		"let window = 1", "var re = /(?<a>.)/v", "{ } ({ }), [1]",
	} {
		if err := CheckScript([]byte(validCode)); err != nil {
			t.Errorf("CheckScript(%q) = %v, want no error", validCode, err)
		}
	}
	for _, invalidCode := range []string{"}); alert(1); (function () {", "} /*", "*/ }", "function f() {", "`${", "#!x\n} {"} {
		if err := CheckScript([]byte(invalidCode)); err == nil || !strings.Contains(err.Error(), "adapter.iife.js:") {
			t.Errorf("CheckScript(%q) = %v; want an error that contains %q", invalidCode, err, "adapter.iife.js:")
		}
	}
}

func TestCheckScriptRejectsCodeThatLeavesFunction(t *testing.T) {
	for _, scopeEscapingCode := range []string{
		`await / "(" ; }); EVIL(); (function(){ "x)" /g`,
		`if (0) await / "(" ; }); EVIL(); (function(){ "x)" /g`,
		`}, EVIL(), function(){`,
		`} (EVIL()), function(){`,
		`}, x, function(){`,
		`} [EVIL()] = function(){`,
		"}); EVIL(); ({ m() {",
		"} EVIL(); function g() {",
		"#!x\r}); EVIL(); (function(){",
		"<!-- \n}); EVIL(); (function(){",
		"var a\n--> b",
		"var a = 1 <!--b",
		"\xff});",
	} {
		if err := CheckScript([]byte(scopeEscapingCode)); err == nil {
			t.Errorf("CheckScript accepted %q, want an error", scopeEscapingCode)
		}
	}
}

func TestCheckScriptRejectsInvalidScripts(t *testing.T) {
	for _, invalidCode := range []string{
		"export const a = 1", "export {}", "import 'x'", "import a from 'x'", "import.meta.url", "() => import.meta",
		"await f()", "for await (const x of y) {}", "await using a = b", "@dec class A {}", "class A { @dec m() {} }",
		"let globalThis = 1", "let window = 1; window.__openTabs = {}", "const a", "a => {} ()", "super.x",
	} {
		err := CheckScript([]byte(invalidCode))
		if err == nil {
			t.Errorf("CheckScript accepted %q, want an error", invalidCode)
		} else if !strings.Contains(err.Error(), "classic script: remove top-level import") {
			t.Errorf("CheckScript(%q) = %v, want an error that advises to remove the top-level import", invalidCode, err)
		}
	}
}

func TestCheckScriptReportsPosition(t *testing.T) {
	for code, want := range map[string]string{
		"var a;\nvar b = ;":            "adapter.iife.js:2:9: ",
		"#!/bin/x\r\nvar b = ;":        "adapter.iife.js:2:9: ",
		"function f() {":               "adapter.iife.js:1:",
		"a;\nb;\n\xff":                 "adapter.iife.js:3: the text is not UTF-8",
		"let globalThis":               "adapter.iife.js:1:5: ",
		"var a;\nawait a()\nvar b = 1": "adapter.iife.js:2:1: ",
	} {
		if err := CheckScript([]byte(code)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("CheckScript(%q) = %v, want an error that begins with %s", code, err, want)
		}
	}
}

func largeScript() []byte {
	var b strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&b, "function f%d(a, b) { return { a, b, c: [a + b, `x${a}`] }; }\n", i)
	}
	return []byte(b.String())
}

func BenchmarkCheckScript(b *testing.B) {
	code := largeScript()
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		if err := CheckScript(code); err != nil {
			b.Fatal(err)
		}
	}
}
