package main

import (
	"testing"

	"opentabs/plugin"
)

func TestDevelopingIsAboutAFolder(t *testing.T) {
	changes := 0
	d := newDeveloping(func() { changes++ })
	mine, other := &plugin.Plugin{Name: "a", Dir: "/mine"}, &plugin.Plugin{Name: "a", Dir: "/other"}
	expect := func(when string, want bool, wantChanges int) {
		t.Helper()
		if d.has(mine) != want || d.has(other) || changes != wantChanges {
			t.Errorf("%s: %t, another folder %t, %d changes", when, d.has(mine), d.has(other), changes)
		}
	}
	first := d.begin("/mine")
	expect("begun", true, 1)
	second := d.begin("/mine")
	first()
	expect("a second one goes on", true, 1)
	second()
	expect("both ended", false, 2)
}
