package browserprofile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	testExtension = "abcdefghijklmnopabcdefghijklmnop"
	testBrowser   = "6f0b8a51-3f0e-4f0b-9a46-0a4f5b0f8f11"
)

func writeFile(t *testing.T, path, fileContent string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(fileContent), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDefaultName(t *testing.T) {
	m := Machine{OS: "linux", Home: t.TempDir(), Getenv: func(string) string { return "" }, HostName: "laptop.example.com"}
	chrome := filepath.Join(m.Home, ".config", "google-chrome")
	storage := func(profile, file string) string {
		return filepath.Join(chrome, profile, "Local Extension Settings", testExtension, file)
	}
	findName := func(want string) {
		t.Helper()
		if got := m.DefaultName(testExtension, testBrowser, "Chrome on Linux"); got != want {
			t.Errorf("name of the browser = %q, want %q", got, want)
		}
	}
	findName("")
	writeFile(t, storage("Default", "000003.log"), "other "+strings.ToUpper(testBrowser))
	findName("")
	writeFile(t, storage("Profile 1", "000005.ldb"), "\x00\tbrowserId\"\""+testBrowser+"\"\xff")
	findName("Chrome on laptop")
	writeFile(t, filepath.Join(chrome, "Local State"), `{"profile":{"info_cache":{"Profile 1":{"name":"Work"}}}}`)
	findName("Chrome on laptop")
	writeFile(t, filepath.Join(chrome, "Local State"), `{"profile":{"info_cache":{"Default":{"name":"Private"},"Profile 1":{"name":" Work\n\u202e "}}}}`)
	findName("Chrome (Work) on laptop")
	m.HostName = ""
	findName("Chrome (Work) on Linux")
	if got := m.DefaultName(testExtension, "b", "Chrome"); got != "" {
		t.Errorf("name of a browser with a short ID = %q, want no name", got)
	}
}

func TestDataDirsOfBrowsers(t *testing.T) {
	for goos, want := range map[string]string{
		"linux": "/h/.config/chromium", "darwin": "/h/Library/Application Support/Google/Chrome", "windows": "/l/Google/Chrome/User Data",
	} {
		m := Machine{OS: goos, Home: "/h", Getenv: func(name string) string {
			if name == "LOCALAPPDATA" {
				return "/l"
			}
			return ""
		}}
		if dirs := strings.Join(m.dataDirs(), "\n"); !strings.Contains(filepath.ToSlash(dirs), want) {
			t.Errorf("folders of browser profiles on %s = %s, want %s", goos, dirs, want)
		}
	}
	if dirs := (Machine{OS: "linux"}).dataDirs(); dirs != nil {
		t.Errorf("folders of browser profiles without a home directory = %q, want no folders", dirs)
	}
}
