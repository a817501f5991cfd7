package main

import (
	"os"
	"strings"
	"testing"
)

func TestTypeCheckTargets(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("text", 0o700); err != nil {
		t.Fatal(err)
	}
	// The packages import no library, because the type check of a library takes seconds.
	for name, fileContent := range map[string]string{
		"go.mod":          "module example\n\ngo 1.26\n",
		"main.go":         "package main\n\nimport \"example/text\"\n\nfunc main() { println(text.Copy(system())) }\n",
		"text/text.go":    "package text\n\nfunc Copy(s string) string { return s }\n",
		"main_linux.go":   "package main\n\nfunc system() string { return \"linux\" }\n",
		"main_darwin.go":  "package main\n\nfunc system() string { return 7 }\n",
		"main_windows.go": "package main\n\nfunc System() string { return \"windows\" }\n",
	} {
		if err := os.WriteFile(name, []byte(fileContent), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := typeCheckTargets(".", []string{"linux/amd64"}); err != nil {
		t.Errorf("typeCheckTargets for linux/amd64 returned the error %v; want none", err)
	}
	for target, want := range map[string]string{
		"linux/amd64,darwin/arm64": "main_darwin.go:3:31: cannot use 7",
		"windows/arm64":            "main.go:5:33: undefined: system",
		"darwin":                   `"darwin" is not SYSTEM/PROCESSOR`,
	} {
		err := typeCheckTargets(".", strings.Split(target, ","))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error of typeCheckTargets for %s = %v, want %q", target, err, want)
		}
	}
	if err := typeCheckTargets("./missing", []string{"linux/amd64"}); err == nil {
		t.Error("typeCheckTargets accepted a missing package; want an error")
	}
}
