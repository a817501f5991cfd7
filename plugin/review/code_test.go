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
	var joinedBuilder strings.Builder
	for _, m := range code.Modules {
		joinedBuilder.WriteString(m.Code)
	}
	if joinedBuilder.String() != string(adapterCode) {
		t.Errorf("the modules are\n%s\nwant\n%s", joinedBuilder.String(), adapterCode)
	}
	if ownCode, libraries := code.OwnCode(), code.LibraryCode(); !strings.Contains(ownCode, "var own") || strings.Contains(ownCode, "var lib") || !strings.Contains(libraries, "var lib") || strings.Contains(libraries, "var own") {
		t.Errorf("own code\n%s\nlibraries\n%s", ownCode, libraries)
	}
	if !strings.Contains(code.OwnCode(), "__adapterHash") {
		t.Error("the statement that the build appends is not part of the own code")
	}
	if code.PreScript != "pre();" {
		t.Errorf("pre-script %q; want %q", code.PreScript, "pre();")
	}
}
