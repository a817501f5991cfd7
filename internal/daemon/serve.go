package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/internal/memory"
)

// The whole shutdown takes less than 3 s.
const (
	callsTimeout   = time.Second
	streamsTimeout = 500 * time.Millisecond
)

// Serve runs the daemon on listener until ctx ends or a client of the HTTP API requests a
// shutdown, and then shuts the daemon down.
func (d *Daemon) Serve(ctx context.Context, listener net.Listener) error {
	serveCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	server := httpapi.NewServer(d.api, d.log.With().Str("part", "http").Logger())
	server.BaseContext = func(net.Listener) context.Context { return serveCtx }
	serveErr := make(chan error, 1)
	go func() { serveErr <- server.Serve(listener) }()
	// The daemon can shut down while load is running, because load replaces each file
	// atomically.
	go d.load()
	go d.Policy.Watch(serveCtx)
	go d.browser.watch(serveCtx)
	var logForwarding sync.WaitGroup
	logForwarding.Go(func() { forwardLogs(d.Logs, d.mcp, d.audit) })
	go d.SettingValues.Watch(serveCtx)
	go d.toolPins.Watch(serveCtx)
	go d.clients.Watch(serveCtx)
	go d.timeouts.Watch(serveCtx)
	go memory.LimitFreeMemory(serveCtx)
	var err error
	select {
	case <-ctx.Done():
		d.log.Info().Msg("shutting down")
	case <-d.stopRequested:
		d.log.Info().Msg("shutting down, as a command requested")
	case err = <-serveErr:
	}
	d.shutdown(ctx, server, stop)
	d.Logs.Close()
	logForwarding.Wait()
	d.recorder.Close() // Close writes the calls that an earlier server process did not end to the audit log
	d.audit.Close()
	if d.observers.traces != nil {
		flushCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), streamsTimeout)
		d.observers.traces.Flush(flushCtx)
		cancel()
	}
	d.clients.Close()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// The method shutdown ends the calls first, so that clients receive the errors of calls before their
// connections close.
func (d *Daemon) shutdown(ctx context.Context, server *http.Server, stop context.CancelFunc) {
	ctx = context.WithoutCancel(ctx)
	shutDownWithTimeout := func(timeout time.Duration, textPart string, shutDown func(context.Context) error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		if err := shutDown(ctx); err != nil {
			d.log.Warn().Err(err).Str("part", textPart).Msg("did not end in time")
		}
	}
	d.Calls.Shutdown()
	shutDownWithTimeout(callsTimeout, "agents", d.mcp.Shutdown)
	shutDownWithTimeout(streamsTimeout, "streams", d.api.Shutdown)
	shutDownWithTimeout(streamsTimeout, "requests", server.Shutdown)
	stop()
	if err := server.Close(); err != nil {
		d.log.Warn().Err(err).Msg("close the connections")
	}
	d.panelPlugins.Close()
	d.Hub.Close()
	shutDownWithTimeout(callsTimeout, "calls", d.Calls.WaitForHooks) // WaitForHooks waits for jobs, which run without a request
}
