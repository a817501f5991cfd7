package config

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// Load must accept only settings within their limits, and each error must be one line with the file name.
func FuzzConfigFile(f *testing.F) {
	for _, fileContent := range []string{
		"", "\ufeff{}", `{"port": 1111, "idleTimeout": "11s", "hardTimeout": "11m", "maxRunning": 3, "logLevel": "debug"}`,
		`{"prot": 1}`, `{"port": "1"}`, `{"port":1,"port":2}`, `[]`, `{"port": 1`, `{"progressInterval": "0s", "maxResultBytes": 1e4}`, "null",
		`{"detach": "never, a=auto, b=1s"}`,
		`{"elicitation": "off"}`,
	} {
		f.Add([]byte(fileContent))
	}
	dir := f.TempDir()
	d := Dirs{Config: dir, State: dir}
	f.Fuzz(func(t *testing.T, fileContent []byte) {
		if err := os.WriteFile(d.ConfigFile(), fileContent, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Load(d, emptyEnv, nil)
		if err != nil {
			errorMessage := err.Error()
			if s != (Settings{}) || !strings.HasPrefix(errorMessage, d.ConfigFile()) || strings.Contains(errorMessage, "\n") || !utf8.ValidString(errorMessage) {
				t.Fatalf("Load of the file %q: settings %+v, error %q; want no settings and one line with the file name", fileContent, s, errorMessage)
			}
			return
		}
		flags := map[string]string{}
		for _, settingRow := range settingsTable {
			flags[settingRow.flag] = settingRow.get(s)
		}
		// Load checks the limits of each setting that is given as a flag.
		if reloadedSettings, err := Load(Dirs{}, emptyEnv, flags); err != nil || reloadedSettings != s {
			t.Fatalf("Load of the file %q: settings %+v; Load rejected these settings as flags: %v", fileContent, s, err)
		}
	})
}

// FuzzState reads arbitrary text as server.json and as the token file.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"pid":1,"port":9527,"version":"0.1.0","started":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(strings.Repeat("A", 43) + "\n"))
	f.Add([]byte(""))
	f.Add([]byte(`{"pid":-1,"port":99999999}`))
	dir := f.TempDir()
	d := Dirs{Config: dir, State: dir}
	f.Fuzz(func(t *testing.T, fileContent []byte) {
		for _, file := range []string{d.serverFile(), d.TokenFile()} {
			if err := os.WriteFile(file, fileContent, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if s, ok := d.ReadServer(); ok && (s.PID <= 0 || s.Port <= 0 || s.Port > 65535) {
			t.Fatalf("ReadServer accepted %q as the server %+v; want a positive PID and a valid port", fileContent, s)
		}
		token, err := d.Token()
		switch {
		case err == nil && (len(token) < 43 || strings.ContainsAny(token, " \t\r\n,;\"\\")):
			t.Fatalf("Token read %q as the token %q; want at least 43 characters without separators", fileContent, token)
		case err != nil && (token != "" || !strings.Contains(err.Error(), d.TokenFile())):
			t.Fatalf("Token of the file %q = %q, error %v; want no token, and the file name in the error", fileContent, token, err)
		}
	})
}
