package main

import (
	"context"
	"errors"
	"time"
)

// pluginsPatience is how long a request waits for the plugins of a server that has
// just started. With an index they are there in some 50 ms.
const pluginsPatience = 10 * time.Second

// errLoading is for agents and users.
var errLoading = errors.New("opentabs has just started and still loads its plugins; try again in a few seconds")

// load loads the plugins for the first time, while the server already answers.
func (v *server) load() {
	began := time.Now()
	if err := v.registry.Reload(); err != nil {
		// The status shows it too. What else there is can be used.
		v.log.Error().Err(err).Msg("there are no plugins until their list can be read")
	}
	v.hub.Sync()
	close(v.loaded)
	set := v.registry.Set()
	v.log.Debug().Int("plugins", len(set.Plugins())).Int("tools", len(set.Tools())).Dur("took", time.Since(began)).Msg("plugins loaded")
	// The files take a while after an update, and most browsers do not need them.
	v.syncBrowsers()
}

// ready returns when the plugins are loaded; an error means that this takes too
// long, or that ctx has ended.
func (v *server) ready(ctx context.Context) error {
	select {
	case <-v.loaded:
		return nil
	default:
	}
	patience := time.NewTimer(pluginsPatience)
	defer patience.Stop()
	select {
	case <-v.loaded:
		return nil
	case <-patience.C:
		return errLoading
	case <-ctx.Done():
		return ctx.Err()
	}
}
