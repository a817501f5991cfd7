package policy

import (
	"fmt"
	"testing"
)

func TestRefusedCalls(t *testing.T) {
	var r refusedCalls
	if !r.add("a", "b") || r.add("a", "b") {
		t.Error("add reported the same pair of plugins as new twice, or never; want exactly once")
	}
	if !r.add("b", "a") {
		t.Error("add did not report the pair in the other direction as new; want true")
	}
	for i := range maxRefusedPlugins - 1 {
		if !r.add("a", fmt.Sprint("target", i)) {
			t.Fatalf("target plugin %d was not stored; want it stored", i)
		}
	}
	if r.add("a", "one too many") || len(r.calledPluginsByCaller["a"]) != maxRefusedPlugins {
		t.Errorf("%d target plugins of one calling plugin are stored, want %d", len(r.calledPluginsByCaller["a"]), maxRefusedPlugins)
	}
	for i := len(r.calledPluginsByCaller); i < maxRefusedCallers; i++ {
		if !r.add(fmt.Sprint("caller", i), "b") {
			t.Fatalf("calling plugin %d was not stored; want it stored", i)
		}
	}
	if r.add("one more caller", "b") || len(r.calledPluginsByCaller) != maxRefusedCallers {
		t.Errorf("%d calling plugins are stored, want %d", len(r.calledPluginsByCaller), maxRefusedCallers)
	}
	if !r.add("b", "c") {
		t.Error("add rejected a known calling plugin because there are many calling plugins; want true")
	}
}
