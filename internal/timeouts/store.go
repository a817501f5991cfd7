// Package timeouts stores how long each MCP client waits for a tool's result before the client gives up the call. The
// server infers a client's timeout when the client gives up a call, unless the user has set the timeout.
//
// Package timeouts stores the timeouts of clients that are unknown to package clients or that differ from its table.
// Any program can create an entry by sending a client name, so the number of entries and the length of names are
// limited. A timeout controls only when a call becomes a job, never whether a call is allowed to run.
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

const fileName = "client-timeouts.json"

const lockTimeout = 5 * time.Second

const (
	maxEntries    = 200
	maxNameLength = 100
)

const clientsMember = "clients"

// Entry is the stored timeout of one MCP client.
type Entry struct {
	// Name and Version are the name and the version that the client sends in its
	// initialize request. An empty Version means all versions; only the user can set a
	// timeout for all versions.
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// TimeoutMs is how long the client waits for a tool's result, in milliseconds. ProgressRestarts is true if each
	// progress notification restarts the timeout in the client.
	TimeoutMs        int64 `json:"timeout_ms"`
	ProgressRestarts bool  `json:"progress_restarts,omitempty"`
	// IsSetByUser is true if the user set the timeout, and false if the server learned
	// the timeout.
	IsSetByUser bool `json:"set_by_user,omitempty"`
	// Reason is the reason that the client gave when it gave up the call and sent a
	// cancellation. The field Reason is empty if the client sent no text or closed its
	// connection.
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
}

// Timeout returns how long the client waits for a tool's result.
func (e Entry) Timeout() clients.Timeout {
	return clients.Timeout{Limit: time.Duration(e.TimeoutMs) * time.Millisecond, ProgressRestarts: e.ProgressRestarts}
}

// FormatClient returns the client's name and version for the user, such as "claude-code
// 2.0".
func (e Entry) FormatClient() string { return strings.TrimSpace(e.Name + " " + e.Version) }

// FormatLimit describes how long the client waits for a tool's result, such as "60 s after
// each progress".
func (e Entry) FormatLimit() string {
	limitText := humanize.Duration(e.Timeout().Limit)
	if e.ProgressRestarts {
		limitText += " after each progress"
	}
	return limitText
}

func (e Entry) key() clients.ID {
	return normalizeClientID(clients.ID{Name: e.Name, Version: e.Version})
}

func (e Entry) isValid() bool {
	limit := e.Timeout().Limit
	return e.Name != "" && e.TimeoutMs > 0 && limit >= clients.MinTimeout && limit <= clients.MaxTimeout
}

// Clients whose names differ only in case have one key in a view.
func normalizeClientID(id clients.ID) clients.ID {
	return clients.ID{Name: strings.ToLower(cleanName(id.Name)), Version: cleanName(id.Version)}
}

// cleanName removes control and invisible characters from a client's name or version, and cuts the text to
// maxNameLength.
func cleanName(name string) string {
	name = strings.TrimSpace(name)
	for i := range len(name) {
		if name[i] < ' ' || name[i] > '~' || i >= maxNameLength {
			return strings.TrimSpace(plaintext.Line(name, maxNameLength))
		}
	}
	return name
}

// The type view maps the key of each client to its stored timeout.
type view map[clients.ID]Entry

// Store stores the timeouts of MCP clients in a file of the state folder. Create a Store
// with [Open]. A Store is safe for concurrent use by goroutines and processes.
type Store struct {
	file *statedoc.Watched[*statedoc.Plugins, view]
	log  zerolog.Logger

	mu                   sync.Mutex // the mutex guards the field timeoutsOnlyInMemory
	timeoutsOnlyInMemory view       // the field timeoutsOnlyInMemory contains learned timeouts that could not be written to the file
}

