package daemon

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
)

func TestSettingsApplyToCalls(t *testing.T) {
	for _, tt := range []struct{ settingInterval, interval time.Duration }{
		{50 * time.Millisecond, 50 * time.Millisecond},
		{0, -1}, // the interval 0 means no limit
	} {
		registry := newTestCatalog(plugin.NewStore(t.TempDir(), plugin.StoreOptions{}))
		o := dispatchOptions(config.Settings{
			IdleTimeout: 1, MaxIdleTimeout: 7, HardTimeout: 2, DecisionTimeout: 3, ProgressInterval: tt.settingInterval,
			MaxRunning: 4, MaxWaiting: 5, MaxResultBytes: 6,
		}, &plugins{registry: registry, enforcer: policy.NewEnforcer(nil)}, nil, callAuditor{}, zerolog.Nop())
		if o.ProgressInterval != tt.interval {
			t.Errorf("progress interval for the setting %v = %v, want %v", tt.settingInterval, o.ProgressInterval, tt.interval)
		}
		if o.IdleLimit != 1 || o.MaxIdleLimit != 7 || o.HardLimit != 2 || o.SuspendLimit != 3 || o.MaxRunningCalls != 4 || o.MaxWaitingCalls != 5 || o.MaxResultBytes != 6 {
			t.Errorf("dispatch options = %+v; want the limits of the settings", o)
		}
	}
}

func TestLoadFindsGlobalPlugins(t *testing.T) {
	dir, prefix := t.TempDir(), t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("npm_config_prefix", prefix)
	folder := filepath.Join(prefix, "lib", "node_modules", "opentabs-plugin-wiki")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	plugintest.Package{Name: "wiki"}.WriteTo(t, folder)
	d := newDaemon(home.New(config.Dirs{Config: dir, State: dir}, config.Defaults(), os.Getenv, nil), "T", "127.0.0.1:80", zerolog.Nop())
	if _, isLoaded := d.Registry.Set().Plugin("wiki"); isLoaded {
		t.Error("the daemon loaded plugins before it served requests; want no plugins yet")
	}
	d.load()
	if _, isLoaded := d.Registry.Set().Plugin("wiki"); !isLoaded {
		t.Error("the daemon did not load the plugin that npm has installed globally; want the plugin wiki")
	}
	d.Hub.Close()
}
