package panelplugins

import (
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/npm/npmtest"
	"opentabs/internal/permissions"
	"opentabs/plugin/catalog"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

type fixture struct {
	*Plugins
	t           *testing.T
	registry    *npmtest.Registry
	reloadCount int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, registry: &npmtest.Registry{}}
	server := httptest.NewServer(f.registry)
	t.Cleanup(server.Close)
	t.Setenv("npm_config_registry", server.URL)
	userFolder := t.TempDir()
	t.Setenv("HOME", userFolder)
	t.Setenv("USERPROFILE", userFolder)
	h := home.New(config.Dirs{State: t.TempDir()}, config.Settings{}, os.Getenv, func(warning string) { t.Log(warning) })
	plugins := catalog.New(h.PluginStore(), settings.New(h.State, settings.Options{}), zerolog.Nop())
	localPermissions := permissions.NewLocalPolicy(policy.New(h.State, plugins.Set, policy.Options{}), plugins)
	f.Plugins = New(h, localPermissions, os.Getenv, func() error {
		f.reloadCount++
		return plugins.Reload()
	})
	t.Cleanup(f.Close)
	if err := plugins.Reload(); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) publishWiki(version string) {
	f.t.Helper()
	dir := plugintest.Package{Name: "wiki"}.Write(f.t)
	setVersion(f.t, dir, version)
	file, err := npmtest.PackFolder(dir)
	if err != nil {
		f.t.Fatal(err)
	}
	f.registry.Publish(npmtest.Version{Name: "opentabs-plugin-wiki", Version: version, File: file})
}

func setVersion(t *testing.T, dir, version string) {
	t.Helper()
	path := filepath.Join(dir, "package.json")
	fileContent, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(fileContent), "1.0.0", version, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) pluginNames() string {
	var names []string
	views, _ := f.LocalPolicy.Plugins()
	for _, p := range views {
		names = append(names, p.Name+" "+p.Version)
	}
	return strings.Join(names, ", ")
}

func TestInstallUpdateRemove(t *testing.T) {
	f := newFixture(t)
	f.publishWiki("1.0.0")
	installResult, err := f.InstallPlugin(" wiki@^1 ")
	if err != nil || installResult.Plugin != "wiki" || installResult.Version != "1.0.0" || installResult.PreviousVersion != "" || !strings.Contains(installResult.Registry, "http://127.0.0.1") {
		t.Fatalf("InstallPlugin returned %+v, error %v; want version 1.0.0 of wiki from the test registry", installResult, err)
	}
	if got := f.pluginNames(); got != "wiki 1.0.0" {
		t.Errorf("loaded plugins = %s, want wiki 1.0.0", got)
	}
	if state := f.State("wiki"); state.Reviewed || state.EffectivePermission != wire.PermissionOff {
		t.Errorf("permissions of an unreviewed plugin = %+v, want off without a review", state)
	}
	if updateResult, err := f.UpdatePlugin("wiki"); err != nil || updateResult.Version != "1.0.0" || updateResult.PreviousVersion != "" || updateResult.LatestVersion != "" {
		t.Errorf("UpdatePlugin of a current plugin returned %+v, error %v; want version 1.0.0 unchanged", updateResult, err)
	}
	f.publishWiki("1.1.0")
	f.publishWiki("2.0.0")
	if updateResult, err := f.UpdatePlugin("wiki"); err != nil || updateResult.Version != "1.1.0" || updateResult.PreviousVersion != "1.0.0" {
		t.Errorf("UpdatePlugin returned %+v, error %v; want an update from 1.0.0 to 1.1.0", updateResult, err)
	}
	if updateResult, err := f.UpdatePlugin("wiki"); err != nil || updateResult.Version != "1.1.0" || updateResult.LatestVersion != "2.0.0" {
		t.Errorf("UpdatePlugin to a version outside of the range returned %+v, error %v; want 1.1.0, with 2.0.0 as the latest version", updateResult, err)
	}
	folders, err := os.ReadDir(filepath.Join(f.home.State, "packages", "opentabs-plugin-wiki"))
	if err != nil || len(folders) != 1 {
		t.Errorf("the installation has %d package folders, %v; want only the folder of version 1.1.0", len(folders), err)
	}
	view, _ := f.LocalPolicy.Plugins()
	if err := errors.Join(f.ReviewAll([]wire.ConfigReviewParams{{Plugin: "wiki", Hash: view[0].Hash, Permission: wire.PermissionAuto}}, "me")...); err != nil {
		t.Fatal(err)
	}
	if err := f.RemovePlugin("wiki", "me"); err != nil || f.pluginNames() != "" {
		t.Errorf("RemovePlugin returned %v, loaded plugins = %s; want no error and no plugins", err, f.pluginNames())
	}
	if state := f.State("wiki"); state.Review != nil || state.Permission != "" {
		t.Errorf("permissions of a removed plugin = %+v, want none", state)
	}
	if f.reloadCount != 3 {
		t.Errorf("the plugins were reloaded %d times, want one reload for each change", f.reloadCount)
	}
}

