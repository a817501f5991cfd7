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

const watchInterval = time.Second

// Watched is a state file whose content is kept in memory. When another process or an
// editor has changed the file, Watched reads the file again. The type parameter T is the
// Go type of the file's decoded content. The type parameter V is the type of the view, a
// value that Watched computes once from each new content. Create a Watched with
// [NewWatched]. A Watched is safe for concurrent use.
//
// A goroutine that needs notifyLock and readLock must lock notifyLock first, because
// listeners can call Current. The mutex mu must be locked last.
type Watched[T, V any] struct {
	file      File[T]
	view      func(T) V
	emptyView V
	onRead    func(ReadResult[V])

	readLock sync.Mutex // readLock is locked while the file is read
	latest   atomic.Pointer[ReadResult[V]]

	notifyLock sync.Mutex // notifyLock is locked while listeners run
	mu         sync.Mutex // the mutex guards the field listeners
	listeners  []func()
}

// ReadResult is the result of reading the file of a [Watched] once.
type ReadResult[V any] struct {
	fileInfo os.FileInfo
	View     V
	// Problem is the reason why the file could not be read or parsed; nil if both succeeded. If the file cannot be
	// read, View is the result for an empty file.
	Problem error
	// After an I/O error, each check reads the file again, because the file's time and size do not show when the error
	// has ended.
	hasReadError bool
}

// NewWatched reads a file and returns its Watched. NewWatched calls the function onRead with the result of each read
// of the file.
func NewWatched[T, V any](file File[T], view func(T) V, emptyView V, onRead func(ReadResult[V])) *Watched[T, V] {
	w := &Watched[T, V]{file: file, view: view, emptyView: emptyView, onRead: onRead}
	w.latest.Store(&ReadResult[V]{View: emptyView, hasReadError: true})
	w.readIfChanged()
	return w
}

// Change edits the file as [File.Change] does, and then reads the new content. After a call of Change, the caller must
// call NotifyListeners, which runs the listeners.
func (w *Watched[T, V]) Change(editContent func(T) error) error {
	if err := w.file.Change(editContent); err != nil {
		return err
	}
	w.readIfChanged()
	return nil
}

// If the file is damaged, Repair renames it and writes an empty file. If the file is not
// damaged, Repair does nothing.
func (w *Watched[T, V]) Repair() error {
	if r := w.Current(); !errors.As(r.Problem, new(*DamagedError)) {
		return nil
	}
	if err := w.file.Change(func(T) error { return nil }); err != nil {
		return err
	}
	w.checkForChanges()
	return nil
}

// OnChange registers a function that runs each time the file has changed. Functions that
// are registered with OnChange run one at a time and must not change the file.
func (w *Watched[T, V]) OnChange(onChange func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listeners = append(w.listeners, onChange)
}

// Watch checks the file for changes once a second until ctx ends.
func (w *Watched[T, V]) Watch(ctx context.Context) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.checkForChanges()
		}
	}
}

func (w *Watched[T, V]) checkForChanges() {
	if w.readIfChanged() {
		w.NotifyListeners()
	}
}

// NotifyListeners calls all listeners of the file, one after another.
func (w *Watched[T, V]) NotifyListeners() {
	w.notifyLock.Lock()
	defer w.notifyLock.Unlock()
	w.mu.Lock()
	listeners := slices.Clone(w.listeners)
	w.mu.Unlock()
	for _, onChange := range listeners {
		onChange()
	}
}

// Current checks the file for changes and returns its current content. After a change of
// the file, Current runs the listeners in another goroutine and does not wait for them.
func (w *Watched[T, V]) Current() *ReadResult[V] {
	if w.readIfChanged() {
		go w.NotifyListeners()
	}
	return w.latest.Load()
}

// Latest returns the content that was last read, without checking the file for changes.
// Use Latest shortly after a call of Current, or where the system call that checks the
// file is too slow.
func (w *Watched[T, V]) Latest() *ReadResult[V] { return w.latest.Load() }

func (w *Watched[T, V]) readIfChanged() bool {
	if w.isCurrent(w.latest.Load()) {
		return false
	}
	w.readLock.Lock()
	defer w.readLock.Unlock()
	// Another goroutine can read the file while this goroutine waits for readLock, so the check is repeated.
	lastReading := w.latest.Load()
	if w.isCurrent(lastReading) {
		return false
	}
	newReading := w.read()
	w.latest.Store(newReading)
	if lastReading.hasReadError && newReading.hasReadError && lastReading.Problem != nil && lastReading.Problem.Error() == newReading.Problem.Error() {
		return false
	}
	w.onRead(*newReading)
	return true
}

func (w *Watched[T, V]) isCurrent(r *ReadResult[V]) bool {
	fileInfo, err := os.Stat(w.file.Path)
	if err != nil {
		fileInfo = nil
	}
	return !r.hasReadError && isSameFile(r.fileInfo, fileInfo)
}

func (w *Watched[T, V]) read() *ReadResult[V] {
	newReading := &ReadResult[V]{View: w.emptyView}
	f, err := os.Open(w.file.Path)
	if errors.Is(err, os.ErrNotExist) {
		return newReading
	}
	var documentText []byte
	if err == nil {
		defer f.Close()
		newReading.fileInfo, _ = f.Stat()
		documentText, err = io.ReadAll(f)
	}
	if err != nil {
		newReading.hasReadError, newReading.Problem = true, fmt.Errorf("read %s: %w", w.file.Subject, err)
		return newReading
	}
	content, err := w.file.Parse(documentText)
	if err != nil {
		newReading.Problem = fmt.Errorf("%s %w", w.file.Path, err)
		return newReading
	}
	newReading.View = w.view(content)
	return newReading
}

func isSameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// Path returns the path of the watched file.
func (w *Watched[T, V]) Path() string { return w.file.Path }
