package linefile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

const testFiles = 5

func testOptions(o Options) Options {
	o.Subject, o.Dropped = "the record", func(n int) []byte { return fmt.Appendf(nil, "dropped %d\n", n) }
	if o.FileBytes == 0 {
		o.FileBytes = 1 << 20
	}
	if o.Files == 0 {
		o.Files = testFiles
	}
	if o.PendingBytes == 0 {
		o.PendingBytes = 1 << 20
	}
	return o
}

func readLog(t *testing.T, path string) []string {
	t.Helper()
	lines, damagedLines, err := Read(path, testFiles, 0, func(line []byte) (string, bool, error) { return string(line), true, nil })
	if err != nil || damagedLines != 0 {
		t.Fatalf("the log has %d damaged lines, error %v; want 0", damagedLines, err)
	}
	return lines
}

func TestReadReturnsWrittenLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	l := Open(path, testOptions(Options{}))
	l.Write([]byte("one\n"))
	l.Write([]byte("two\n"))
	l.Close()
	l.Write([]byte("three\n"))
	if got := strings.Join(readLog(t, path), " "); got != "one two" {
		t.Errorf("the log has the lines %q, want one and two", got)
	}
	lastLines, _, err := Read(path, testFiles, 1, func(line []byte) (string, bool, error) { return string(line), true, nil })
	if err != nil || !slices.Equal(lastLines, []string{"two"}) {
		t.Errorf("the last line is %q, want two; error %v", lastLines, err)
	}
	if fileInfo, err := os.Stat(path); err != nil || fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("log file: %v, error %v; want the mode 0600", fileInfo, err)
	}
}

// A log keeps five files, none exceeds its size limit, and each rotation removes the
// oldest file.
func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	const size = 2000
	for n := range 100 {
		l := Open(path, testOptions(Options{FileBytes: size}))
		l.Write(fmt.Appendf(nil, "%d %s\n", n, strings.Repeat("x", 150)))
		l.Close()
	}
	keptFiles, err := filepath.Glob(path + "*")
	if err != nil || len(keptFiles) != testFiles {
		t.Fatalf("log files = %v, error %v; want five files", keptFiles, err)
	}
	for _, file := range keptFiles {
		if fileInfo, err := os.Stat(file); err != nil || fileInfo.Size() > size || fileInfo.Size() < size/2 && file != path {
			t.Errorf("log file %s: %v, error %v; want at most the size limit, and at least half of it unless it is the newest", file, fileInfo, err)
		}
	}
	lines := readLog(t, path)
	for i, line := range lines {
		if want := fmt.Sprint(100-len(lines)+i) + " "; !strings.HasPrefix(line, want) {
			t.Fatalf("line %d of the log begins with %.10q, want %s", i, line, want)
		}
	}
	if len(lines) < 40 {
		t.Errorf("the log files contain %d lines, want at least 40", len(lines))
	}
}

func TestRotationOfSingleFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	o := testOptions(Options{FileBytes: 300, Files: 1})
	l := Open(path, o)
	for n := range 20 {
		l.Write(fmt.Appendf(nil, "%d %s\n", n, strings.Repeat("x", 80)))
	}
	l.Close()
	l = Open(path, o)
	l.Write([]byte("last\n"))
	l.Close()
	if lines := readLog(t, path); len(lines) == 0 || len(lines) > 4 || lines[len(lines)-1] != "last" {
		t.Errorf("log of one file: %d lines, want 1 to 4 lines that end with \"last\"", len(lines))
	}
}

// When a missing log folder has been created, the first line of the log file reports the number of dropped lines.
func TestFailedWritesAreLogged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	var logOutput bytes.Buffer
	l := Open(filepath.Join(dir, "lines"), testOptions(Options{Log: zerolog.New(&logOutput)}))
	for range 10 {
		l.Write([]byte("before\n"))
	}
	waitUntilDropped(l, 10)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.Write([]byte("after\n"))
	l.Close()
	if got := strings.Join(readLog(t, filepath.Join(dir, "lines")), ", "); got != "dropped 10, after" {
		t.Errorf("lines of the log = %s; want %q", got, "dropped 10, after")
	}
	if n := strings.Count(logOutput.String(), "the record cannot be written"); n != 1 {
		t.Errorf("the log reported the failed write %d times: %s; want 1", n, logOutput.String())
	}
}

func waitUntilDropped(l *Log, want int) {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for range ticker.C {
		l.mu.Lock()
		droppedBefore := l.droppedLines
		l.mu.Unlock()
		if droppedBefore >= want {
			return
		}
	}
}

func TestReadCountsDamagedLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	logContent := "one\nbad\n\n" + strings.Repeat("x", 3<<20) + "\ntwo"
	if err := os.WriteFile(path, []byte(logContent), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, damagedLines, err := Read(path, testFiles, 0, func(line []byte) (string, bool, error) {
		if string(line) == "bad" {
			return "", true, errors.New("the line is damaged")
		}
		return string(line), true, nil
	})
	if err != nil || damagedLines != 2 || strings.Join(lines, " ") != "one two" {
		t.Errorf("Read returned %q with %d damaged lines and error %v; want one and two with 2 damaged lines", lines, damagedLines, err)
	}
}

// TestFrequentLinesShareAWrite checks the log file at chosen times. A write of a running log is
// complete when synctest.Wait returns, because the write does not block durably.
func TestFrequentLinesShareAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "lines")
		longLine := []byte(strings.Repeat("x", 600) + "\n")
		l := Open(path, testOptions(Options{PendingBytes: 1000}))
		checkLines := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			if got := readLog(t, path); !slices.Equal(got, want) {
				t.Errorf("%s, the log contains the lines %q; want %q", when, got, want)
			}
		}
		l.Write([]byte("first\n"))
		checkLines("after the first line", "first")
		l.Write([]byte("second\n"))
		l.Write([]byte("third\n"))
		checkLines("before the write interval has passed", "first")
		time.Sleep(writeInterval)
		checkLines("after the write interval", "first", "second", "third")
		time.Sleep(10 * writeInterval)
		l.Write([]byte("fourth\n"))
		checkLines("after a pause", "first", "second", "third", "fourth")
		l.Write([]byte("fifth\n"))
		checkLines("while the queue is less than half full", "first", "second", "third", "fourth")
		l.Write(longLine)
		checkLines("while the queue is half full", "first", "second", "third", "fourth", "fifth", strings.TrimSpace(string(longLine)))
		l.Write([]byte("sixth\n"))
		closedAt := time.Now()
		l.Close()
		checkLines("after Close", "first", "second", "third", "fourth", "fifth", strings.TrimSpace(string(longLine)), "sixth")
		if waited := time.Since(closedAt); waited != 0 {
			t.Errorf("Close waited %v; want no delay", waited)
		}
	})
}

func TestConcurrentWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	logs := []*Log{Open(path, testOptions(Options{})), Open(path, testOptions(Options{}))}
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			for range 50 {
				logs[n%2].Write([]byte("a whole line\n"))
			}
		})
	}
	wg.Wait()
	for _, l := range logs {
		l.Close()
	}
	lines := readLog(t, path)
	for _, line := range lines {
		if line != "a whole line" {
			t.Fatalf("line of the log = %q; want %q", line, "a whole line")
		}
	}
	if len(lines) != 1000 {
		t.Errorf("the log contains %d lines; want 1000", len(lines))
	}
}
