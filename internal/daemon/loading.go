package daemon

import (
	"context"
	"errors"
	"time"
)

// loadTimeout is how long a request waits for the plugins of a daemon that has just
// started. With an index of the plugins, loading takes about 50 ms.
const loadTimeout = 10 * time.Second

// errLoading is the error, for agents and users, while the plugins are still loading.
var errLoading = errors.New("opentabs has just started and is still loading its plugins; try again in a few seconds")

// pluginLoading is the first load of the plugins, which runs while the daemon already
// answers.
type pluginLoading struct {
	done chan struct{} // closed when the plugins are loaded, as far as possible
}

func newLoading() *pluginLoading { return &pluginLoading{done: make(chan struct{})} }

// waitUntilLoaded returns when the plugins are loaded, or an error after loadTimeout or the
// end of ctx.
func (l *pluginLoading) waitUntilLoaded(ctx context.Context) error {
	select {
	case <-l.done:
		return nil
	default:
	}
	timeout := time.NewTimer(loadTimeout)
	defer timeout.Stop()
	select {
	case <-l.done:
		return nil
	case <-timeout.C:
		return errLoading
	case <-ctx.Done():
		return ctx.Err()
	}
}

// load loads the plugins for the first time.
func (d *Daemon) load() {
	startTime := time.Now()
	if err := d.Registry.Reload(); err != nil {
		// GET /status also shows the error from loading the plugins. The daemon works
		// without plugins.
		d.log.Error().Err(err).Msg("there are no plugins until their list can be read")
	}
	d.Hub.Sync()
	close(d.loading.done)
	set := d.Registry.Set()
	d.log.Debug().Int("plugins", len(set.Plugins())).Int("tools", len(set.Tools())).Dur("took", time.Since(startTime)).Msg("plugins loaded")
	// The adapter files are written last, because writing takes a while after an update
	// and few browsers use the files.
	d.browser.run()
}

// Ready returns when the plugins are loaded.
func (d *Daemon) Ready(ctx context.Context) error { return d.loading.waitUntilLoaded(ctx) }
