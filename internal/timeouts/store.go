// Package timeouts stores after which time MCP clients give up a call, as learned
// from calls that they gave up, or as set by the user.
//
// The table of package clients has the timeouts of well-known clients. This package has
// the timeouts of all others, and of clients that differ from the table. Only clients can
// cause an entry, by the name that they send, so the number of entries and the lengths
// of names are limited. An entry changes when a call becomes a job, never what may run.
package timeouts

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/clients"
	"opentabs/internal/humanize"
	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
	"opentabs/internal/statedoc"
)

// fileName is the name of the file with the timeouts in the state folder.
const fileName = "client-timeouts.json"

// lockWait is how long a change waits for another process that changes the file.
const lockWait = 5 * time.Second

// These constants limit what clients can store in the file.
const (
	maxEntries    = 200
	maxNameLength = 100
)

// clientsMember is the member of the file with the list of entries.
const clientsMember = "clients"

// Entry is the timeout of one client.
type Entry struct {
	// Name and Version are what the client sends in initialize. An empty Version, which
	// only the user sets, means all versions.
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// TimeoutMs is how long the client waits for a call, in milliseconds. ProgressRestarts
	// is set if each progress notification restarts this time.
	TimeoutMs        int64 `json:"timeout_ms"`
	ProgressRestarts bool  `json:"progress_restarts,omitempty"`
	// IsSetByUser is set if the user set the timeout; otherwise it was learned.
	IsSetByUser bool `json:"set_by_user,omitempty"`
	// Reason is the text with which the client cancelled its call; empty if the client
	// gave no reason or closed its connection.
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
}

// Timeout returns how long the client waits for a call.
func (e Entry) Timeout() clients.Timeout {
	return clients.Timeout{Limit: time.Duration(e.TimeoutMs) * time.Millisecond, ProgressRestarts: e.ProgressRestarts}
}

// ClientText returns the name and the version of the client.
func (e Entry) ClientText() string { return strings.TrimSpace(e.Name + " " + e.Version) }

// WaitText describes how long the client waits, as in "60 s after each progress".
func (e Entry) WaitText() string {
	text := humanize.Duration(e.Timeout().Limit)
	if e.ProgressRestarts {
		text += " after each progress"
	}
	return text
}

// key returns the key of the entry.
func (e Entry) key() clients.ID { return keyOf(clients.ID{Name: e.Name, Version: e.Version}) }

// isValid reports whether an entry of the file can be used.
func (e Entry) isValid() bool {
	limit := e.Timeout().Limit
	return e.Name != "" && e.TimeoutMs > 0 && limit >= clients.MinTimeout && limit <= clients.MaxTimeout
}

// keyOf returns the key of a client. Names of clients are equal in upper and lower case.
func keyOf(id clients.ID) clients.ID {
	return clients.ID{Name: strings.ToLower(cleanName(id.Name)), Version: cleanName(id.Version)}
}

// cleanName returns the name or version of a client without hidden characters, and at
// most maxNameLength long. A name that needs no change is returned without a copy.
func cleanName(name string) string {
	name = strings.TrimSpace(name)
	for i := range len(name) {
		if name[i] < ' ' || name[i] > '~' || i >= maxNameLength {
			return strings.TrimSpace(plaintext.Line(name, maxNameLength))
		}
	}
	return name
}

// view are the entries of a file by key.
type view map[clients.ID]Entry

// Store has the timeouts of clients, stored in the state folder. Store is safe for
// concurrent use by goroutines and processes.
type Store struct {
	file *statedoc.Watched[*statedoc.Plugins, view]
	log  zerolog.Logger

	mu      sync.Mutex // guards unsaved
	unsaved view       // learned entries that could not be written to the file
}

// Open returns the timeouts in the state folder dir. warn receives a sentence for the
// user when a damaged file was put aside. log receives what is learned, and errors about
// the file.
func Open(dir string, warn func(sentence string), log zerolog.Logger) *Store {
	file := statedoc.File[*statedoc.Plugins]{
		Path: filepath.Join(dir, fileName), Subject: "the list of client timeouts", LossText: "opentabs learns the timeouts again",
		LockWait: lockWait, Warn: warn, Empty: statedoc.NewPlugins, Parse: statedoc.ParsePlugins, Encode: (*statedoc.Plugins).Encode,
	}
	return &Store{log: log, unsaved: view{}, file: statedoc.NewWatched(file, viewOf, nil, func(r statedoc.ReadResult[view]) {
		if r.Problem != nil {
			log.Error().Err(r.Problem).Msg("the timeouts of clients cannot be read, so they are learned again")
		}
	})}
}

// viewOf returns the valid entries in the content of the file.
func viewOf(doc *statedoc.Plugins) view {
	entries := view{}
	var list []json.RawMessage
	statedoc.Decode(doc.TopLevel[clientsMember], &list) // a member of another type has no entries
	for _, raw := range list {
		if e := (Entry{}); statedoc.Decode(raw, &e) && e.isValid() {
			entries[e.key()] = e
		}
	}
	return entries
}

// Find returns the entry of a client: that of its version, else that of all versions.
// Find reads no file, because every call of a client needs the entry.
func (s *Store) Find(id clients.ID) (Entry, bool) {
	if id.Name == "" {
		return Entry{}, false
	}
	key := keyOf(id)
	entries := s.file.Latest().View
	if e, ok := entries[key]; ok {
		return e, true
	}
	if e, ok := entries[clients.ID{Name: key.Name}]; ok {
		return e, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.unsaved[key]
	return e, ok
}

// List returns the entries, sorted by name and version.
func (s *Store) List() []Entry { return sortedEntries(s.file.Current().View) }

// sortedEntries returns entries sorted by name and version.
func sortedEntries(entries view) []Entry {
	list := make([]Entry, 0, len(entries))
	for _, e := range entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.Version, b.Version))
	})
	return list
}

