package plugin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

// A fault is that of a content: another build does not have it, the same content
// has it again, also in another process, until it starts somewhere.
func TestFaultsAreThoseOfAContent(t *testing.T) {
	registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
	one, _ := registry.Set().Plugin("a")
	changes := 0
	faults := registry.Faults()
	faults.OnChange(func() { changes++ })
	for range 2 { // each tab tells of it
		faults.Failed(one, "it threw", "https://example.com/page?x=1", "Home")
	}
	fault, broken := faults.Of(one)
	if !broken || changes != 1 || fault.Text() != "did not start in a page of https://example.com: it threw" || fault.Browser != "Home" {
		t.Errorf("%+v, %v, %d changes", fault, broken, changes)
	}
	file := filepath.Join(one.Dir, adapterFile)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, one.Dir, adapterFile, func(s string) string { return strings.SplitAfter(s, "};")[0] + "\n" })
	next, _ := reload(t, registry).Plugin("a")
	if fault, broken := faults.Of(next); broken {
		t.Errorf("the next build: %+v", fault)
	}
	write(t, file, before)
	other := plugin.NewRegistry(store, zerolog.Nop())
	again, _ := reload(t, other).Plugin("a")
	if _, broken := other.Faults().Of(again); !broken {
		t.Error("another process does not know of the fault")
	}
	faults.Started(next)
	if _, broken := faults.Of(again); !broken {
		t.Error("the start of another content ended the fault")
	}
	faults.Started(again)
	if fault, broken := faults.Of(again); broken {
		t.Errorf("it has started: %+v", fault)
	}
	if fault, broken := plugin.NewRegistry(store, zerolog.Nop()).Faults().Of(again); broken {
		t.Errorf("it has started, for another process: %+v", fault)
	}
}

func TestFaultsOfADamagedFile(t *testing.T) {
	for _, text := range []string{"", "null", "[]", `{"a":1}`, "\x00"} {
		registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
		one, _ := registry.Set().Plugin("a")
		write(t, filepath.Join(filepath.Dir(store.Path()), "plugin-faults.json"), []byte(text))
		faults := plugin.NewRegistry(store, zerolog.Nop()).Faults()
		if fault, broken := faults.Of(one); broken {
			t.Errorf("%q: %+v", text, fault)
		}
		faults.Failed(one, "it threw", "", "")
		if _, broken := faults.Of(one); !broken {
			t.Errorf("%q: a new fault is not kept", text)
		}
	}
}

// Code that comes to no page fails its calls at once; where it comes to a page, the
// page decides.
func TestFaultsGate(t *testing.T) {
	registry, _ := plugintest.Registry(t, plugintest.Package{Name: "a"})
	one, _ := registry.Set().Plugin("a")
	tool, _ := registry.Set().Tool("a__echo")
	gate := registry.Faults().Gate(registry.Set)
	in := dispatch.Info{Tool: tool.Dispatch()}
	if v := gate.Decide(in); v.Block != nil {
		t.Errorf("without a fault: %+v", v.Block)
	}
	registry.Faults().Failed(one, "it threw", "https://example.com/", "Home")
	if v := gate.Decide(in); v.Block != nil {
		t.Errorf("in a page: %+v", v.Block)
	}
	registry.Faults().Failed(one, "it is no script", "", "")
	if v := gate.Decide(in); v.Block == nil || v.Block.Code != wire.ErrPluginBroken || !strings.Contains(v.Block.Message, "it is no script") {
		t.Errorf("in no page: %+v", v.Block)
	}
}
