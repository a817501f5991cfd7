package statedoc

import (
	"path/filepath"
	"sync"
	"testing"

	"opentabs/internal/statefile"
)

func TestWatchedReturnsCurrentContent(t *testing.T) {
	for range 20 {
		path := filepath.Join(t.TempDir(), "file")
		write := func(text string) {
			if err := statefile.Write(path, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		write("first")
		isReading, continueReading := make(chan struct{}), make(chan struct{})
		file := File[string]{Path: path, Subject: "the file", Parse: func(text []byte) (string, error) {
			if string(text) == "second" {
				close(isReading)
				<-continueReading
			}
			return string(text), nil
		}}
		w := NewWatched(file, func(text string) string { return text }, "", func(ReadResult[string]) {})
		write("second")
		var readers sync.WaitGroup
		readers.Go(func() { w.Current() })
		<-isReading
		write("third")
		var readersStarted sync.WaitGroup
		for range 100 {
			readersStarted.Add(1)
			readers.Go(func() {
				readersStarted.Done()
				if text := w.Current().View; text != "third" {
					t.Errorf("read %q after the change to third; want %q", text, "third")
				}
			})
		}
		readersStarted.Wait()
		close(continueReading)
		readers.Wait()
	}
}
