//go:build unix

package linefile

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// While the disk blocks, Write does not block, and drops and counts lines beyond the queue's limit.
func TestSlowDiskDropsLines(t *testing.T) {
	dir := t.TempDir()
	namedPipe := filepath.Join(dir, "lines") // the log file is a named pipe, so opening it blocks until a reader opens it
	if err := syscall.Mkfifo(namedPipe, 0o600); err != nil {
		t.Fatal(err)
	}
	l := Open(namedPipe, testOptions(Options{PendingBytes: 1000}))
	const allLines = 1000
	for range allLines {
		l.Write([]byte("a line\n"))
	}
	l.mu.Lock()
	pendingLines := len(l.pendingBuffer)
	l.mu.Unlock()
	if pendingLines > 1000 {
		t.Errorf("the queue contains %d bytes, want at most 1000", pendingLines)
	}
	reader, err := os.Open(namedPipe)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	counts := make(chan [2]int)
	go func() {
		writtenLines, droppedLines := 0, 0
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			n, isDropReport := 0, false
			if _, err := fmt.Sscanf(lines.Text(), "dropped %d", &n); err == nil {
				isDropReport = true
			}
			if droppedLines += n; !isDropReport {
				writtenLines++
			}
		}
		counts <- [2]int{writtenLines, droppedLines}
	}()
	l.Close()
	if n := <-counts; n[0] == 0 || n[1] == 0 || n[0]+n[1] != allLines {
		t.Errorf("%d lines were written, %d lines were reported as dropped; want both above 0, and all lines in total", n[0], n[1])
	}
}
