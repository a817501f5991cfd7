package review

import (
	"strings"
	"testing"

	"opentabs/plugin/plugintest"
)

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
	var joinedCode strings.Builder
	for _, m := range code.Modules {
		joinedCode.WriteString(m.Code)
	}
	if joinedCode.String() != string(adapterCode) {
		t.Errorf("the modules joined =\n%s\nwant\n%s", joinedCode.String(), adapterCode)
	}
	if ownCode, libraries := code.OwnCode(), code.LibraryCode(); !strings.Contains(ownCode, "var own") || strings.Contains(ownCode, "var lib") || !strings.Contains(libraries, "var lib") || strings.Contains(libraries, "var own") {
		t.Errorf("own code =\n%s\nlibrary code =\n%s\nwant each variable in the correct part", ownCode, libraries)
	}
	if !strings.Contains(code.OwnCode(), "__adapterHash") {
		t.Error("the author's code lacks the hash statement that the build appends; want it included")
	}
	if code.PreScript != "pre();" {
		t.Errorf("pre-script = %q; want %q", code.PreScript, "pre();")
	}
}