// Learn stores the timeout of a client that gave up a call. Learn returns false if the
// timeout of the client was known already, is set by the user, or cannot be inferred.
func (s *Store) Learn(id clients.ID, g clients.GiveUp) (Entry, bool) {
	t, ok := g.InferTimeout()
	key := keyOf(id)
	if !ok || key.Name == "" {
		return Entry{}, false
	}
	learned := Entry{
		Name: cleanName(id.Name), Version: key.Version, TimeoutMs: t.Limit.Milliseconds(), ProgressRestarts: t.ProgressRestarts,
		Reason: plaintext.Line(g.Reason, maxNameLength), Since: time.Now().UTC(),
	}
	if known, ok := s.Find(id); ok {
		if known.IsSetByUser {
			s.log.Warn().Str("client", learned.ClientText()).Str("gave_up_after", learned.WaitText()).Str("set", known.WaitText()).
				Msg("a client gave up a call earlier than the timeout that you set for it; change it with opentabs client timeout set, or remove it with opentabs client timeout forget")
			return Entry{}, false
		}
		learned = learned.mergedWith(known, g.HasProgress)
		if learned.Timeout() == known.Timeout() {
			return Entry{}, false
		}
	}
	if err := s.change(func(entries view) { entries[key] = learned }); err != nil {
		s.log.Error().Err(err).Str("client", learned.ClientText()).Msg("the learned timeout of a client cannot be stored; it is used until opentabs restarts")
		s.mu.Lock()
		if len(s.unsaved) >= maxEntries {
			clear(s.unsaved)
		}
		s.unsaved[key] = learned
		s.mu.Unlock()
		s.file.Notify()
	}
	s.log.Warn().Str("client", learned.ClientText()).Str("gave_up_after", learned.WaitText()).Str("reason", learned.Reason).
		Msg(fmt.Sprintf("a client gave up a call, so its later calls become jobs shortly before; to change this: opentabs client timeout set %q TIME", learned.Name))
	return learned, true
}

// mergedWith returns the entry that is true for two observations of one client: the
// shorter time. hasProgress is set if the newer observation e shows whether progress
// restarts the time.
func (e Entry) mergedWith(known Entry, hasProgress bool) Entry {
	e.TimeoutMs = min(e.TimeoutMs, known.TimeoutMs)
	if !hasProgress {
		e.ProgressRestarts = known.ProgressRestarts
	}
	return e
}

// Set stores the timeout that the user set for a client.
func (s *Store) Set(id clients.ID, t clients.Timeout) (Entry, error) {
	e := Entry{
		Name: cleanName(id.Name), Version: cleanName(id.Version), TimeoutMs: t.Limit.Milliseconds(), ProgressRestarts: t.ProgressRestarts,
		IsSetByUser: true, Since: time.Now().UTC(),
	}
	return e, s.change(func(entries view) {
		if e.Version == "" { // the timeout for all versions replaces those of single versions
			deleteClient(entries, e.key())
		}
		entries[e.key()] = e
	})
}

// Forget removes the entries of a client: of one version, or of all versions if the
// version is empty. Forget returns the removed entries.
func (s *Store) Forget(id clients.ID) ([]Entry, error) {
	removed := view{}
	if err := s.change(func(entries view) { removed = deleteClient(entries, keyOf(id)) }); err != nil {
		return nil, err
	}
	return sortedEntries(removed), nil
}

// deleteClient deletes the entries with the name of key, and with its version unless that
// is empty. deleteClient returns the deleted entries.
func deleteClient(entries view, key clients.ID) view {
	deleted := view{}
	for k, e := range entries {
		if k.Name == key.Name && (key.Version == "" || k.Version == key.Version) {
			deleted[k] = e
			delete(entries, k)
		}
	}
	return deleted
}

// change edits the entries of the file, and notifies the listeners.
func (s *Store) change(edit func(view)) error {
	err := s.file.Change(func(doc *statedoc.Plugins) error {
		entries := viewOf(doc)
		edit(entries)
		dropOldest(entries)
		doc.TopLevel[clientsMember] = rawjson.Encode(sortedEntries(entries))
		return nil
	})
	if err == nil {
		s.file.Notify()
	}
	return err
}

// dropOldest deletes the oldest entries above maxEntries, those that the user set last.
func dropOldest(entries view) {
	list := sortedEntries(entries)
	slices.SortStableFunc(list, func(a, b Entry) int {
		if a.IsSetByUser != b.IsSetByUser {
			if b.IsSetByUser {
				return -1
			}
			return 1
		}
		return a.Since.Compare(b.Since)
	})
	for _, e := range list[:max(len(list)-maxEntries, 0)] {
		delete(entries, e.key())
	}
}

// OnChange registers a listener that runs after each change of an entry.
func (s *Store) OnChange(onChange func()) { s.file.OnChange(onChange) }

// Problem returns why the file cannot be read, or nil.
func (s *Store) Problem() error { return s.file.Current().Problem }

// Repair renames a damaged file, so that the next change does not overwrite it.
func (s *Store) Repair() error { return s.file.Repair() }

// Watch detects changes of the file until ctx ends.
func (s *Store) Watch(ctx context.Context) { s.file.Watch(ctx) }
