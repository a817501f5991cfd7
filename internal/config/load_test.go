package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func emptyEnv(string) string { return "" }

func makeHome(t *testing.T, config string) Dirs {
	t.Helper()
	dir := t.TempDir()
	d := Dirs{Config: dir, State: dir}
	if config != "" {
		if err := os.WriteFile(d.ConfigFile(), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestLoadPrecedence(t *testing.T) {
	d := makeHome(t, `{"port": 1111, "idleTimeout": "11s", "hardTimeout": "11m"}`)
	env := func(name string) string {
		return map[string]string{"OPENTABS_IDLE_TIMEOUT": "22s", "OPENTABS_HARD_TIMEOUT": "22m"}[name]
	}
	got, err := Load(d, env, map[string]string{"hard-timeout": "33m"})
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Port, want.IdleTimeout, want.MaxIdleTimeout, want.HardTimeout = 1111, 22*time.Second, 22*time.Second, 33*time.Minute
	if got != want {
		t.Errorf("Load returned the settings\ngot  %+v\nwant %+v", got, want)
	}
}

func TestLoadWithoutFile(t *testing.T) {
	for _, file := range []string{"", " \n", "\ufeff{}", "{}"} {
		if got, err := Load(makeHome(t, file), emptyEnv, nil); err != nil || got != Defaults() {
			t.Errorf("Load of the config.json %q = %+v, error %v; want the defaults", file, got, err)
		}
	}
	d := Defaults()
	if d.IdleTimeout != 30*time.Second || d.HardTimeout != 5*time.Minute || d.DecisionTimeout != 5*time.Minute || d.ProgressInterval != 100*time.Millisecond || d.Port != 9527 {
		t.Errorf("default settings = %+v; want timeouts of 30 s and 5 min, an interval of 100 ms, and port 9527", d)
	}
}

func TestLoadEverySetting(t *testing.T) {
	got, err := Load(makeHome(t, `{"port":0,"idleTimeout":"1s","maxIdleTimeout":"4s","hardTimeout":"2s","decisionTimeout":"3s","progressInterval":"0s",
		"maxResultBytes":2048,"maxRunning":1,"maxWaiting":7,"detach":"auto","tools":"all","outputSchemas":"off","elicitation":"on","recordDays":7,"recordBytes":1048576,"recordArguments":"off","recordResults":"on","discoverGlobal":"on","storeExtensions":"none","logLevel":"debug"}`), emptyEnv, nil)
	want := Settings{Port: 0, IdleTimeout: time.Second, MaxIdleTimeout: 4 * time.Second, HardTimeout: 2 * time.Second, DecisionTimeout: 3 * time.Second, MaxResultBytes: 2048, MaxRunning: 1, MaxWaiting: 7, Detach: "auto", Tools: "all", OutputSchemas: "off", Elicitation: true, UploadFolders: "none", BrowserActionsPerMinute: 60, BrowserScreenshotsPerMinute: 10, RecordDays: 7, RecordBytes: 1 << 20, RecordResults: true, DiscoverGlobal: true, StoreExtensions: "none", LogLevel: "debug"}
	if err != nil || got != want {
		t.Errorf("Load returned the settings %+v, error %v; want %v", got, err, want)
	}
}

// TestMaxIdleTimeout checks that the user's idle limit is also the maximum for tools, but
// the default idle limit is not.
func TestMaxIdleTimeout(t *testing.T) {
	for _, c := range []struct {
		file             string
		idleTimeout, max time.Duration
		problemText      string
	}{
		{`{}`, 30 * time.Second, 5 * time.Minute, ""},
		{`{"idleTimeout": "30s"}`, 30 * time.Second, 30 * time.Second, ""},
		{`{"idleTimeout": "10m"}`, 10 * time.Minute, 10 * time.Minute, ""},
		{`{"maxIdleTimeout": "1m"}`, 30 * time.Second, time.Minute, ""},
		{`{"idleTimeout": "10s", "maxIdleTimeout": "1m"}`, 10 * time.Second, time.Minute, ""},
		{`{"maxIdleTimeout": "20s"}`, 0, 0, "maxIdleTimeout is 20s, less than idleTimeout, which is 30s: raise the one or lower the other"},
	} {
		got, err := Load(makeHome(t, c.file), emptyEnv, nil)
		switch {
		case c.problemText != "" && (err == nil || err.Error() != c.problemText):
			t.Errorf("Load of %s returned the error %v, want %s", c.file, err, c.problemText)
		case c.problemText == "" && (err != nil || got.IdleTimeout != c.idleTimeout || got.MaxIdleTimeout != c.max):
			t.Errorf("Load of %s: idle limit %v, maximum %v, error %v; want %v and %v", c.file, got.IdleTimeout, got.MaxIdleTimeout, err, c.idleTimeout, c.max)
		}
	}
}

func TestLoadRejectsInvalidFile(t *testing.T) {
	const durationSetting = `a time with its unit, such as "30s", "500ms" or "5m", from 10ms to 24h`
	for _, c := range []struct{ file, want string }{
		{`{"prot": 1}`, `there is no setting "prot" (did you mean port?): use one of port, idleTimeout, maxIdleTimeout, hardTimeout, decisionTimeout, progressInterval, maxResultBytes, maxRunning, maxWaiting, detach, tools, outputSchemas, elicitation, uploadFolders, browserActs, browserPictures, recordDays, recordBytes, recordArguments, recordResults, discoverGlobal, storeExtensions, logLevel`},
		{`{"idletimeout": "1s"}`, `there is no setting "idletimeout" (did you mean idleTimeout?)`},
		{`{"colour": true}`, `there is no setting "colour": use one of`},
		{`{"port": "9527"}`, `"port" is "9527": set it to a whole number from 0 to 65535`},
		{`{"port": 65536}`, `"port" is 65536: set it to a whole number from 0 to 65535`},
		{`{"port": -1}`, `"port" is -1: set it`},
		{`{"port": 1.5}`, `"port" is 1.5: set it`},
		{`{"port": null}`, `"port" is null: set it`},
		{`{"idleTimeout": 30}`, `"idleTimeout" is 30: set it to ` + durationSetting},
		{`{"idleTimeout": "30"}`, `"idleTimeout" is "30": set it to ` + durationSetting},
		{`{"idleTimeout": "-1s"}`, `"idleTimeout" is "-1s": set it to`},
		{`{"hardTimeout": null}`, `"hardTimeout" is null: set it to`},
		{`{"logLevel": "loud"}`, `"logLevel" is "loud": set it to one of trace, debug, info, warn, error`},
		{`{"maxRunning": 0, "x": 1}`, `"maxRunning" is 0: set it to a whole number from 1 to 100000; there is no setting "x"`},
		{`[]`, `config.json is not a JSON object: correct the file or delete it`},
		{`null`, ``},
		{"{\n  \"port\": 1,\n}", `config.json:3:1: invalid character '}' looking for beginning of object key string: correct the file or delete it`},
		{`{"port": 1`, `config.json:1:10: unexpected end of JSON input`},
	} {
		_, err := Load(makeHome(t, c.file), emptyEnv, nil)
		if c.want == "" {
			if err != nil {
				t.Errorf("Load of %s returned the error %v; want none", c.file, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error of Load for %s:\ngot  %v\nwant %s", c.file, err, c.want)
		}
	}
}

func TestLoadRejectsInvalidEnvAndFlags(t *testing.T) {
	env := func(name string) string { return map[string]string{"OPENTABS_PORT": "http"}[name] }
	_, err := Load(makeHome(t, ""), env, nil)
	if want := `the environment variable OPENTABS_PORT is "http": set it to a whole number from 0 to 65535`; err == nil || err.Error() != want {
		t.Errorf("error for the environment variable OPENTABS_PORT = %v, want %s", err, want)
	}
	_, err = Load(makeHome(t, ""), emptyEnv, map[string]string{"idle-timeout": "soon"})
	if err == nil || !strings.HasPrefix(err.Error(), `--idle-timeout is "soon": give it a time with its unit`) {
		t.Errorf("error for the flag --idle-timeout = %v; want an error that begins with %q", err, `--idle-timeout is "soon": give it a time with its unit`)
	}
}

func TestEverySettingHasFlag(t *testing.T) {
	flags := Flags()
	if len(flags) != len(settingsTable) {
		t.Fatalf("Flags returned %d flags; want one for each of the %d settings", len(flags), len(settingsTable))
	}
	for _, f := range flags {
		if f.Description == "" || f.Default == "" || f.Env == "" {
			t.Errorf("flag %+v; want a description, a default and an environment variable", f)
		}
		if _, err := Load(makeHome(t, ""), emptyEnv, map[string]string{f.Name: f.Default}); err != nil {
			t.Errorf("Load rejects the default value of --%s: %v", f.Name, err)
		}
	}
}

func TestLoadUnreadableFile(t *testing.T) {
	d := makeHome(t, "")
	if err := os.Mkdir(filepath.Join(d.Config, "config.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(d, emptyEnv, nil); err == nil {
		t.Error("Load accepted a directory named config.json; want an error")
	}
}
