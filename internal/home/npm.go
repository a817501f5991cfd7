package home

import (
	"os"

	"opentabs/internal/npm"
	"opentabs/plugin"
)

// ReadNPMConfig reads npm's settings. The argument projectDir is the project directory whose
// .npmrc is read, or empty for no project.
func ReadNPMConfig(getenv func(string) string, projectDir string) (*npm.Config, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // without a home directory, the user has no .npmrc
	}
	return npm.LoadConfig(npm.Environment{Getenv: getenv, Environ: os.Environ, Home: home, Dir: projectDir})
}

// DiscoverGlobal adds plugins that npm has installed globally to registry, if the setting
// discoverGlobal is on. If DiscoverGlobal fails, registry still has the plugins that the
// user has installed.
func (h *Home) DiscoverGlobal(registry *plugin.Registry) error {
	if !h.Settings.DiscoverGlobal {
		return nil
	}
	settings, err := ReadNPMConfig(h.Getenv, ".")
	if err != nil {
		return err
	}
	registry.SetDiscoveryFolders(settings.GlobalFolders())
	return nil
}
