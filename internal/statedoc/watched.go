package statedoc

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

// watchInterval is the time between two checks of [Watched.Watch].
const watchInterval = time.Second

// Watched is a state file that is read again when another process or an editor has
// changed the file. The type V is a view, which Watched computes once from each content
// of type T. Create a Watched with [NewWatched]. Watched is safe for concurrent use.
//
// Lock order: notifyLock, then readLock, because listeners may call Current. While mu
// is held, no lock is taken.
type Watched[T, V any] struct {
	file File[T]
	// view computes the view of a content; emptyView is the view of a file that is
	// missing or unreadable.
	view      func(T) V
	emptyView V
	// onReading receives the result of each reading of the file.
	onReading func(ReadResult[V])

	readLock sync.Mutex // held while the file is read
	latest   atomic.Pointer[ReadResult[V]]

	notifyLock sync.Mutex // held while listeners run
	mu         sync.Mutex // guards listeners
	listeners  []func()
}

// ReadResult is the result of reading a file once.
type ReadResult[V any] struct {
	info os.FileInfo // info is nil if the file was missing
	View V
	// Problem is the error of reading the file.
	Problem error
	// hasReadError is set if an I/O error made the file unreadable. After an I/O error,
	// each check reads the file again, because the file's attributes do not show when
	// the error is over.
	hasReadError bool
}

// NewWatched reads a file and returns its Watched. onReading receives the result of
// each reading of the file.
func NewWatched[T, V any](file File[T], view func(T) V, emptyView V, onReading func(ReadResult[V])) *Watched[T, V] {
	w := &Watched[T, V]{file: file, view: view, emptyView: emptyView, onReading: onReading}
	w.latest.Store(&ReadResult[V]{View: emptyView, hasReadError: true})
	w.refresh()
	return w
}

// Change edits the file and reads it again. After Change, the caller must call Notify.
func (w *Watched[T, V]) Change(edit func(T) error) error {
	if err := w.file.Change(edit); err != nil {
		return err
	}
	w.refresh()
	return nil
}

// Repair renames a damaged file and starts a new file.
func (w *Watched[T, V]) Repair() error {
	if r := w.Current(); !errors.As(r.Problem, new(*DamagedError)) {
		return nil
	}
	if err := w.file.Change(func(T) error { return nil }); err != nil {
		return err
	}
	w.check()
	return nil
}

// OnChange registers a listener for changes of the file. Listeners run one at a time
// after each change and must not change the file.
func (w *Watched[T, V]) OnChange(onChange func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listeners = append(w.listeners, onChange)
}

// Watch checks the file for changes until ctx ends.
func (w *Watched[T, V]) Watch(ctx context.Context) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.check()
		}
	}
}

// check reads the file if it has changed, and notifies the listeners.
func (w *Watched[T, V]) check() {
	if w.refresh() {
		w.Notify()
	}
}

// Notify runs the listeners for changes of the file.
func (w *Watched[T, V]) Notify() {
	w.notifyLock.Lock()
	defer w.notifyLock.Unlock()
	w.mu.Lock()
	listeners := slices.Clone(w.listeners)
	w.mu.Unlock()
	for _, onChange := range listeners {
		onChange()
	}
}

// Current returns the content of the file now. If the file has changed, listeners run
// in another goroutine, so that Current does not wait for them.
func (w *Watched[T, V]) Current() *ReadResult[V] {
	if w.refresh() {
		go w.Notify()
	}
	return w.latest.Load()
}

// Latest returns the content at the last check of the file, without a new check. Use
// Latest in code that runs shortly after Current, because a check is a system call.
func (w *Watched[T, V]) Latest() *ReadResult[V] { return w.latest.Load() }

// refresh reads the file if it has changed since the last reading, and reports whether
// the content may be different.
func (w *Watched[T, V]) refresh() bool {
	if w.isCurrent(w.latest.Load()) {
		return false
	}
	w.readLock.Lock()
	defer w.readLock.Unlock()
	// While this goroutine waited for readLock, another goroutine may have read the
	// file, perhaps before the latest change.
	lastReading := w.latest.Load()
	if w.isCurrent(lastReading) {
		return false
	}
	newReading := w.read()
	w.latest.Store(newReading)
	if lastReading.hasReadError && newReading.hasReadError && lastReading.Problem != nil && lastReading.Problem.Error() == newReading.Problem.Error() {
		return false
	}
	w.onReading(*newReading)
	return true
}

// isCurrent reports whether the file is unchanged since a reading.
func (w *Watched[T, V]) isCurrent(r *ReadResult[V]) bool {
	info, err := os.Stat(w.file.Path)
	if err != nil {
		info = nil
	}
	return !r.hasReadError && sameFile(r.info, info)
}

// read reads the file and its attributes.
func (w *Watched[T, V]) read() *ReadResult[V] {
	newReading := &ReadResult[V]{View: w.emptyView}
	f, err := os.Open(w.file.Path)
	if errors.Is(err, os.ErrNotExist) {
		return newReading
	}
	var text []byte
	if err == nil {
		defer f.Close()
		newReading.info, _ = f.Stat()
		text, err = io.ReadAll(f)
	}
	if err != nil {
		newReading.hasReadError, newReading.Problem = true, fmt.Errorf("read %s: %w", w.file.Subject, err)
		return newReading
	}
	content, err := w.file.Parse(text)
	if err != nil {
		newReading.Problem = fmt.Errorf("%s %w", w.file.Path, err)
		return newReading
	}
	newReading.View = w.view(content)
	return newReading
}

// sameFile reports whether a file has the same identity, time and size as before.
func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// Path returns the path of the file.
func (w *Watched[T, V]) Path() string { return w.file.Path }
