// Package toolpins stores the pinned tools: the tools that the MCP server lists even if
// it lists only the tools that search and call other tools.
//
// Only the user pins tools. A pin changes what is listed, never what may run.
package toolpins

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/statedoc"
)

// fileName is the name of the file with the pinned tools in the state folder.
const fileName = "pinned-tools.json"

// lockWait is how long a change waits for another process that changes the file.
const lockWait = 10 * time.Second

// pinnedMember is the member of the file with the names of the pinned tools.
const pinnedMember = "pinned"

// Pins are the pinned tools, stored in the state folder. A pin is the full name of a
// tool, as in slack__send_message, or the name of a plugin, for all its tools. Pins are
// safe for concurrent use by goroutines and processes.
type Pins struct {
	file *statedoc.Watched[*statedoc.Plugins, []string]
}

// Open returns the pins in the state folder dir. warn receives a sentence for the user
// when a damaged file was put aside. log receives errors about the file.
func Open(dir string, warn func(sentence string), log zerolog.Logger) *Pins {
	file := statedoc.File[*statedoc.Plugins]{
		Path: filepath.Join(dir, fileName), Subject: "the list of pinned tools", LossText: "pin your tools again with opentabs tools pin",
		LockWait: lockWait, Warn: warn, Empty: statedoc.NewPlugins, Parse: statedoc.ParsePlugins, Encode: (*statedoc.Plugins).Encode,
	}
	return &Pins{statedoc.NewWatched(file, namesOf, nil, func(r statedoc.ReadResult[[]string]) {
		if r.Problem != nil {
			log.Error().Err(r.Problem).Msg("the pinned tools cannot be read, so no tool is pinned")
		}
	})}
}

// namesOf returns the pins in the content of the file, sorted.
func namesOf(doc *statedoc.Plugins) []string {
	var names []string
	if !statedoc.Decode(doc.TopLevel[pinnedMember], &names) {
		return nil
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Names returns the names of the pinned tools and plugins, sorted. The caller must not
// change the result.
func (p *Pins) Names() []string { return p.file.Current().View }

// Problem returns why the file cannot be read, or nil.
func (p *Pins) Problem() error { return p.file.Current().Problem }

// Pin adds names to the pins, and returns the names that were not pinned before.
func (p *Pins) Pin(names []string) (added []string, err error) {
	return p.change(names, func(pinned []string, name string) []string { return append(pinned, name) }, false)
}

// Unpin removes names from the pins, and returns the names that were pinned before.
func (p *Pins) Unpin(names []string) (removed []string, err error) {
	return p.change(names, func(pinned []string, name string) []string {
		return slices.DeleteFunc(pinned, func(other string) bool { return other == name })
	}, true)
}

// change calls edit for the given names that are pinned, or that are not pinned, and
// returns these names.
func (p *Pins) change(names []string, edit func(pinned []string, name string) []string, isPinned bool) (changed []string, err error) {
	err = p.file.Change(func(doc *statedoc.Plugins) error {
		pinned := namesOf(doc)
		for _, name := range names {
			if slices.Contains(pinned, name) == isPinned {
				pinned = edit(pinned, name)
				changed = append(changed, name)
			}
		}
		slices.Sort(pinned)
		doc.TopLevel.Put(pinnedMember, slices.Concat([]string{}, pinned))
		return nil
	})
	return changed, err
}

// OnChange registers a listener that runs after each change by another process or an
// editor.
func (p *Pins) OnChange(onChange func()) { p.file.OnChange(onChange) }

// Repair renames a damaged file, so that the next change does not overwrite it.
func (p *Pins) Repair() error { return p.file.Repair() }

// Watch detects changes of the file until ctx ends.
func (p *Pins) Watch(ctx context.Context) { p.file.Watch(ctx) }
