package wsbridgetest

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"opentabs/dispatch"
	"opentabs/wire"
	"opentabs/wsbridge"
)

type onePluginAdapters struct{}

func (onePluginAdapters) List() []wire.PluginInfo {
	return []wire.PluginInfo{{Name: "messages", Hash: "h1", World: wire.WorldMain, Matches: []string{"*://localhost/*"}}}
}

func (onePluginAdapters) Hashes() map[string]string { return map[string]string{"messages": "h1"} }

func TestBrowser(t *testing.T) {
	hub := wsbridge.New(wsbridge.Options{Key: "key", Origins: []string{"chrome-extension://x"}, Adapters: onePluginAdapters{}})
	server := httptest.NewServer(hub.Handler())
	defer server.Close()
	defer hub.Close()
	stateNames, stopped := make(chan string, 10), make(chan struct{}, 1)
	b, err := Connect(t.Context(), Options{
		URL: strings.Replace(server.URL, "http", "ws", 1), Key: "key", Origin: "chrome-extension://x",
		Tools: map[string]Tool{
			"messages__echo": func(_ context.Context, c *Call) (json.RawMessage, *wire.CallError) {
				one := 1.0
				if err := c.Report(wire.Report{Progress: &one}); err != nil {
					t.Error(err)
				}
				return c.Args, nil
			},
			"messages__silent": func(ctx context.Context, _ *Call) (json.RawMessage, *wire.CallError) {
				<-ctx.Done()
				stopped <- struct{}{}
				return nil, &wire.CallError{Code: wire.ErrToolError, Message: context.Cause(ctx).Error()}
			},
		},
		OnPluginsChanged: func(plugins []string) { stateNames <- strings.Join(plugins, " ") },
	})
	if err != nil {
		t.Fatal(err)
	}
	callEnded := make(chan error, 1)
	go func() { callEnded <- b.Run(t.Context()) }()
	if got := <-stateNames; got != "messages" {
		t.Errorf("plugins of the browser = %q, want %q", got, "messages")
	}

	calls := dispatch.New(hub, dispatch.Options{})
	call := func(tool string) dispatch.Call {
		return dispatch.Call{Tool: dispatch.Tool{Plugin: "messages", Name: tool}, Args: json.RawMessage(`{"a":1}`)}
	}
	// Repeat the call until it succeeds, because the server may not have received the
	// browser's tabs yet.
	callResult, err := calls.Call(t.Context(), call("echo"))
	for range 1000 {
		if err == nil {
			break
		}
		callResult, err = calls.Call(t.Context(), call("echo"))
	}
	if err != nil || string(callResult.Output) != `{"a":1}` || callResult.ReportCount != 1 {
		t.Fatalf("the call of echo returned %+v, error %v; want its arguments, one report and no error", callResult, err)
	}
	if _, err := calls.Call(t.Context(), call("none")); err == nil || !strings.Contains(err.Error(), "the page has no tool none") {
		t.Errorf("the call of an unknown tool returned %v; want an error that contains %q", err, "the page has no tool none")
	}
	ctx, cancel := context.WithCancel(t.Context())
	subscription := calls.Subscribe(dispatch.SubscribeOptions{})
	go func() {
		for {
			events, _, err := subscription.Next(ctx)
			if err != nil || events[len(events)-1].Kind == dispatch.EventRunning {
				cancel()
				return
			}
		}
	}()
	_, err = calls.Call(ctx, call("silent"))
	failedError, ok := err.(*dispatch.Error)
	if !ok || failedError.Code != wire.ErrCancelled {
		t.Errorf("error of the call of silent = %+v, want cancelled", err)
	}
	<-stopped
	hub.Close()
	if err := <-callEnded; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the browser's connection ended with the error %v, want the close status going away", err)
	}
}

func TestConnectRejectsWrongKeyAndOrigin(t *testing.T) {
	hub := wsbridge.New(wsbridge.Options{Key: "key", Origins: []string{"chrome-extension://x"}})
	server := httptest.NewServer(hub.Handler())
	defer server.Close()
	defer hub.Close()
	url := strings.Replace(server.URL, "http", "ws", 1)
	for _, o := range []Options{
		{URL: url, Key: "wrong", Origin: "chrome-extension://x"},
		{URL: url, Key: "key", Origin: "https://evil.example"},
	} {
		if _, err := Connect(t.Context(), o); err == nil {
			t.Errorf("Connect accepted the options %+v, want an error", o)
		}
	}
}
