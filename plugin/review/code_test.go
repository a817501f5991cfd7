package review

import (
	"reflect"
	"strings"
	"testing"

	"opentabs/plugin/plugintest"
)

func TestSplitModules(t *testing.T) {
	const adapterEnd = "\n})();\n(function(){freeze()})();\n"
	for _, test := range []struct {
		name, code string
		want       []Module
	}{
		{"no comments", "one();\n", []Module{{Code: "one();\n"}}},
		{"modules", "(()=>{\n  // node_modules/a/b.mjs\n  lib();\n  // src/index.ts\n  own();" + adapterEnd, []Module{
			{Code: "(()=>{\n"},
			{Name: "node_modules/a/b.mjs", Library: true, Code: "  // node_modules/a/b.mjs\n  lib();\n"},
			{Name: "src/index.ts", Code: "  // src/index.ts\n  own();" + adapterEnd},
		}},
		{"code that follows a library", "  // opentabs:sdk/index.js\n  lib();" + adapterEnd, []Module{
			{Name: "opentabs:sdk/index.js", Library: true, Code: "  // opentabs:sdk/index.js\n  lib();\n"},
			{Code: strings.TrimPrefix(adapterEnd, "\n")},
		}},
		{"a comment of the author", "// see src/index.ts for more\nown();\n", []Module{{Code: "// see src/index.ts for more\nown();\n"}}},
		{"nothing", " \n", nil},
	} {
		if got := splitModules(test.code); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", test.name, got, test.want)
		}
	}
}

// TestReadCodeIsComplete checks that own code and libraries together are the whole
// adapter, so that no code escapes a review.
func TestReadCodeIsComplete(t *testing.T) {
	testPlugin := plugintest.Load(t, plugintest.Package{Name: "wiki", Code: bundledAdapter("var lib = 1;", "var own = 1;"), PreScript: "pre();"})
	code, err := ReadCode(testPlugin)
	if err != nil {
		t.Fatal(err)
	}
	adapterCode, err := testPlugin.Adapter()
	if err != nil {
		t.Fatal(err)
	}
	var joined strings.Builder
	for _, m := range code.Modules {
		joined.WriteString(m.Code)
	}
	if joined.String() != string(adapterCode) {
		t.Errorf("the modules are\n%s\nwant\n%s", joined.String(), adapterCode)
	}
	if own, libraries := code.OwnCode(), code.LibraryCode(); !strings.Contains(own, "var own") || strings.Contains(own, "var lib") || !strings.Contains(libraries, "var lib") || strings.Contains(libraries, "var own") {
		t.Errorf("own code\n%s\nlibraries\n%s", own, libraries)
	}
	if !strings.Contains(code.OwnCode(), "__adapterHash") {
		t.Error("the statement that the build appends is not part of the own code")
	}
	if code.PreScript != "pre();" {
		t.Errorf("pre-script %q; want %q", code.PreScript, "pre();")
	}
}
