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
		case err != nil && strings.Contains(err.Error(), "SyntaxError"):
		case err != nil:
			t.Fatalf("CheckScript accepted %q, but QuickJS ran it: %v; want code that is only parsed", code, err)
		case got != wrappedCode:
			t.Fatalf("QuickJS parsed the code %q as the function\n%v\nwant\n%s", code, got, wrappedCode)
		}
	})
}
