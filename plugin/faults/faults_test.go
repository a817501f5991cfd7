package faults_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/plugin/faults"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

func reloadRegistry(t *testing.T, r *plugin.Registry) *plugin.Set {
	t.Helper()
	if err := r.Reload(); err != nil {
		t.Fatal(err)
	}
	return r.Set()
}

func writeFile(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFaultsApplyOnlyToSameContent(t *testing.T) {
	registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
	firstPlugin, _ := registry.Set().Plugin("a")
	changes := 0
	storedFaults := faults.Open(filepath.Dir(store.Path()), zerolog.Nop())
	storedFaults.OnChange(func() { changes++ })
	for range 2 {
		storedFaults.RecordFault(firstPlugin, "it threw", "https://example.com/page?x=1", "Home")
	}
	fault, isFaulty := storedFaults.FindFault(firstPlugin)
	if !isFaulty || changes != 1 || fault.Text() != "did not start in a page of https://example.com: it threw" || fault.Browser != "Home" {
		t.Errorf("fault = %+v, found %v, %d changes; want the problem \"it threw\" in the browser Home, and 1 change", fault, isFaulty, changes)
	}
	file := filepath.Join(firstPlugin.Dir, "dist", "adapter.iife.js")
	contentBefore, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, []byte(strings.SplitAfter(string(contentBefore), "};")[0]+"\n"))
	rebuiltPlugin, _ := reloadRegistry(t, registry).Plugin("a")
	if fault, isFaulty := storedFaults.FindFault(rebuiltPlugin); isFaulty {
		t.Errorf("fault of the next build = %+v; want none", fault)
	}
	writeFile(t, file, contentBefore)
	otherRegistry := plugin.NewRegistry(store, zerolog.Nop())
	restoredPlugin, _ := reloadRegistry(t, otherRegistry).Plugin("a")
	if _, isFaulty := faults.Open(filepath.Dir(store.Path()), zerolog.Nop()).FindFault(restoredPlugin); !isFaulty {
		t.Error("another process does not read the recorded fault; want it found")
	}
	storedFaults.ClearFault(rebuiltPlugin)
	if _, isFaulty := storedFaults.FindFault(restoredPlugin); !isFaulty {
		t.Error("the start of an adapter with other content ended the fault; want the fault kept")
	}
	storedFaults.ClearFault(restoredPlugin)
	if fault, isFaulty := storedFaults.FindFault(restoredPlugin); isFaulty {
		t.Errorf("fault of the adapter that has started = %+v; want none", fault)
	}
	if fault, isFaulty := faults.Open(filepath.Dir(store.Path()), zerolog.Nop()).FindFault(restoredPlugin); isFaulty {
		t.Errorf("fault that another process reads for the adapter that has started = %+v; want none", fault)
	}
}

func TestDamagedFaultsFile(t *testing.T) {
	for _, faultsJSON := range []string{"", "null", "[]", `{"a":1}`, "\x00"} {
		registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
		firstPlugin, _ := registry.Set().Plugin("a")
		writeFile(t, filepath.Join(filepath.Dir(store.Path()), "plugin-faults.json"), []byte(faultsJSON))
		storedFaults := faults.Open(filepath.Dir(store.Path()), zerolog.Nop())
		if fault, isFaulty := storedFaults.FindFault(firstPlugin); isFaulty {
			t.Errorf("file of faults %q: fault %+v; want none", faultsJSON, fault)
		}
		storedFaults.RecordFault(firstPlugin, "it threw", "", "")
		if _, isFaulty := storedFaults.FindFault(firstPlugin); !isFaulty {
			t.Errorf("file of faults %q: a new fault was not stored; want it stored", faultsJSON)
		}
	}
}

func TestFaultsGateBlocksCalls(t *testing.T) {
	registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
	storedFaults := faults.Open(filepath.Dir(store.Path()), zerolog.Nop())
	firstPlugin, _ := registry.Set().Plugin("a")
	tool, _ := registry.Set().Tool("a__echo")
	gate := storedFaults.Gate(registry.Set)
	callInfo := dispatch.CallInfo{Tool: tool.Dispatch()}
	if v := gate.Decide(callInfo); v.BlockError != nil {
		t.Errorf("block for a plugin without a fault = %+v; want none", v.BlockError)
	}
	storedFaults.RecordFault(firstPlugin, "it threw", "https://example.com/", "Home")
	if v := gate.Decide(callInfo); v.BlockError != nil {
		t.Errorf("block for a fault in a page = %+v; want none", v.BlockError)
	}
	storedFaults.RecordFault(firstPlugin, "it is no script", "", "")
	if v := gate.Decide(callInfo); v.BlockError == nil || v.BlockError.Code != wire.ErrPluginBroken || !strings.Contains(v.BlockError.Message, "it is no script") {
		t.Errorf("block for code that reaches no page = %+v; want the error plugin_broken", v.BlockError)
	}
}