// Open reads the timeouts of MCP clients in the state folder dir. When a change renames a
// damaged file, warn receives a sentence for the user. Open passes learned timeouts, and
// errors about the file, to the parameter log.
func Open(dir string, warn func(warning string), log zerolog.Logger) *Store {
	file := statedoc.File[*statedoc.Plugins]{
		Path: filepath.Join(dir, fileName), Subject: "the list of client timeouts", LossWarning: "opentabs learns the timeouts again",
		LockWait: lockTimeout, Warn: warn, NewContent: statedoc.NewPlugins, Parse: statedoc.ParsePlugins, Encode: (*statedoc.Plugins).Encode,
	}
	return &Store{log: log, timeoutsOnlyInMemory: view{}, file: statedoc.NewWatched(file, parseEntries, nil, func(r statedoc.ReadResult[view]) {
		if r.Problem != nil {
			log.Error().Err(r.Problem).Msg("the timeouts of clients cannot be read, so they are learned again")
		}
	})}
}

func parseEntries(document *statedoc.Plugins) view {
	entries := view{}
	var rawEntries []json.RawMessage
	statedoc.DecodeInto(document.TopLevel[clientsMember], &rawEntries)
	for _, rawJSON := range rawEntries {
		if e := (Entry{}); statedoc.DecodeInto(rawJSON, &e) && e.isValid() {
			entries[e.key()] = e
		}
	}
	return entries
}

// Find returns the stored timeout of a client: the timeout for its version if there is
// one, and otherwise the timeout for all versions. Find never reads the file, because the
// server calls Find for each call of a tool.
func (s *Store) Find(id clients.ID) (Entry, bool) {
	if id.Name == "" {
		return Entry{}, false
	}
	key := normalizeClientID(id)
	entries := s.file.Latest().View
	if e, ok := entries[key]; ok {
		return e, true
	}
	if e, ok := entries[clients.ID{Name: key.Name}]; ok {
		return e, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.timeoutsOnlyInMemory[key]
	return e, ok
}

// List returns all timeouts in the file, sorted by the client's name and version.
func (s *Store) List() []Entry { return sortedEntries(s.file.Current().View) }

func sortedEntries(entries view) []Entry {
	sortedList := make([]Entry, 0, len(entries))
	for _, e := range entries {
		sortedList = append(sortedList, e)
	}
	slices.SortFunc(sortedList, func(a, b Entry) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.Version, b.Version))
	})
	return sortedList
}

// RecordAbandonedCall infers a client's timeout from a call that the client gave up, and stores the
// timeout. RecordAbandonedCall returns false if it stores nothing: the timeout is already stored, the
// user has set one, or no timeout can be inferred.
func (s *Store) RecordAbandonedCall(id clients.ID, g clients.AbandonedCall) (Entry, bool) {
	t, ok := g.InferTimeout()
	key := normalizeClientID(id)
	if !ok || key.Name == "" {
		return Entry{}, false
	}
	learnedEntry := Entry{
		Name: cleanName(id.Name), Version: key.Version, TimeoutMs: t.Limit.Milliseconds(), ProgressRestarts: t.ProgressRestarts,
		Reason: plaintext.Line(g.Reason, maxNameLength), Since: time.Now().UTC(),
	}
	if knownEntry, ok := s.Find(id); ok {
		if knownEntry.IsSetByUser {
			s.log.Warn().Str("client", learnedEntry.FormatClient()).Str("gave_up_after", learnedEntry.FormatLimit()).Str("set", knownEntry.FormatLimit()).
				Msg("a client gave up a call earlier than the timeout that you set for it; change it with opentabs client timeout set, or remove it with opentabs client timeout forget")
			return Entry{}, false
		}
		learnedEntry = learnedEntry.mergeEntry(knownEntry, g.HasProgress)
		if learnedEntry.Timeout() == knownEntry.Timeout() {
			return Entry{}, false
		}
	}
	if err := s.change(func(entries view) { entries[key] = learnedEntry }); err != nil {
		s.log.Error().Err(err).Str("client", learnedEntry.FormatClient()).Msg("the learned timeout of a client cannot be stored; it is used until opentabs restarts")
		s.mu.Lock()
		if len(s.timeoutsOnlyInMemory) >= maxEntries {
			clear(s.timeoutsOnlyInMemory)
		}
		s.timeoutsOnlyInMemory[key] = learnedEntry
		s.mu.Unlock()
		s.file.NotifyListeners()
	}
	s.log.Warn().Str("client", learnedEntry.FormatClient()).Str("gave_up_after", learnedEntry.FormatLimit()).Str("reason", learnedEntry.Reason).
		Msg(fmt.Sprintf("a client gave up a call, so its later calls become jobs shortly before; to change this: opentabs client timeout set %q TIME", learnedEntry.Name))
	return learnedEntry, true
}

