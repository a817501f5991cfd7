// Package toolpins stores which tools the user has pinned. A client that gets only the
// gateway instead of all tools also gets the pinned tools.
//
// Only the user can pin tools: an agent or a plugin cannot. A pin changes the list of
// tools that a client sees, but never which tools the client is allowed to call.
package toolpins

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/statedoc"
)

const fileName = "pinned-tools.json"

const lockTimeout = 10 * time.Second

const pinnedMember = "pinned"

// PinnedTools are the user's pinned tools, stored in a file of the state folder. A pin is the
// full name of a tool, such as slack__send_message, or the name of a plugin, which pins
// all its tools. PinnedTools are safe for concurrent use by goroutines and processes.
type PinnedTools struct {
	file *statedoc.Watched[*statedoc.Plugins, []string]
}

// Open reads the pinned tools in the state folder dir. When a change renames a damaged
// file, warn receives a sentence for the user. Errors about the file of pinned tools are
// written to log.
func Open(dir string, warn func(warning string), log zerolog.Logger) *PinnedTools {
	file := statedoc.File[*statedoc.Plugins]{
		Path: filepath.Join(dir, fileName), Subject: "the list of pinned tools", LossWarning: "pin your tools again with opentabs tools pin",
		LockWait: lockTimeout, Warn: warn, NewContent: statedoc.NewPlugins, Parse: statedoc.ParsePlugins, Encode: (*statedoc.Plugins).Encode,
	}
	return &PinnedTools{statedoc.NewWatched(file, namesOf, nil, func(r statedoc.ReadResult[[]string]) {
		if r.Problem != nil {
			log.Error().Err(r.Problem).Msg("the pinned tools cannot be read, so no tool is pinned")
		}
	})}
}

func namesOf(document *statedoc.Plugins) []string {
	var names []string
	if !statedoc.DecodeInto(document.TopLevel[pinnedMember], &names) {
		return nil
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Names returns the names of the pinned tools and plugins, sorted. The caller must not
// change the returned slice.
func (p *PinnedTools) Names() []string { return p.file.Current().View }

// Problem returns why the file of pinned tools cannot be read, or nil.
func (p *PinnedTools) Problem() error { return p.file.Current().Problem }

// Pin pins tools and plugins by name, and returns the names that were not pinned before.
func (p *PinnedTools) Pin(names []string) (addedPins []string, err error) {
	return p.change(names, func(pinnedNames []string, name string) []string { return append(pinnedNames, name) }, false)
}

// Unpin unpins tools and plugins by name, and returns the names that were pinned before.
func (p *PinnedTools) Unpin(names []string) (removedPins []string, err error) {
	return p.change(names, func(pinnedNames []string, name string) []string {
		return slices.DeleteFunc(pinnedNames, func(otherName string) bool { return otherName == name })
	}, true)
}

func (p *PinnedTools) change(names []string, editContent func(pinnedNames []string, name string) []string, wasPinned bool) (changedPins []string, err error) {
	err = p.file.Change(func(document *statedoc.Plugins) error {
		pinnedNames := namesOf(document)
		for _, name := range names {
			if slices.Contains(pinnedNames, name) == wasPinned {
				pinnedNames = editContent(pinnedNames, name)
				changedPins = append(changedPins, name)
			}
		}
		slices.Sort(pinnedNames)
		document.TopLevel.Put(pinnedMember, slices.Concat([]string{}, pinnedNames))
		return nil
	})
	return changedPins, err
}

// OnChange registers a function that runs after another process or an editor has changed
// the pins.
func (p *PinnedTools) OnChange(onChange func()) { p.file.OnChange(onChange) }

// Repair renames a damaged file of pinned tools, so that the next change does not
// overwrite it.
func (p *PinnedTools) Repair() error { return p.file.Repair() }

// Watch checks the file of pinned tools for changes once a second until ctx ends.
func (p *PinnedTools) Watch(ctx context.Context) { p.file.Watch(ctx) }
