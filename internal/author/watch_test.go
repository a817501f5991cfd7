package author

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func writePluginFile(t testing.TB, dir, name, fileContent string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(fileContent), 0o644); err != nil {
		t.Fatal(err)
	}
}

func backdateFile(t testing.TB, dir, name string) {
	t.Helper()
	oldTime := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), oldTime, oldTime); err != nil {
		t.Fatal(err)
	}
}

func scanFolder(t testing.TB, dir string) snapshot {
	t.Helper()
	files, _, err := scanFiles(dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestScanFindsSourceFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"package.json", "src/a.ts", "src/b.ts", "src/gone.ts"} {
		writePluginFile(t, dir, name, "1")
		backdateFile(t, dir, name)
	}
	snapshotBefore := scanFolder(t, dir)
	if got := scanFolder(t, dir).changedFilesSince(snapshotBefore); len(got) > 0 {
		t.Errorf("two scans of unchanged files: changed files = %q; want none", got)
	}
	for _, name := range []string{"dist/adapter.iife.js", "node_modules/x/i.js", "src/node_modules/y.js", "build.log", "a.tgz", ".git/index", ".opentabs/types/a.ts"} {
		writePluginFile(t, dir, name, "1")
	}
	if got := scanFolder(t, dir).changedFilesSince(snapshotBefore); len(got) > 0 {
		t.Errorf("new files that are not source files: changed files = %q; want none", got)
	}
	writePluginFile(t, dir, "src/a.ts", "2")
	writePluginFile(t, dir, "icon.svg", "<svg/>")
	if err := os.Remove(filepath.Join(dir, "src", "gone.ts")); err != nil {
		t.Fatal(err)
	}
	if got, want := scanFolder(t, dir).changedFilesSince(snapshotBefore), []string{"icon.svg", "src/a.ts", "src/gone.ts"}; !slices.Equal(got, want) {
		t.Errorf("changed files = %q, want %q", got, want)
	}
}

// A file that is written again right after a scan counts as changed, even with equal size and time.
func TestScanHashesRecentFiles(t *testing.T) {
	for _, content := range []string{"1", "2"} {
		dir := t.TempDir()
		writePluginFile(t, dir, "src/a.ts", "1")
		backdateFile(t, dir, "src/a.ts")
		firstSnapshot, _, err := scanFiles(dir, nil, recentFiles{"src/a.ts": true})
		if err != nil {
			t.Fatal(err)
		}
		fileInfo, err := os.Stat(filepath.Join(dir, "src", "a.ts"))
		if err != nil {
			t.Fatal(err)
		}
		writePluginFile(t, dir, "src/a.ts", content)
		if err := os.Chtimes(filepath.Join(dir, "src", "a.ts"), fileInfo.ModTime(), fileInfo.ModTime()); err != nil {
			t.Fatal(err)
		}
		secondSnapshot, newRecentFiles, err := scanFiles(dir, firstSnapshot, recentFiles{"src/a.ts": true})
		if err != nil {
			t.Fatal(err)
		}
		thirdSnapshot, _, err := scanFiles(dir, secondSnapshot, newRecentFiles)
		if err != nil {
			t.Fatal(err)
		}
		for _, files := range []snapshot{secondSnapshot, thirdSnapshot} {
			if changes := files.changedFilesSince(firstSnapshot); len(changes) > 0 != (content == "2") {
				t.Errorf("after writing %q over \"1\", changed files = %q; want a change only for new content", content, changes)
			}
		}
	}
}

func TestWatchReportsEarlierAndLaterChanges(t *testing.T) {
	dir := t.TempDir()
	writePluginFile(t, dir, "src/a.ts", "1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := NewWatcher(dir)
	if err != nil {
		t.Fatal(err)
	}
	changedFileLists := make(chan []string)
	watchErr := make(chan error, 1)
	writePluginFile(t, dir, "src/a.ts", "changed")
	go func() { watchErr <- w.Run(ctx, func(files []string) { changedFileLists <- files }) }()
	if got := <-changedFileLists; !slices.Equal(got, []string{"src/a.ts"}) {
		t.Errorf("the watcher reported the changed files %q; want src/a.ts", got)
	}
	writePluginFile(t, dir, "src/b.ts", "new")
	for got := range changedFileLists {
		if slices.Contains(got, "src/b.ts") {
			break
		}
	}
	cancel()
	// Receive late reports until Run ends, because Run blocks while a report is not
	// received.
	for {
		select {
		case <-changedFileLists:
			continue
		case err := <-watchErr:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Run ended with the error %v; want %v", err, context.Canceled)
			}
		}
		break
	}
}

func TestWatchEndsWithTheDirectory(t *testing.T) {
	if _, err := NewWatcher(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("NewWatcher for a missing directory returned the error %v; want %v", err, os.ErrNotExist)
	}
	dir := filepath.Join(t.TempDir(), "a")
	writePluginFile(t, dir, "a.ts", "")
	w, err := NewWatcher(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context(), func([]string) {}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Run in a removed directory ended with the error %v; want %v", err, os.ErrNotExist)
	}
}
