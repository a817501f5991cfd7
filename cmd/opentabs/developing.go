package main

import (
	"sync"

	"opentabs/plugin"
)

// developing are the folders of the plugins that somebody develops just now
// (opentabs plugin dev). Pages take a new adapter of such a plugin without a
// reload. It is safe for concurrent use.
type developing struct {
	changed func()

	mu   sync.Mutex     // guards held
	held map[string]int // how many commands develop in a folder
}

// newDeveloping returns one without folders. changed is called after each
// change; it may not block for long.
func newDeveloping(changed func()) *developing {
	return &developing{changed: changed, held: map[string]int{}}
}

// begin says that the plugin in dir, an absolute path, is being developed until
// end is called.
func (d *developing) begin(dir string) (end func()) {
	d.count(dir, 1)
	return func() { d.count(dir, -1) }
}

func (d *developing) count(dir string, by int) {
	d.mu.Lock()
	before := d.held[dir]
	d.held[dir] += by
	after := d.held[dir]
	if after == 0 {
		delete(d.held, dir)
	}
	d.mu.Unlock()
	if (before == 0) != (after == 0) {
		d.changed()
	}
}

// has reports whether a plugin is being developed: this one, not another that
// has its name. Without a list none is.
func (d *developing) has(one *plugin.Plugin) bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held[one.Dir] > 0
}
