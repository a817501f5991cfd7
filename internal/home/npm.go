package home

import (
	"os"

	"opentabs/internal/npm"
	"opentabs/plugin"
)

// NPMConfig reads npm's settings. The parameter projectDir is the project directory whose
// .npmrc is read; empty for no project.
func NPMConfig(getenv func(string) string, projectDir string) (*npm.Config, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // without a home directory the user has no .npmrc
	}
	return npm.LoadConfig(npm.Environment{Getenv: getenv, Environ: os.Environ, Home: home, Dir: projectDir})
}

// DiscoverGlobal adds the plugins that are installed globally with npm to registry, if
// the setting discoverGlobal is on. After an error of DiscoverGlobal, the plugins that
// the user added still load.
func (h *Home) DiscoverGlobal(registry *plugin.Registry) error {
	if !h.Settings.DiscoverGlobal {
		return nil
	}
	settings, err := NPMConfig(h.Getenv, ".")
	if err != nil {
		return err
	}
	registry.DiscoverIn(settings.GlobalFolders())
	return nil
}