// If hasProgress is false, the client gave up on a call that sent no progress. A call without progress does not show
// whether progress restarts the timeout, so mergeEntry uses ProgressRestarts of knownEntry.
func (e Entry) mergeEntry(knownEntry Entry, hasProgress bool) Entry {
	e.TimeoutMs = min(e.TimeoutMs, knownEntry.TimeoutMs)
	if !hasProgress {
		e.ProgressRestarts = knownEntry.ProgressRestarts
	}
	return e
}

// Set stores a timeout that the user sets for one version of a client, or for all versions
// if the version is empty.
func (s *Store) Set(id clients.ID, t clients.Timeout) (Entry, error) {
	e := Entry{
		Name: cleanName(id.Name), Version: cleanName(id.Version), TimeoutMs: t.Limit.Milliseconds(), ProgressRestarts: t.ProgressRestarts,
		IsSetByUser: true, Since: time.Now().UTC(),
	}
	return e, s.change(func(entries view) {
		if e.Version == "" { // a timeout for all versions replaces the timeouts of single versions
			deleteClient(entries, e.key())
		}
		entries[e.key()] = e
	})
}

// Forget deletes the stored timeouts of a client, and returns the deleted timeouts. With
// an empty version, Forget deletes the timeouts of all versions.
func (s *Store) Forget(id clients.ID) ([]Entry, error) {
	removedView := view{}
	if err := s.change(func(entries view) { removedView = deleteClient(entries, normalizeClientID(id)) }); err != nil {
		return nil, err
	}
	return sortedEntries(removedView), nil
}

func deleteClient(entries view, key clients.ID) view {
	deletedView := view{}
	for k, e := range entries {
		if k.Name == key.Name && (key.Version == "" || k.Version == key.Version) {
			deletedView[k] = e
			delete(entries, k)
		}
	}
	return deletedView
}

func (s *Store) change(editContent func(view)) error {
	err := s.file.Change(func(document *statedoc.Plugins) error {
		entries := parseEntries(document)
		editContent(entries)
		removeOldestEntries(entries)
		document.TopLevel[clientsMember] = rawjson.Encode(sortedEntries(entries))
		return nil
	})
	if err == nil {
		s.file.NotifyListeners()
	}
	return err
}

// removeOldestEntries deletes learned timeouts before timeouts that the user has set.
func removeOldestEntries(entries view) {
	sortedList := sortedEntries(entries)
	slices.SortStableFunc(sortedList, func(a, b Entry) int {
		if a.IsSetByUser != b.IsSetByUser {
			if b.IsSetByUser {
				return -1
			}
			return 1
		}
		return a.Since.Compare(b.Since)
	})
	for _, e := range sortedList[:max(len(sortedList)-maxEntries, 0)] {
		delete(entries, e.key())
	}
}

// OnChange registers a function that runs after each change of a timeout.
func (s *Store) OnChange(onChange func()) { s.file.OnChange(onChange) }

// Problem returns why the file of timeouts cannot be read, or nil.
func (s *Store) Problem() error { return s.file.Current().Problem }

// Repair renames a damaged file of timeouts, so that the next change does not overwrite
// it.
func (s *Store) Repair() error { return s.file.Repair() }

// Watch checks the file of timeouts for changes once a second until ctx ends.
func (s *Store) Watch(ctx context.Context) { s.file.Watch(ctx) }
