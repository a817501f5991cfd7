package policy

import (
	"fmt"
	"testing"
)

func TestRefusedCalls(t *testing.T) {
	var r refusedCalls
	if !r.add("a", "b") || r.add("a", "b") {
		t.Error("want a pair to be new exactly once")
	}
	if !r.add("b", "a") {
		t.Error("the other direction is not new")
	}
	for i := range maxRefused - 1 {
		if !r.add("a", fmt.Sprint("target", i)) {
			t.Fatalf("target %d was not stored", i)
		}
	}
	if r.add("a", "one too many") || len(r.byCaller["a"]) != maxRefused {
		t.Errorf("%d targets of one plugin are kept, want %d", len(r.byCaller["a"]), maxRefused)
	}
	for i := len(r.byCaller); i < maxRefusedCallers; i++ {
		if !r.add(fmt.Sprint("caller", i), "b") {
			t.Fatalf("caller %d was not stored", i)
		}
	}
	if r.add("one more caller", "b") || len(r.byCaller) != maxRefusedCallers {
		t.Errorf("%d callers are kept, want %d", len(r.byCaller), maxRefusedCallers)
	}
	if !r.add("b", "c") {
		t.Error("a known caller is refused because there are many callers")
	}
}
