package pluginlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/linefile"
	"opentabs/wire"
)

const (
	// keptEntries and keptBytes limit the entries of one plugin in memory.
	keptEntries = 1000
	keptBytes   = 2 << 20
	// keptPlugins is the maximum number of plugins with entries in memory. The
	// plugins that logged last are kept.
	keptPlugins = 64
	// waiting is how many entries may wait for one follower.
	waiting = 1000
	// incoming is the maximum number of additions whose secrets are not removed yet,
	// incomingBytes the approximate limit of their memory.
	incoming      = 256
	incomingBytes = 32 << 20
)

// The files of the log, below the state folder.
const (
	folder       = "logs"
	fileName     = "plugins.jsonl"
	fileBytes    = 5 << 20
	files        = 2
	pendingBytes = 4 << 20
)

// errClosed is the error of followers after the log was closed.
var errClosed = errors.New("the log of plugins was closed")

// Options configure a log. The zero value of each field means its default.
type Options struct {
	// Secrets returns texts to remove from every entry. Default: none.
	Secrets func() []string
	// Log receives errors. Default: errors are not logged.
	Log zerolog.Logger
}

// Log stores the entries of all plugins. Create a Log with Open, and end it with Close.
type Log struct {
	secrets *redactor
	lines   *linefile.Log
	done    chan struct{} // closed when all additions are stored

	mu        sync.Mutex // guards all fields below
	incoming  chan addition
	queued    int            // bytes in incoming
	lost      map[string]int // dropped entries, by plugin
	seq       uint64
	plugins   map[string]*kept
	followers map[*Follower]struct{}
	closed    bool
}

// kept are the last entries of one plugin, oldest first.
type kept struct {
	entries []Entry
	bytes   int
}

// Open opens the log below the state folder dir, which must exist.
func Open(dir string, o Options) *Log {
	dir = filepath.Join(dir, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		o.Log.Error().Err(err).Msg("the folder of the plugins' logs cannot be made")
	}
	l := &Log{
		incoming: make(chan addition, incoming), lost: map[string]int{}, done: make(chan struct{}),
		secrets: &redactor{Secrets: o.Secrets}, plugins: map[string]*kept{}, followers: map[*Follower]struct{}{},
		lines: linefile.Open(filepath.Join(dir, fileName), linefile.Options{
			Subject: "the log of plugins", FileBytes: fileBytes, Files: files, PendingBytes: pendingBytes, Log: o.Log,
			Dropped: func(n int) []byte {
				return Entry{Time: time.Now().UTC(), Level: wire.LogWarning, Message: "entries could not be written", Dropped: n}.fileLine()
			},
		}),
	}
	go func() {
		defer close(l.done)
		for a := range l.incoming {
			l.store(a)
		}
	}()
	return l
}

// addition is a group of entries that an adapter sent together.
type addition struct {
	browser string
	params  wire.PluginLogParams
	at      time.Time
	bytes   int
}

// Add queues the entries that an adapter logged in a tab of a browser. Add does not
// block: if the queue is full, Add drops and counts the entries.
func (l *Log) Add(browser string, p wire.PluginLogParams) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	p.Dropped += l.lost[p.Plugin]
	if a := (addition{browser, p, time.Now().UTC(), bytesOf(p)}); l.enqueue(a) {
		delete(l.lost, p.Plugin)
		return
	}
	if _, known := l.lost[p.Plugin]; known || len(l.lost) < keptPlugins {
		l.lost[p.Plugin] = p.Dropped + len(p.Entries)
	}
}

// enqueue adds an addition to the queue and reports whether there was room. The
// caller holds mu.
func (l *Log) enqueue(a addition) bool {
	if l.queued > 0 && l.queued+a.bytes > incomingBytes {
		return false
	}
	select {
	case l.incoming <- a:
		l.queued += a.bytes
		return true
	default:
		return false
	}
}

// bytesOf returns the approximate memory of an addition.
func bytesOf(p wire.PluginLogParams) int {
	n := 200
	for _, e := range p.Entries {
		n += 200 + len(e.Message) + len(e.Data)
	}
	return n
}

