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

func TestFaultsBelongToOneContent(t *testing.T) {
	registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
	firstPlugin, _ := registry.Set().Plugin("a")
	changes := 0
	storedFaults := faults.Open(filepath.Dir(store.Path()), zerolog.Nop())
	storedFaults.OnChange(func() { changes++ })
	for range 2 {
		storedFaults.RecordFault(firstPlugin, "it threw", "https://example.com/page?x=1", "Home")
	}
	fault, isFaulty := storedFaults.FaultOf(firstPlugin)
	if !isFaulty || changes != 1 || fault.Text() != "did not start in a page of https://example.com: it threw" || fault.Browser != "Home" {
		t.Errorf("%+v, %v, %d changes", fault, isFaulty, changes)
	}
	file := filepath.Join(firstPlugin.Dir, "dist", "adapter.iife.js")
	contentBefore, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, []byte(strings.SplitAfter(string(contentBefore), "};")[0]+"\n"))
	nextBuild, _ := reloadRegistry(t, registry).Plugin("a")
	if fault, isFaulty := storedFaults.FaultOf(nextBuild); isFaulty {
		t.Errorf("the next build: %+v", fault)
	}
	writeFile(t, file, contentBefore)
	otherRegistry := plugin.NewRegistry(store, zerolog.Nop())
	samePlugin, _ := reloadRegistry(t, otherRegistry).Plugin("a")
	if _, isFaulty := faults.Open(filepath.Dir(store.Path()), zerolog.Nop()).FaultOf(samePlugin); !isFaulty {
		t.Error("another process does not find the fault")
	}
	storedFaults.ClearFault(nextBuild)
	if _, isFaulty := storedFaults.FaultOf(samePlugin); !isFaulty {
		t.Error("the start of another content ended the fault")
	}
	storedFaults.ClearFault(samePlugin)
	if fault, isFaulty := storedFaults.FaultOf(samePlugin); isFaulty {
		t.Errorf("the started adapter still has the fault %+v", fault)
	}
	if fault, isFaulty := faults.Open(filepath.Dir(store.Path()), zerolog.Nop()).FaultOf(samePlugin); isFaulty {
		t.Errorf("another process reads a fault of the started adapter: %+v", fault)
	}
}

func TestFaultsOfADamagedFile(t *testing.T) {
	for _, faultsJSON := range []string{"", "null", "[]", `{"a":1}`, "\x00"} {
		registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
		firstPlugin, _ := registry.Set().Plugin("a")
		writeFile(t, filepath.Join(filepath.Dir(store.Path()), "plugin-faults.json"), []byte(faultsJSON))
		storedFaults := faults.Open(filepath.Dir(store.Path()), zerolog.Nop())
		if fault, isFaulty := storedFaults.FaultOf(firstPlugin); isFaulty {
			t.Errorf("%q: %+v", faultsJSON, fault)
		}
		storedFaults.RecordFault(firstPlugin, "it threw", "", "")
		if _, isFaulty := storedFaults.FaultOf(firstPlugin); !isFaulty {
			t.Errorf("%q: a new fault is not kept", faultsJSON)
		}
	}
}

func TestFaultsGate(t *testing.T) {
	registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
	storedFaults := faults.Open(filepath.Dir(store.Path()), zerolog.Nop())
	firstPlugin, _ := registry.Set().Plugin("a")
	tool, _ := registry.Set().Tool("a__echo")
	gate := storedFaults.Gate(registry.Set)
	callInfo := dispatch.CallInfo{Tool: tool.Dispatch()}
	if v := gate.Decide(callInfo); v.Block != nil {
		t.Errorf("a plugin without a fault has %+v", v.Block)
	}
	storedFaults.RecordFault(firstPlugin, "it threw", "https://example.com/", "Home")
	if v := gate.Decide(callInfo); v.Block != nil {
		t.Errorf("in a page: %+v", v.Block)
	}
	storedFaults.RecordFault(firstPlugin, "it is no script", "", "")
	if v := gate.Decide(callInfo); v.Block == nil || v.Block.Code != wire.ErrPluginBroken || !strings.Contains(v.Block.Message, "it is no script") {
		t.Errorf("in no page: %+v", v.Block)
	}
}
