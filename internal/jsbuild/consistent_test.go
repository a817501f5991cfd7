package jsbuild

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHasSameSource(t *testing.T) {
	dir := buildFreshExample(t)
	pluginSource, problems, err := readSource(dir)
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	adapter, err := adapterScript(pluginSource.Entry, pluginSource.ID)
	if err != nil {
		t.Fatal(err)
	}
	bundle := func(s script) bundledScript {
		t.Helper()
		bundled, err := bundlePluginScript(s, findZod(pluginSource.Dir), nil)
		if err != nil {
			t.Fatal(err)
		}
		return bundled
	}
	extractedBundle := bundle(extractScript(pluginSource.Entry))
	if !hasSameSource(bundle(adapter), extractedBundle) {
		t.Error("hasSameSource = false for two scripts from unchanged files, want true")
	}
	file := filepath.Join(dir, "src/tools/echo.ts")
	fileContent, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, pluginChange := range map[string]func([]byte) []byte{
		"an empty file":           func([]byte) []byte { return nil },
		"a text of the same size": func(code []byte) []byte { code[len(code)-1] = ' '; return code },
	} {
		if err := os.WriteFile(file, pluginChange(append([]byte{}, fileContent...)), 0o644); err != nil {
			t.Fatal(err)
		}
		if hasSameSource(bundle(adapter), extractedBundle) {
			t.Errorf("a shared file became %s: hasSameSource = true, want false", name)
		}
	}
}