// store removes the secrets of an addition, stores its entries and sends them to the
// followers.
func (l *Log) store(a addition) {
	browser, p, now := a.browser, a.params, a.at
	entries := make([]Entry, 0, len(p.Entries))
	for _, sent := range p.Entries {
		entries = append(entries, newEntry(browser, p, sent, now, l.secrets))
	}
	if p.Dropped > 0 {
		if len(entries) == 0 {
			entries = append(entries, Entry{Time: now, Plugin: p.Plugin, Level: wire.LogWarning, Message: "entries were dropped", Browser: browser, Tab: p.TabID})
		}
		entries[0].Dropped = p.Dropped
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queued -= a.bytes
	for i := range entries {
		l.seq++
		entries[i].Seq = l.seq
		l.keepEntry(entries[i])
		l.lines.Write(entries[i].fileLine())
	}
	for f := range l.followers {
		f.push(entries)
	}
}

// keepEntry stores an entry in memory. The caller holds mu.
func (l *Log) keepEntry(e Entry) {
	k := l.plugins[e.Plugin]
	if k == nil {
		if len(l.plugins) >= keptPlugins {
			delete(l.plugins, l.quietestPlugin())
		}
		k = &kept{}
		l.plugins[e.Plugin] = k
	}
	k.entries = append(k.entries, e)
	k.bytes += e.approximateBytes()
	drop := 0
	for len(k.entries)-drop > keptEntries || k.bytes > keptBytes {
		k.bytes -= k.entries[drop].approximateBytes()
		drop++
	}
	k.entries = slices.Delete(k.entries, 0, drop)
}

// quietestPlugin returns the plugin that has not logged for the longest time. The caller
// holds mu.
func (l *Log) quietestPlugin() string {
	name, least := "", ^uint64(0)
	for plugin, k := range l.plugins {
		if last := k.entries[len(k.entries)-1].Seq; last < least {
			name, least = plugin, last
		}
	}
	return name
}

// Last returns the last entries in memory that f selects, oldest first; at most n,
// or all if n is 0.
func (l *Log) Last(f Filter, n int) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newestEntries(f, n)
}

func (l *Log) newestEntries(f Filter, n int) []Entry {
	list := []Entry{}
	for _, k := range l.plugins {
		for _, e := range k.entries {
			if f.Wants(e) {
				list = append(list, e)
			}
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return int(int64(a.Seq) - int64(b.Seq)) })
	return lastEntries(list, n)
}

// lastEntries returns the last n of list, or all if n is 0.
func lastEntries(list []Entry, n int) []Entry {
	if n > 0 && len(list) > n {
		return list[len(list)-n:]
	}
	return list
}

// Follow returns the last n entries that f selects (none if n is 0) and a follower
// of all later entries. Close the follower.
func (l *Log) Follow(f Filter, n int) ([]Entry, *Follower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	follower := &Follower{log: l, filter: f, wake: make(chan struct{}, 1)}
	if l.closed {
		follower.closed = true
		follower.wakeReader()
	} else {
		l.followers[follower] = struct{}{}
	}
	if n <= 0 {
		return nil, follower
	}
	return l.newestEntries(f, n), follower
}

// Close stores the pending entries and closes the log and its followers.
func (l *Log) Close() {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.closed = true
	close(l.incoming)
	l.mu.Unlock()
	<-l.done
	l.mu.Lock()
	for f := range l.followers {
		f.closed = true
		f.wakeReader()
	}
	clear(l.followers)
	l.mu.Unlock()
	l.lines.Close()
}

// Follower receives new entries. Follower is for one goroutine at a time.
type Follower struct {
	log    *Log
	filter Filter
	wake   chan struct{} // has a token when Next has work

	// Guarded by log.mu.
	entries []Entry
	missed  int
	closed  bool
}

// push adds new entries that the filter selects. The caller holds log.mu.
func (f *Follower) push(entries []Entry) {
	for _, e := range entries {
		if !f.filter.Wants(e) {
			continue
		}
		if len(f.entries) == waiting {
			f.missed++
			continue
		}
		f.entries = append(f.entries, e)
		f.wakeReader()
	}
}

func (f *Follower) wakeReader() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Next waits for new entries and returns them, and the number of entries that were
// lost after them because Next was called too late. The error is errClosed or ctx's.
func (f *Follower) Next(ctx context.Context) (entries []Entry, missed int, err error) {
	for {
		f.log.mu.Lock()
		entries, missed, closed := f.entries, f.missed, f.closed
		f.entries, f.missed = nil, 0
		f.log.mu.Unlock()
		if len(entries) > 0 || missed > 0 {
			return entries, missed, nil
		}
		if closed {
			return nil, 0, errClosed
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

// Close removes the follower from the log.
func (f *Follower) Close() {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	delete(f.log.followers, f)
	f.closed = true
	f.wakeReader()
}

// Read returns the last entries that f selects in the files below the state folder
// dir, oldest first: at most n, or all if n is 0. damaged is the number of lines that
// cannot be read.
func Read(dir string, f Filter, n int) (entries []Entry, damaged int, err error) {
	damaged, err = linefile.Read(filepath.Join(dir, folder, fileName), files, func(line []byte) bool {
		var e Entry
		if json.Unmarshal(line, &e) != nil {
			return false
		}
		if f.Wants(e) {
			entries = append(entries, e)
		}
		if n > 0 && len(entries) > 2*n { // drops old entries early, so that there is less garbage
			entries = slices.Clone(lastEntries(entries, n))
		}
		return true
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the log of plugins: %w", err)
	}
	return lastEntries(entries, n), damaged, nil
}
