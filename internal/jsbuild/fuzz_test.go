package jsbuild

import (
	"strings"
	"testing"
	"time"

	"modernc.org/quickjs"
)

// FuzzCheckScript checks that QuickJS either rejects code that CheckScript accepts, or
// parses the code as one function.
func FuzzCheckScript(f *testing.F) {
	for _, code := range []string{
		"", "(() => { 'use strict' })();", "}); alert(1); (function () {", "}, EVIL(), function(){", "} /*", "`${", "#!x\n} {",
		"await / \"(\" ; }); EVIL(); (function(){ \"x)\" /g", "<!-- \n}); EVIL(); (function(){", "var a\n--> b", "with ({}) {}\nvar let_ = 010;",
		"class A { static { this.a = 1 } #b = 2 }", "async function f() { for await (const x of y) await z }", "'use strict'; yield: 1", "\u2028}",
	} {
		f.Add(code)
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		f.Fatal(err)
	}
	defer vm.Close()
	vm.SetEvalTimeout(2 * time.Second)
	f.Fuzz(func(t *testing.T, code string) {
		if strings.Contains(code, "\x00") || CheckScript([]byte(code)) != nil { // QuickJS is written in C, where a string ends at a NUL byte
			return
		}
		wrappedCode := "function (" + scriptParameters([]byte(code)) + ") {\n" + string(dropShebang([]byte(code))) + "\n}"
		got, err := vm.Eval("("+wrappedCode+").toString()", quickjs.EvalGlobal)
		switch {
		case err != nil && strings.Contains(err.Error(), "SyntaxError"): // QuickJS may reject code that CheckScript accepts
		case err != nil:
			t.Fatalf("%q ran: %v", code, err)
		case got != wrappedCode:
			t.Fatalf("%q: the function is\n%v\nand not\n%s", code, got, wrappedCode)
		}
	})
}

// FuzzSourceOf looks up arbitrary positions in arbitrary source maps. The function
// sourceOf must not panic or return a location in node_modules.
func FuzzSourceOf(f *testing.F) {
	f.Add([]byte(`{"version":3,"sources":["../src/a.ts"],"mappings":"AAAA,SAASA;AACT,gBAAkB"}`), 1, 3)
	f.Add([]byte(`{"sources":[],"mappings":"CCCC"}`), 0, 0)
	f.Add([]byte(`{"sources":["a"],"mappings":"ggggggggggggggggC"}`), 0, 0)
	f.Add([]byte(`{"sources":["x:y"],"mappings":";;AAAA"}`), 2, -1)
	f.Fuzz(func(t *testing.T, sourceMap []byte, line, column int) {
		location := sourceOf(sourceMap, line, column)
		if location != "" && (!strings.Contains(location, ":") || strings.Contains(location, "node_modules/")) {
			t.Fatalf("%s: %q", sourceMap, location)
		}
	})
}
