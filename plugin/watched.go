package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// watchInterval is how often a watched file is looked at while nobody asks.
const watchInterval = time.Second

// watched is a state file whose newest content is at hand at all times: what
// another process or a hand changes counts from the next look on. V is what is
// looked at, made once of each content T. Make one with newWatched; it is safe
// for concurrent use.
type watched[T, V any] struct {
	file stateFile[T]
	// view makes what is looked at; nothing stands for a file that is not there
	// or can't be read.
	view    func(T) V
	nothing V
	// noticed is told of each new reading.
	noticed func(reading[V])

	reading sync.Mutex // held while the file is read
	latest  atomic.Pointer[reading[V]]

	telling   sync.Mutex // held while listeners are told
	mu        sync.Mutex // guards listeners
	listeners []func()
}

// reading is what a file said when it was last read.
type reading[V any] struct {
	info os.FileInfo // nil if it was not there
	view V
	// problem says why it could not be read; unread that its text did not come,
	// which the file does not tell when it is over.
	problem error
	unread  bool
}

func newWatched[T, V any](file stateFile[T], view func(T) V, nothing V, noticed func(reading[V])) *watched[T, V] {
	w := &watched[T, V]{file: file, view: view, nothing: nothing, noticed: noticed}
	w.latest.Store(&reading[V]{view: nothing, unread: true})
	w.refresh()
	return w
}

// change edits the file and reads it again. The caller tells the listeners.
func (w *watched[T, V]) change(edit func(T) error) error {
	if err := w.file.change(edit); err != nil {
		return err
	}
	w.refresh()
	return nil
}

// mend puts a damaged file aside and begins a new one.
func (w *watched[T, V]) mend() error {
	if r := w.current(); !errors.As(r.problem, new(*corruptError)) {
		return nil
	}
	if err := w.file.change(func(T) error { return nil }); err != nil {
		return err
	}
	w.notice()
	return nil
}

// onChange calls changed after each change, one at a time; it may not change the
// file.
func (w *watched[T, V]) onChange(changed func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listeners = append(w.listeners, changed)
}

// watch looks at the file again and again until ctx ends.
func (w *watched[T, V]) watch(ctx context.Context) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.notice()
		}
	}
}

// notice reads the file if it has changed, and tells the listeners.
func (w *watched[T, V]) notice() {
	if w.refresh() {
		w.tell()
	}
}

// tell calls the listeners.
func (w *watched[T, V]) tell() {
	w.telling.Lock()
	defer w.telling.Unlock()
	w.mu.Lock()
	listeners := slices.Clone(w.listeners)
	w.mu.Unlock()
	for _, changed := range listeners {
		changed()
	}
}

// current returns what the file says now. Listeners learn of a change on a
// goroutine of their own, so that no call waits for them.
func (w *watched[T, V]) current() *reading[V] {
	if w.refresh() {
		go w.tell()
	}
	return w.latest.Load()
}

// refresh reads the file if it is not the one that was read last, and reports
// whether anything may have changed.
func (w *watched[T, V]) refresh() bool {
	if w.isCurrent(w.latest.Load()) {
		return false
	}
	w.reading.Lock()
	defer w.reading.Unlock()
	// What another goroutine has read meanwhile may be older than the change that
	// was seen here.
	last := w.latest.Load()
	if w.isCurrent(last) {
		return false
	}
	next := w.read()
	w.latest.Store(next)
	if last.unread && next.unread && last.problem != nil && last.problem.Error() == next.problem.Error() {
		return false
	}
	w.noticed(*next)
	return true
}

// isCurrent reports whether the file is still the one that was read.
func (w *watched[T, V]) isCurrent(r *reading[V]) bool {
	info, err := os.Stat(w.file.path)
	if err != nil {
		info = nil
	}
	return !r.unread && sameFile(r.info, info)
}

// read reads the file, and with it which file it is.
func (w *watched[T, V]) read() *reading[V] {
	next := &reading[V]{view: w.nothing}
	f, err := os.Open(w.file.path)
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
		next.unread, next.problem = true, fmt.Errorf("read %s: %w", w.file.what, err)
		return next
	}
	content, err := w.file.parse(text)
	if err != nil {
		next.problem = fmt.Errorf("%s %w", w.file.path, err)
		return next
	}
	next.view = w.view(content)
	return next
}

// sameFile reports whether nothing has changed between two looks at a file.
func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
