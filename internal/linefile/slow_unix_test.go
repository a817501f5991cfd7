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
func TestSlowDisk(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "lines") // the log file is a named pipe, so opening it blocks until a reader opens it
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	l := Open(pipe, testOptions(Options{PendingBytes: 1000}))
	const allLines = 1000
	for range allLines {
		l.Write([]byte("a line\n"))
	}
	l.mu.Lock()
	pendingLines := len(l.pending)
	l.mu.Unlock()
	if pendingLines > 1000 {
		t.Errorf("%d bytes are in the write buffer", pendingLines)
	}
	reader, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	counts := make(chan [2]int)
	go func() {
		writtenLines, droppedLines := 0, 0
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			n, isReport := 0, false
			if _, err := fmt.Sscanf(lines.Text(), "dropped %d", &n); err == nil {
				isReport = true
			}
			if droppedLines += n; !isReport {
				writtenLines++
			}
		}
		counts <- [2]int{writtenLines, droppedLines}
	}()
	l.Close()
	if n := <-counts; n[0] == 0 || n[1] == 0 || n[0]+n[1] != allLines {
		t.Errorf("%d lines were written, %d lines were reported as dropped", n[0], n[1])
	}
}
