package daemon

import (
	"context"
	"errors"
	"time"
)

// Loading plugins usually takes about 50 ms, because an index replaces reading the adapters, so loadTimeout is rarely
// reached.
const loadTimeout = 10 * time.Second

var errStillLoading = errors.New("opentabs has just started and is still loading its plugins; try again in a few seconds")

// pluginLoadState is the first load of the plugins, during which the daemon already serves
// requests.
type pluginLoadState struct {
	done chan struct{} // the channel done is closed when loading has ended, even if a plugin could not be loaded
}

func newLoading() *pluginLoadState { return &pluginLoadState{done: make(chan struct{})} }

func (l *pluginLoadState) waitUntilLoaded(ctx context.Context) error {
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
		return errStillLoading
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *Daemon) load() {
	startTime := time.Now()
	if err := d.discoverGlobalPlugins(); err != nil {
		d.log.Warn().Err(err).Msg("plugins that are installed globally with npm are not listed")
	}
	if err := d.Registry.Reload(); err != nil {
		// If the list of plugins cannot be read, the daemon continues without plugins,
		// and GET /status also reports the error.
		d.log.Error().Err(err).Msg("there are no plugins until their list can be read")
	}
	d.Hub.Sync()
	close(d.pluginLoading.done)
	pluginSet := d.Registry.Set()
	d.log.Debug().Int("plugins", len(pluginSet.Plugins())).Int("tools", len(pluginSet.Tools())).Dur("took", time.Since(startTime)).Msg("plugins loaded")
	// The adapter files are written last, because few browsers use them and writing is
	// slow after an update of opentabs.
	d.browser.run()
}

// WaitUntilLoaded blocks until the plugins are loaded. WaitUntilLoaded returns an error after 10 s or when
// ctx ends.
func (d *Daemon) WaitUntilLoaded(ctx context.Context) error {
	return d.pluginLoading.waitUntilLoaded(ctx)
}
