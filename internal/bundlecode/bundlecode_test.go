package bundlecode

import (
	"reflect"
	"strings"
	"testing"
)

func TestSplitModules(t *testing.T) {
	const adapterEnd = "\n})();\n(function(){freeze()})();\n"
	for _, testCase := range []struct {
		name, code string
		want       []Module
	}{
		{"no comments", "one();\n", []Module{{Code: "one();\n"}}},
		{"modules", "(()=>{\n  // node_modules/a/b.mjs\n  lib();\n  // src/index.ts\n  own();" + adapterEnd, []Module{
			{Code: "(()=>{\n"},
			{Name: "node_modules/a/b.mjs", IsLibrary: true, Code: "  // node_modules/a/b.mjs\n  lib();\n"},
			{Name: "src/index.ts", Code: "  // src/index.ts\n  own();" + adapterEnd},
		}},
		{"code that follows a library", "  // opentabs:sdk/index.js\n  lib();" + adapterEnd, []Module{
			{Name: "opentabs:sdk/index.js", IsLibrary: true, Code: "  // opentabs:sdk/index.js\n  lib();\n"},
			{Code: strings.TrimPrefix(adapterEnd, "\n")},
		}},
		{"a comment of the author", "// see src/index.ts for more\nown();\n", []Module{{Code: "// see src/index.ts for more\nown();\n"}}},
		{"nothing", " \n", nil},
	} {
		if got := SplitModules(testCase.code); !reflect.DeepEqual(got, testCase.want) {
			t.Errorf("%s: SplitModules returned\n%+v\nwant\n%+v", testCase.name, got, testCase.want)
		}
	}
}
