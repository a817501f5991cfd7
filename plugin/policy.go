package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"opentabs/wire"
)

// permissionsFile is the name of the policy's file in the state folder.
const permissionsFile = "permissions.json"

// watchInterval is how often [Policy.Watch] looks at the file.
const watchInterval = time.Second

// PolicyOptions set a policy up. The zero value of each field means its default.
type PolicyOptions struct {
	// LockWait is how long a change waits for another process that is changing
	// the file. Default 10 s; after that the change fails.
	LockWait time.Duration
	// Warn takes a sentence for a person when a damaged file was put aside.
	// Default: nobody is told.
	Warn func(sentence string)
	// Record takes every change that was made, and every decision. It may not
	// block. Default: nobody is told.
	Record func(Change)
	// Log takes what is wrong with the file. Default: nothing is logged.
	Log zerolog.Logger
}

// Policy is what the person lets agents do: which plugins they have reviewed,
// and which tools run by themselves, after a question, or not at all. It stands
// in permissions.json in the state folder; what a person allowed for a session
// or for some time is in memory only.
//
// A plugin that is not in the file is not reviewed, and so is one whose content
// is not what was reviewed. What the file says is what holds: a change by
// another process or by hand counts from the next call on. If it cannot be read,
// nothing is reviewed.
//
// A Policy is safe for concurrent use, and against other processes that use the
// same folder. Its gates and hooks are those of [Policy.Gates], [Policy.Before]
// and [Policy.After].
type Policy struct {
	file   stateFile[*permissions]
	set    func() *Set
	opts   PolicyOptions
	meters meters
	grants grants

	reading sync.Mutex // held while the file is read
	latest  atomic.Pointer[reading]

	telling   sync.Mutex // held while listeners are told
	mu        sync.Mutex // guards listeners
	listeners []func()
}

// reading is what the file said when it was last read.
type reading struct {
	info  os.FileInfo // nil if it was not there
	rules *rules
	// problem says why it could not be read; unread that its text did not come,
	// which the file does not tell when it is over.
	problem error
	unread  bool
}

// Change is one thing that a person changed or decided.
type Change struct {
	// Kind is "review", "permission", "limit", "forget" or "decision".
	Kind   string
	Plugin string
	// Tool is empty for the plugin as a whole.
	Tool string
	// Old and New are the permission or the limit before and after.
	Old, New string
	// Hash is that of the content that was reviewed.
	Hash string
	// CallID, Allow, Scope and For are those of a decision.
	CallID string
	Allow  bool
	Scope  wire.Scope
	For    time.Duration
	// By is the surface.
	By string
}

// State is how things stand with a plugin.
type State struct {
	Standing
	// Reviewed says that what is there now was reviewed.
	Reviewed bool
	// Effective is the plugin's permission: off if it is not reviewed.
	Effective wire.Permission
}

// NewPolicy returns the policy in the folder dir, which need not exist yet, for
// the plugins that set returns.
func NewPolicy(dir string, set func() *Set, o PolicyOptions) *Policy {
	if o.LockWait == 0 {
		o.LockWait = 10 * time.Second
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.Record == nil {
		o.Record = func(Change) {}
	}
	p := &Policy{set: set, opts: o, file: stateFile[*permissions]{
		path: filepath.Join(dir, permissionsFile), what: "the file of permissions",
		lost: "nothing is allowed any more, so review your plugins again",
		wait: o.LockWait, warn: o.Warn, empty: newPermissions, parse: parsePermissions, encode: (*permissions).encode,
	}}
	p.latest.Store(&reading{rules: &rules{}, unread: true})
	p.refresh()
	return p
}

// ContentHash is the SHA-256, in hex, of everything that a review is about: the
// adapter and the descriptions.
func (p *Plugin) ContentHash() string {
	sum := sha256.Sum256([]byte(p.Hash + "\n" + p.ManifestHash))
	return hex.EncodeToString(sum[:])
}

// Path returns the path of the policy's file.
func (p *Policy) Path() string { return p.file.path }

// Mend puts a damaged file aside, so that what a person kept in it is not lost
// to the next change.
func (p *Policy) Mend() error {
	if r := p.current(); !errors.As(r.problem, new(*corruptError)) {
		return nil
	}
	if err := p.file.change(func(*permissions) error { return nil }); err != nil {
		return err
	}
	p.notice()
	return nil
}

// OnChange calls changed after each change. One at a time; it may not change the
// policy.
func (p *Policy) OnChange(changed func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listeners = append(p.listeners, changed)
}

// Watch notices changes by other processes and by hand until ctx ends, so that
// surfaces show them also while there are no calls.
func (p *Policy) Watch(ctx context.Context) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.notice()
		}
	}
}

