package author

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	// lookEvery is the time between two looks at a plugin's files. Looking is
	// preferred to being told by the system: it costs some microseconds a file,
	// and works on every disk, in containers and over links.
	lookEvery = 30 * time.Millisecond
	// lookShare is the largest part of the time that may be spent on looking, as
	// 1 of so many: large trees are looked at less often.
	lookShare = 20
	// fresh is how long after a change another one may leave the same time on the
	// file, by the clock of the coarsest disk.
	fresh = 20 * time.Millisecond
	// maxWatched is how many files are watched.
	maxWatched = 20_000
)

// sources are the endings of files that an adapter can be made of. Others do not
// count: the log of the watching command itself may be in the directory.
var sources = []string{
	".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json",
	".css", ".html", ".svg", ".graphql", ".md", ".png", ".jpg", ".gif", ".webp",
}

// notSource are directories that hold nothing a build is made of.
var notSource = []string{"node_modules", "dist"}

// tree is what a plugin's files looked like at one moment, by their paths with
// slashes.
type tree map[string]stamp

type stamp struct {
	modified time.Time
	size     int64
	// young says that the file may have changed once more since, without a trace.
	young bool
}

// Watch watches the files of one plugin.
type Watch struct {
	dir  string
	told tree // what the files looked like when the last change was told
}

// NewWatch begins to watch the plugin in dir: what changes from here on is told by
// Run. The files are those that an adapter can be made of, but for dist,
// node_modules and directories whose names begin with a dot.
func NewWatch(dir string) (*Watch, error) {
	now, err := lookAt(dir)
	if err != nil {
		return nil, err
	}
	return &Watch{dir: dir, told: now}, nil
}

// Run calls changed when files have changed and no more change for a moment, with
// their paths relative to the plugin's directory, sorted. While changed runs
// further changes are kept for the next call. It returns when ctx ends, with its
// error, or when the directory can't be read.
func (w *Watch) Run(ctx context.Context, changed func(files []string)) error {
	last := w.told
	pause := time.NewTimer(lookEvery)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
		began := time.Now()
		now, err := lookAt(w.dir)
		if err != nil {
			return err
		}
		pause.Reset(max(lookEvery, lookShare*time.Since(began)))
		// A change is told once the next look finds no other: editors and git write
		// several files, one after the other.
		settled := len(now.since(last)) == 0
		last = now
		if files := now.since(w.told); settled && len(files) > 0 {
			w.told = now
			changed(files)
		}
	}
}

// lookAt looks at the files of a plugin. A file that goes meanwhile is not there.
func lookAt(dir string) (tree, error) {
	t := tree{}
	now := time.Now()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil
		case d.IsDir() && name != "." && (slices.Contains(notSource, name) || strings.HasPrefix(path.Base(name), ".") || path.Base(name) == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(sources, strings.ToLower(path.Ext(name))):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if len(t) == maxWatched {
			return fmt.Errorf("it holds more than %d files; give the plugin a directory of its own", maxWatched)
		}
		age := now.Sub(info.ModTime())
		t[name] = stamp{info.ModTime(), info.Size(), age > -fresh && age < fresh}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	return t, nil
}

// since returns the files that are not as they were before, sorted.
func (t tree) since(before tree) []string {
	var files []string
	for name, now := range t {
		if was, ok := before[name]; !ok || was != now {
			files = append(files, name)
		}
	}
	for name := range before {
		if _, ok := t[name]; !ok {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}
