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
		writeContent := func(documentText string) {
			if err := statefile.Write(path, []byte(documentText)); err != nil {
				t.Fatal(err)
			}
		}
		writeContent("first")
		isReading, continueReading := make(chan struct{}), make(chan struct{})
		file := File[string]{Path: path, Subject: "the file", Parse: func(documentText []byte) (string, error) {
			if string(documentText) == "second" {
				close(isReading)
				<-continueReading
			}
			return string(documentText), nil
		}}
		w := NewWatched(file, func(documentText string) string { return documentText }, "", func(ReadResult[string]) {})
		writeContent("second")
		var readers sync.WaitGroup
		readers.Go(func() { w.Current() })
		<-isReading
		writeContent("the third")
		var readersStarted sync.WaitGroup
		for range 100 {
			readersStarted.Add(1)
			readers.Go(func() {
				readersStarted.Done()
				if documentText := w.Current().View; documentText != "the third" {
					t.Errorf("Current after the last change = %q; want %q", documentText, "the third")
				}
			})
		}
		readersStarted.Wait()
		close(continueReading)
		readers.Wait()
	}
}
