//go:build unix

package audit

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A disk that takes nothing holds up nobody: what does not fit is dropped and
// counted.
func TestSlowDisk(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, fileName) // opening it waits for a reader
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	l := Open(dir, Options{PendingBytes: 1000})
	const records = 1000
	for range records {
		l.Write(Record{Kind: KindCall, Tool: "a__b"})
	}
	l.mu.Lock()
	pending := len(l.pending)
	l.mu.Unlock()
	if pending > 1000 {
		t.Errorf("%d bytes wait", pending)
	}
	reader, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	counted := make(chan [2]int)
	go func() {
		written, dropped := 0, 0
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			var r Record
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Errorf("%s: %v", lines.Bytes(), err)
			}
			if dropped += r.Dropped; r.Kind == KindCall {
				written++
			}
		}
		counted <- [2]int{written, dropped}
	}()
	l.Close()
	if n := <-counted; n[0] == 0 || n[1] == 0 || n[0]+n[1] != records {
		t.Errorf("%d were written, %d told as dropped", n[0], n[1])
	}
}
