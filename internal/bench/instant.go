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

// instantBridge simulates a browser whose tools return their arguments at once, so that
// benchmarks measure only the server.
type instantBridge struct{}

var _ dispatch.Bridge = instantBridge{}

func (instantBridge) Targets(context.Context, dispatch.TargetChoice) dispatch.Targets {
	return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{{Browser: "b", TabID: 1, DocumentID: "d"}}}
}

func (instantBridge) Start(_ context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
	sink.Finish(toolRun.Args, nil)
	return nil
}

func (instantBridge) Answer(string, int, json.RawMessage, *wire.CallError) {}

func (instantBridge) RequestActivityResync(string, string) {}

func (instantBridge) Cancel(_, _ string, onOutcome func(wire.CancelOutcome)) {
	onOutcome(wire.CancelFinished)
}

func newNoBrowserServer(stateDir, token string) (http.Handler, error) {
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
