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
	"opentabs/internal/redact"
	"opentabs/wire"
)

const (
	// maxKeptEntries and maxKeptBytes limit the log entries of one plugin in memory.
	maxKeptEntries = 1000
	maxKeptBytes   = 2 << 20
	// If more than maxKeptPlugins plugins log, the log forgets the entries of the plugin that has not logged for the
	// longest time.
	maxKeptPlugins = 64
	// maxPendingEntries is the maximum number of log entries that wait for one subscriber.
	maxPendingEntries = 1000
	// maxAdditions and maxAdditionBytes limit the queued additions, which still contain secrets.
	maxAdditions     = 256
	maxAdditionBytes = 32 << 20
)

const (
	logFolder       = "logs"
	fileName        = "plugins.jsonl"
	maxFileBytes    = 5 << 20
	maxKeptFiles    = 2
	maxPendingBytes = 4 << 20
)

var errClosed = errors.New("the log of plugins was closed")

// Options configure a [Log]. The zero value of a field selects the field's default.
type Options struct {
	// Secrets returns the secret texts that the log removes from every log entry. By
	// default, the log removes nothing.
	Secrets func() []string
	// ResolveStack returns the stack frames of the author's code for a log entry of a
	// plugin. By default, log entries have no stack frames.
	ResolveStack func(plugin string, logEntry wire.LogEntry) []string
	// Log receives errors. By default, the log's errors are not reported.
	Log zerolog.Logger
}

// Log stores the log entries of all plugins. Create a Log with [Open], and close the Log
// with Close.
type Log struct {
	options  Options
	stateDir string
	secrets  *redact.Redactor
	lineLog  *linefile.Log
	done     chan struct{}

	mu               sync.Mutex // the mutex guards all fields below
	pendingAdditions chan pendingEntries
	queuedBytes      int // queuedBytes is the approximate memory size of the queued additions
	droppedEntries   map[string]int
	seq              uint64
	plugins          map[string]*pluginEntries
	subscribers      map[*Subscriber]struct{}
	isClosed         bool
}

// pluginEntries are the last log entries of one plugin, oldest first.
type pluginEntries struct {
	entries []Entry
	bytes   int
}

// Open opens the log in the state folder stateDir, which must exist.
func Open(stateDir string, o Options) *Log {
	dir := filepath.Join(stateDir, logFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		o.Log.Error().Err(err).Msg("the folder of the plugins' logs cannot be made")
	}
	l := &Log{
		options: o, stateDir: stateDir,
		pendingAdditions: make(chan pendingEntries, maxAdditions), droppedEntries: map[string]int{}, done: make(chan struct{}),
		secrets: &redact.Redactor{Secrets: o.Secrets}, plugins: map[string]*pluginEntries{}, subscribers: map[*Subscriber]struct{}{},
		lineLog: linefile.Open(filepath.Join(dir, fileName), linefile.Options{
			Subject: "the log of plugins", FileBytes: maxFileBytes, Files: maxKeptFiles, PendingBytes: maxPendingBytes, Log: o.Log,
			Dropped: func(n int) []byte {
				return Entry{Time: time.Now().UTC(), Level: wire.LogWarning, Message: "entries could not be written", Dropped: n}.encodeLine()
			},
		}),
	}
	go func() {
		defer close(l.done)
		for a := range l.pendingAdditions {
			l.store(a)
		}
	}()
	return l
}

// pendingEntries contains the log entries of one message from an adapter, which wait to
// be stored.
type pendingEntries struct {
	browser    string
	params     wire.PluginLogParams
	receivedAt time.Time
	bytes      int
}

// Add queues log entries that the adapter of a plugin sent from a tab. Add does not
// block: if the queue is full, Add drops and counts the log entries.
func (l *Log) Add(browser string, p wire.PluginLogParams) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isClosed {
		return
	}
	p.Dropped += l.droppedEntries[p.Plugin]
	if a := (pendingEntries{browser, p, time.Now().UTC(), approximateParamsBytes(p)}); l.enqueue(a) {
		delete(l.droppedEntries, p.Plugin)
		return
	}
	if _, hasDropped := l.droppedEntries[p.Plugin]; hasDropped || len(l.droppedEntries) < maxKeptPlugins {
		l.droppedEntries[p.Plugin] = p.Dropped + len(p.Entries)
	}
}

// The caller of enqueue has locked Log.mu.
func (l *Log) enqueue(a pendingEntries) bool {
	if l.queuedBytes > 0 && l.queuedBytes+a.bytes > maxAdditionBytes {
		return false
	}
	select {
	case l.pendingAdditions <- a:
		l.queuedBytes += a.bytes
		return true
	default:
		return false
	}
}

func approximateParamsBytes(p wire.PluginLogParams) int {
	n := 200
	for _, e := range p.Entries {
		n += 200 + len(e.Message) + len(e.Data) + len(e.Stack) + len(e.StackOrigin)
	}
	return n
}