func TestInstallFolder(t *testing.T) {
	f := newFixture(t)
	if installResult, err := f.InstallPlugin(plugintest.Package{Name: "mail"}.Write(t)); err != nil || installResult.Plugin != "mail" || installResult.Registry != "" {
		t.Errorf("InstallPlugin of a folder returned %+v, error %v; want the plugin mail without a registry", installResult, err)
	}
	userFolder, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	plugintest.Package{Name: "chat"}.WriteTo(t, filepath.Join(userFolder, "chat"))
	if installResult, err := f.InstallPlugin("~" + string(filepath.Separator) + "chat"); err != nil || installResult.Plugin != "chat" {
		t.Errorf("InstallPlugin of a folder in the home directory returned %+v, error %v; want the plugin chat", installResult, err)
	}
	if got := f.pluginNames(); got != "chat 1.0.0, mail 1.0.0" {
		t.Errorf("loaded plugins = %s, want chat 1.0.0 and mail 1.0.0", got)
	}
}

func TestInstallRejectsInvalidSources(t *testing.T) {
	f := newFixture(t)
	f.publishWiki("1.0.0")
	source := t.TempDir()
	if err := os.WriteFile(filepath.Join(source, "package.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for sourceText, want := range map[string]string{
		"":                               "the name of the package is missing",
		"./wiki":                         "is a relative path: enter the absolute path",
		"wiki.tgz":                       "is a relative path: enter the absolute path",
		"https://example.com/wiki.tgz":   "is a URL, whose content cannot be verified",
		"none":                           `there is no plugin "none"`,
		source:                           "build it first with `opentabs plugin build",
		filepath.Join(source, "x.tgz"):   "x.tgz",
		"wiki@^9":                        "wiki",
		filepath.Join(source, "nothing"): "nothing",
	} {
		if installResult, err := f.InstallPlugin(sourceText); err == nil || !strings.Contains(err.Error(), want) || installResult.Plugin != "" {
			t.Errorf("InstallPlugin of %q returned %+v, error %v; want the error %q", sourceText, installResult, err, want)
		}
	}
	for _, err := range []error{f.RemovePlugin("none", "me"), discardResult(f.UpdatePlugin("none"))} {
		if err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("RemovePlugin or UpdatePlugin of an unknown plugin returned %v, want an error with its name", err)
		}
	}
	if f.reloadCount != 0 || f.pluginNames() != "" {
		t.Errorf("the plugins were reloaded %d times, loaded plugins = %s; want no change", f.reloadCount, f.pluginNames())
	}
}

func discardResult(_ wire.PluginUpdateResult, err error) error { return err }

func TestInstallIgnoresProject(t *testing.T) {
	f := newFixture(t)
	f.publishWiki("1.0.0")
	projectDir := t.TempDir()
	for name, fileContent := range map[string]string{"package.json": "{}", ".npmrc": "registry=http://127.0.0.1:1/\n"} {
		if err := os.WriteFile(filepath.Join(projectDir, name), []byte(fileContent), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	registry := os.Getenv("npm_config_registry")
	t.Setenv("npm_config_registry", "")
	if err := os.Unsetenv("npm_config_registry"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), ".npmrc"), []byte("registry="+registry+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(projectDir)
	if installResult, err := f.InstallPlugin("wiki"); err != nil || installResult.Plugin != "wiki" {
		t.Errorf("InstallPlugin in a project with another registry returned %+v, error %v; want the plugin wiki", installResult, err)
	}
}

func TestCloseDuringInstall(t *testing.T) {
	f := newFixture(t)
	f.publishWiki("1.0.0")
	f.Close()
	if _, err := f.InstallPlugin("wiki"); err == nil {
		t.Error("InstallPlugin after Close returned no error, want an error")
	}
}
