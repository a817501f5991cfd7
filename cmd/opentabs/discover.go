package main

import (
	"context"
	"os"
	"time"

	"opentabs/internal/config"
	"opentabs/internal/npm"
	"opentabs/plugin"
)

// npmConfig reads npm's settings as they are for this process.
func npmConfig(getenv func(string) string) (*npm.Config, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then there is no .npmrc of the person
	}
	return npm.LoadConfig(npm.Environment{Getenv: getenv, Environ: os.Environ, Home: home, Dir: "."})
}

// discover has a registry list the plugins that npm has installed for the whole
// machine too, unless the person does not want that. What is wrong with npm's
// settings hinders no other plugin.
func discover(registry *plugin.Registry, s config.Settings, getenv func(string) string) error {
	if !s.DiscoverGlobal {
		return nil
	}
	settings, err := npmConfig(getenv)
	if err != nil {
		return err
	}
	registry.DiscoverIn(settings.GlobalFolders())
	return nil
}

// watchPlugins takes over what changes on disk until ctx ends.
func (v *server) watchPlugins(ctx context.Context) {
	watch := v.registry.Watch()
	tick := time.NewTicker(plugin.WatchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !watch.Changed() {
			continue
		}
		if err := v.reload(); err != nil {
			v.log.Error().Err(err).Msg("the plugins have changed, but their list can't be read; what was there stays")
		}
	}
}
