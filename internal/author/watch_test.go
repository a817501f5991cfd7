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

// put writes a file of a plugin.
func put(t testing.TB, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// aged gives a file a time that is long over.
func aged(t testing.TB, dir, name string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), old, old); err != nil {
		t.Fatal(err)
	}
}

func look(t testing.TB, dir string) tree {
	t.Helper()
	seen, err := lookAt(dir)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func TestLookSeesWhatABuildIsMadeOf(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"package.json", "src/a.ts", "src/b.ts", "src/gone.ts"} {
		put(t, dir, name, "1")
		aged(t, dir, name)
	}
	before := look(t, dir)
	if got := look(t, dir).since(before); len(got) > 0 {
		t.Errorf("nothing changed, but %q", got)
	}
	for _, name := range []string{"dist/adapter.iife.js", "node_modules/x/i.js", "src/node_modules/y.js", "build.log", "a.tgz", ".git/index", ".opentabs/types/a.ts"} {
		put(t, dir, name, "1")
	}
	if got := look(t, dir).since(before); len(got) > 0 {
		t.Errorf("of what no adapter is made of it saw %q", got)
	}
	put(t, dir, "src/a.ts", "2")
	put(t, dir, "icon.svg", "<svg/>")
	if err := os.Remove(filepath.Join(dir, "src", "gone.ts")); err != nil {
		t.Fatal(err)
	}
	if got, want := look(t, dir).since(before), []string{"icon.svg", "src/a.ts", "src/gone.ts"}; !slices.Equal(got, want) {
		t.Errorf("saw %q, want %q", got, want)
	}
}

// TestASecondChangeInOneTickIsSeen: two writes of the same size may leave the
// same time, and one look may fall between them.
func TestASecondChangeInOneTickIsSeen(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "src/a.ts", "1")
	now := time.Now().Add(time.Minute) // no clock goes past it meanwhile
	stamped := func(age time.Duration) tree {
		if err := os.Chtimes(filepath.Join(dir, "src", "a.ts"), now, now); err != nil {
			t.Fatal(err)
		}
		seen := look(t, dir)
		one := seen["src/a.ts"]
		one.young = age < fresh
		seen["src/a.ts"] = one
		return seen
	}
	between := stamped(0)
	put(t, dir, "src/a.ts", "2")
	if got := stamped(time.Second).since(between); !slices.Equal(got, []string{"src/a.ts"}) {
		t.Errorf("saw %q", got)
	}
}

func TestWatchTellsChangesTogetherAndKeepsThose(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "src/a.ts", "1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := NewWatch(dir)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan []string)
	ended := make(chan error, 1)
	put(t, dir, "src/a.ts", "changed")
	go func() { ended <- w.Run(ctx, func(files []string) { told <- files }) }()
	if got := <-told; !slices.Equal(got, []string{"src/a.ts"}) {
		t.Errorf("told %q", got)
	}
	put(t, dir, "src/b.ts", "new")
	for got := range told {
		if slices.Contains(got, "src/b.ts") {
			break
		}
	}
	cancel()
	// One that comes late has nobody to tell it to.
	for {
		select {
		case <-told:
			continue
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
		}
		break
	}
}

func TestWatchEndsWithTheDirectory(t *testing.T) {
	if _, err := NewWatch(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	dir := filepath.Join(t.TempDir(), "a")
	put(t, dir, "a.ts", "")
	w, err := NewWatch(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context(), func([]string) {}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it ended with %v", err)
	}
}