// notice reads the file if it has changed, and tells the listeners.
func (p *Policy) notice() {
	if p.refresh() {
		p.tell()
	}
}

// tell calls the listeners.
func (p *Policy) tell() {
	p.telling.Lock()
	defer p.telling.Unlock()
	p.mu.Lock()
	listeners := slices.Clone(p.listeners)
	p.mu.Unlock()
	for _, changed := range listeners {
		changed()
	}
}

// current returns what the file says now. Listeners learn of a change on a
// goroutine of their own, so that no call waits for them.
func (p *Policy) current() *reading {
	if p.refresh() {
		go p.tell()
	}
	return p.latest.Load()
}

// refresh reads the file if it is not the one that was read last, and reports
// whether anything may have changed.
func (p *Policy) refresh() bool {
	last := p.latest.Load()
	info, err := os.Stat(p.file.path)
	if err != nil {
		info = nil
	}
	if !last.unread && sameFile(last.info, info) {
		return false
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	if p.latest.Load() != last {
		return false // another goroutine was quicker
	}
	next := p.read()
	p.latest.Store(next)
	if last.unread && next.unread && last.problem != nil && last.problem.Error() == next.problem.Error() {
		return false
	}
	if next.problem != nil {
		p.opts.Log.Error().Err(next.problem).Msg("the permissions cannot be read, so no tool runs")
	}
	for _, problem := range next.rules.problems {
		p.opts.Log.Error().Str("file", p.file.path).Msg(problem)
	}
	return true
}

// read reads the file, and with it which file it is.
func (p *Policy) read() *reading {
	next := &reading{rules: &rules{}}
	f, err := os.Open(p.file.path)
	if errors.Is(err, os.ErrNotExist) {
		return next
	}
	var text []byte
	if err == nil {
		defer f.Close()
		next.info, _ = f.Stat()
		text, err = io.ReadAll(f)
	}
	if err != nil {
		next.unread, next.problem = true, fmt.Errorf("read the file of permissions: %w", err)
		return next
	}
	doc, err := parsePermissions(text)
	if err != nil {
		next.problem = fmt.Errorf("%s %w", p.file.path, err)
		return next
	}
	next.rules = doc.rules()
	return next
}

// sameFile reports whether nothing has changed between two looks at a file.
func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// Problems says what in the file could not be read; what that is about is off.
func (p *Policy) Problems() []string {
	r := p.current()
	if r.problem != nil {
		return []string{r.problem.Error()}
	}
	return r.rules.problems
}

// State returns how things stand with a plugin, which need not be there.
func (p *Policy) State(name string) State {
	one, _ := p.set().Plugin(name)
	return p.stateOf(name, one)
}

func (p *Policy) stateOf(name string, one *Plugin) State {
	s := State{Standing: p.current().rules.plugins[name], Effective: wire.PermissionOff}
	s.Reviewed = one != nil && s.Review != nil && s.Review.Hash == one.ContentHash()
	if s.Reviewed && s.Permission != "" {
		s.Effective = s.Permission
	}
	return s
}

// Tool returns the permission that holds for a tool of the plugin.
func (s State) Tool(name string) wire.Permission {
	if !s.Reviewed {
		return wire.PermissionOff
	}
	if own := s.Tools[name].Permission; own != "" {
		return own
	}
	return s.Effective
}

// Runs reports whether any tool of the plugin may run, so that pages should have
// its adapter.
func (p *Policy) Runs(one *Plugin) bool {
	s := p.stateOf(one.Name, one)
	return s.Effective != wire.PermissionOff || slices.ContainsFunc(one.Tools, func(t *Tool) bool {
		return s.Tool(t.Name) != wire.PermissionOff
	})
}