func (l *Log) store(a pendingEntries) {
	browser, p, now := a.browser, a.params, a.receivedAt
	entries := make([]Entry, 0, len(p.Entries))
	for _, sentEntry := range p.Entries {
		entries = append(entries, newEntry(browser, p, sentEntry, now, l.options, l.secrets))
	}
	if p.Dropped > 0 {
		if len(entries) == 0 {
			entries = append(entries, Entry{Time: now, Plugin: p.Plugin, Level: wire.LogWarning, Message: "entries were dropped", Browser: browser, Tab: p.TabID})
		}
		entries[0].Dropped = p.Dropped
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queuedBytes -= a.bytes
	for i := range entries {
		l.seq++
		entries[i].Seq = l.seq
		l.keepEntry(entries[i])
		l.lineLog.Write(entries[i].encodeLine())
	}
	for f := range l.subscribers {
		f.push(entries)
	}
}

// The caller of keepEntry has locked Log.mu.
func (l *Log) keepEntry(e Entry) {
	k := l.plugins[e.Plugin]
	if k == nil {
		if len(l.plugins) >= maxKeptPlugins {
			delete(l.plugins, l.leastActivePlugin())
		}
		k = &pluginEntries{}
		l.plugins[e.Plugin] = k
	}
	k.entries = append(k.entries, e)
	k.bytes += e.approximateBytes()
	entriesToDrop := 0
	for len(k.entries)-entriesToDrop > maxKeptEntries || k.bytes > maxKeptBytes {
		k.bytes -= k.entries[entriesToDrop].approximateBytes()
		entriesToDrop++
	}
	k.entries = slices.Delete(k.entries, 0, entriesToDrop)
}

// The caller of leastActivePlugin has locked Log.mu.
func (l *Log) leastActivePlugin() string {
	name, oldestSeq := "", ^uint64(0)
	for plugin, k := range l.plugins {
		if lastSeq := k.entries[len(k.entries)-1].Seq; lastSeq < oldestSeq {
			name, oldestSeq = plugin, lastSeq
		}
	}
	return name
}

// LastEntries returns the last log entries in memory that f selects, oldest first. LastEntries returns
// at most n entries, or all entries if n is 0.
func (l *Log) LastEntries(f Filter, n int) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newestEntries(f, n)
}

func (l *Log) newestEntries(f Filter, n int) []Entry {
	entries := []Entry{}
	for _, k := range l.plugins {
		for _, e := range k.entries {
			if f.Matches(e) {
				entries = append(entries, e)
			}
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return int(int64(a.Seq) - int64(b.Seq)) })
	return lastEntries(entries, n)
}

func lastEntries(entries []Entry, n int) []Entry {
	if n > 0 && len(entries) > n {
		return entries[len(entries)-n:]
	}
	return entries
}

// Follow returns the last n log entries that f selects (none if n is 0) and a subscriber of
// all later entries. The caller must close the subscriber.
func (l *Log) Follow(f Filter, n int) ([]Entry, *Subscriber) {
	l.mu.Lock()
	defer l.mu.Unlock()
	subscriber := &Subscriber{log: l, filter: f, wake: make(chan struct{}, 1)}
	if l.isClosed {
		subscriber.isClosed = true
		subscriber.wakeReader()
	} else {
		l.subscribers[subscriber] = struct{}{}
	}
	if n <= 0 {
		return nil, subscriber
	}
	return l.newestEntries(f, n), subscriber
}

// Close stores the queued log entries and closes the log and its subscribers.
func (l *Log) Close() {
	l.mu.Lock()
	if l.isClosed {
		l.mu.Unlock()
		return
	}
	l.isClosed = true
	close(l.pendingAdditions)
	l.mu.Unlock()
	<-l.done
	l.mu.Lock()
	for f := range l.subscribers {
		f.isClosed = true
		f.wakeReader()
	}
	clear(l.subscribers)
	l.mu.Unlock()
	l.lineLog.Close()
}

// Subscriber receives the log entries that are added after it was created. Calls of a
// Subscriber's methods must not be concurrent.
type Subscriber struct {
	log    *Log
	filter Filter
	wake   chan struct{}

	// Log.mu guards the fields below.
	entries       []Entry
	missedEntries int
	isClosed      bool
}

// The caller of push has locked Log.mu.
func (f *Subscriber) push(entries []Entry) {
	for _, e := range entries {
		if !f.filter.Matches(e) {
			continue
		}
		if len(f.entries) == maxPendingEntries {
			f.missedEntries++
			continue
		}
		f.entries = append(f.entries, e)
		f.wakeReader()
	}
}

func (f *Subscriber) wakeReader() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Next blocks until new log entries are available, and returns the entries. The result
// missedEntries counts log entries that were lost because Next was called too late. Next
// returns errClosed if the log was closed, or the error of ctx if ctx has ended.
func (f *Subscriber) Next(ctx context.Context) (entries []Entry, missedEntries int, err error) {
	for {
		f.log.mu.Lock()
		entries, missedEntries, isClosed := f.entries, f.missedEntries, f.isClosed
		f.entries, f.missedEntries = nil, 0
		f.log.mu.Unlock()
		if len(entries) > 0 || missedEntries > 0 {
			return entries, missedEntries, nil
		}
		if isClosed {
			return nil, 0, errClosed
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

// Close removes the subscriber from the log.
func (f *Subscriber) Close() {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	delete(f.log.subscribers, f)
	f.isClosed = true
	f.wakeReader()
}

// Read reads the last n log entries that f selects from the log files in the state folder
// dir, oldest first. If n is 0, Read returns all entries. The result damagedLines is the
// number of lines that cannot be parsed.
func Read(dir string, f Filter, n int) (entries []Entry, damagedLines int, err error) {
	entries, damagedLines, err = linefile.Read(filepath.Join(dir, logFolder, fileName), maxKeptFiles, n, func(line []byte) (e Entry, isWanted bool, err error) {
		err = json.Unmarshal(line, &e)
		return e, err == nil && f.Matches(e), err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the log of plugins: %w", err)
	}
	return entries, damagedLines, nil
}
