package statedoc

import (
	"path/filepath"
	"sync"
	"testing"

	"opentabs/internal/statefile"
)

// A read after a change returns the change, even while another goroutine reads the
// earlier content.
func TestWatchedReturnsCurrentContent(t *testing.T) {
	for range 20 {
		path := filepath.Join(t.TempDir(), "file")
		write := func(text string) {
			if err := statefile.Write(path, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		write("first")
		inside, goOn := make(chan struct{}), make(chan struct{})
		file := File[string]{Path: path, What: "the file", Parse: func(text []byte) (string, error) {
			if string(text) == "second" {
				close(inside)
				<-goOn
			}
			return string(text), nil
		}}
		w := NewWatched(file, func(text string) string { return text }, "", func(Reading[string]) {})
		write("second")
		var looks sync.WaitGroup
		looks.Go(func() { w.Current() })
		<-inside
		write("third")
		var begun sync.WaitGroup
		for range 100 {
			begun.Add(1)
			looks.Go(func() {
				begun.Done()
				if text := w.Current().View; text != "third" {
					t.Errorf("read %q after the change to third", text)
				}
			})
		}
		begun.Wait() // most of them wait for the goroutine that reads
		close(goOn)
		looks.Wait()
	}
}
