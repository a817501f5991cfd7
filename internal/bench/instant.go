package main

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/internal/clienttoken"
	"opentabs/internal/httpapi"
	"opentabs/mcpserver"
	"opentabs/plugin"
	"opentabs/wire"
)

// instantBridge is a bridge whose pages return their arguments at once, to measure
// the server alone.
type instantBridge struct{}

var _ dispatch.Bridge = instantBridge{}

// Targets returns one live document of a fictitious browser.
func (instantBridge) Targets(context.Context, dispatch.TargetChoice) dispatch.Targets {
	return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{{Browser: "b", TabID: 1, DocumentID: "d"}}}
}

// Start ends the run at once, with the arguments of the call as its result.
func (instantBridge) Start(_ context.Context, run dispatch.Run, sink dispatch.Sink) *wire.CallError {
	sink.Finish(run.Args, nil)
	return nil
}

// Answer implements dispatch.Bridge. Answer does nothing, because no tool of the
// benchmark makes requests.
func (instantBridge) Answer(string, int, json.RawMessage, *wire.CallError) {}

// Resync implements dispatch.Bridge.
func (instantBridge) Resync(string, string) {}

// Cancel implements dispatch.Bridge. Cancel reports each call as finished, because
// calls end at once.
func (instantBridge) Cancel(_, _ string, answered func(wire.CancelOutcome)) {
	answered(wire.CancelFinished)
}

// newInstantServer returns the routes of opentabs serve, including the guard, with an
// instantBridge and the plugins and clients of stateDir.
func newInstantServer(stateDir, token string) (http.Handler, error) {
	log := zerolog.Nop()
	registry := plugin.NewRegistry(plugin.NewStore(stateDir, plugin.StoreOptions{}), log)
	if err := registry.Reload(); err != nil {
		return nil, err
	}
	d := dispatch.New(instantBridge{}, dispatch.Options{})
	return httpapi.New(httpapi.Options{
		Token: token, Clients: clienttoken.Open(filepath.Join(stateDir, "clients.json")), Calls: d, Health: httpapi.Health{OK: true},
		MCP:      mcpserver.New(d, registry, mcpserver.Options{}).Handler(),
		Browsers: http.NotFoundHandler(),
		Status:   func() httpapi.Status { return httpapi.Status{} },
		Reload:   registry.Reload,
		Stdio:    nil,
	}), nil
}
