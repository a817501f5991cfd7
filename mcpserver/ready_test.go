package mcpserver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

// TestListsWaitForThePlugins checks that a list requested during startup waits until all
// plugins are loaded.
func TestListsWaitForThePlugins(t *testing.T) {
	for _, request := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messages__echo","arguments":{"text":"echo"}}}`,
	} {
		_, store := plugintest.Registry(t, plugintest.Package{})
		registry := plugin.NewRegistry(store, zerolog.Nop())
		readyWasCalled, loadDone := make(chan struct{}, 1), make(chan struct{})
		var isOpen atomic.Bool
		s := serveRegistry(t, registry, Options{WaitUntilLoaded: func(context.Context) error {
			if !isOpen.Load() {
				return errors.New("still loads its plugins") // the error is part of the client's instructions
			}
			readyWasCalled <- struct{}{}
			<-loadDone
			return nil
		}})
		c := s.open(t, "c")
		isOpen.Store(true)
		go func() {
			<-readyWasCalled
			if err := registry.Reload(); err != nil {
				t.Error(err)
			}
			close(loadDone)
		}()
		responseJSON := c.call(request).messageJSON
		if !strings.Contains(responseJSON, "echo") || strings.Contains(responseJSON, `"error"`) {
			t.Errorf("answer to %s = %s; want the tool echo and no error", request, responseJSON)
		}
	}
}

// The server may delay its response to initialize only for a limited time.
func TestInitializeWaitsForThePlugins(t *testing.T) {
	_, store := plugintest.Registry(t, plugintest.Package{})
	registry := plugin.NewRegistry(store, zerolog.Nop())
	limits := make(chan time.Duration, 1)
	s := serveRegistry(t, registry, Options{WaitUntilLoaded: func(ctx context.Context) error {
		deadline, _ := ctx.Deadline()
		limits <- time.Until(deadline)
		return registry.Reload()
	}})
	responseJSON := s.sessionlessClient(t).call(initializeText("c")).messageJSON
	if !strings.Contains(responseJSON, "Sites: messages.") {
		t.Errorf("answer to initialize = %s; want the site messages", responseJSON)
	}
	if limit := <-limits; limit <= 0 || limit > time.Second {
		t.Errorf("initialize waits for up to %s; want more than 0 s and at most 1 s", limit)
	}
}

// TestListsStopWaitingForPlugins checks that a list request fails, instead of returning
// an empty list, if loading the plugins takes too long.
func TestListsStopWaitingForPlugins(t *testing.T) {
	_, store := plugintest.Registry(t, plugintest.Package{})
	s := serveRegistry(t, plugin.NewRegistry(store, zerolog.Nop()), Options{WaitUntilLoaded: func(context.Context) error {
		return errors.New("still loads its plugins")
	}})
	c := s.open(t, "c")
	for _, method := range []string{`"tools/list"`, `"prompts/list"`, `"tools/call","params":{"name":"messages__echo"}`, `"prompts/get","params":{"name":"p"}`} {
		responseJSON := c.call(`{"jsonrpc":"2.0","id":1,"method":` + method + `}`).messageJSON
		if !strings.Contains(responseJSON, `"error"`) || !strings.Contains(responseJSON, "still loads its plugins") {
			t.Errorf("answer to %s = %s; want the error \"still loads its plugins\"", method, responseJSON)
		}
	}
	responseJSON := c.call(`{"jsonrpc":"2.0","id":1,"method":"ping"}`).messageJSON
	if strings.Contains(responseJSON, "plugins") {
		t.Errorf("answer to the ping = %s; want no text about plugins", responseJSON)
	}
}

func TestCallOfBrokenPluginFails(t *testing.T) {
	s := newServer(t, callerFunc(echoArguments), Options{}, plugintest.Package{Name: "a"}, plugintest.Package{Name: "b"})
	pkg, _ := s.reg.Set().Plugin("a")
	if err := os.WriteFile(filepath.Join(pkg.Dir, "dist/adapter.iife.js"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	c := startTestServer(t, s).open(t, "c")
	for _, method := range []string{"tools/call", "prompts/get"} {
		responseJSON := c.call(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"name":"a__echo","arguments":{}}}`).messageJSON
		for _, want := range []string{"The plugin a can't be loaded", "dist/adapter.iife.js: is empty", `"code":"plugin_broken","retryable":false`, "ask the user to repair, update or remove the plugin"} {
			if !strings.Contains(responseJSON, want) {
				t.Errorf("answer to %s: want the text %q in %s", method, want, responseJSON)
			}
		}
		if strings.Contains(responseJSON, pkg.Dir) {
			t.Errorf("answer to %s contains the path of the plugin's folder: %s; want no path", method, responseJSON)
		}
	}
	if responseJSON := c.call(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b__echo","arguments":{}}}`).messageJSON; strings.Contains(responseJSON, "broken") {
		t.Errorf("answer to a call of the other plugin = %s; want no text about the broken plugin", responseJSON)
	}
}
