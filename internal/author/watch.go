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
	// scanInterval is the time between two scans of a plugin's files. Scans cost a few
	// microseconds per file. Unlike file events of the operating system, they work on
	// every file system, in containers and through links.
	scanInterval = 30 * time.Millisecond
	// scanShare limits the time for scans to 1/scanShare of the total, so that large
	// trees are scanned less often.
	scanShare = 20
	// mtimeResolution is the coarsest resolution of a file's modification time. Two
	// changes within mtimeResolution may leave the same time.
	mtimeResolution = 20 * time.Millisecond
	// maxWatched limits the number of watched files.
	maxWatched = 20_000
)

// sourceExtensions are the extensions of files that a build can read. Others, such
// as a log of the command in the same directory, are ignored.
var sourceExtensions = []string{
	".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json",
	".css", ".html", ".svg", ".graphql", ".md", ".png", ".jpg", ".gif", ".webp",
}

// excludedDirs are top-level directories without source files.
var excludedDirs = []string{"node_modules", "dist"}

// snapshot is the state of a plugin's files at one moment, by path with slashes.
type snapshot map[string]stamp

// stamp is the state of one file.
type stamp struct {
	modified time.Time
	size     int64
	// isRecent is true if the file was modified within mtimeResolution. A later change
	// may then leave the same time and size.
	isRecent bool
}

// Watcher watches the files of one plugin.
type Watcher struct {
	dir      string
	reported snapshot // the state of the last report
}

// NewWatcher begins to watch the plugin in dir. [Watcher.Run] reports all later changes
// of files that a build can read. NewWatcher ignores dist, node_modules and directories
// whose names begin with a dot.
func NewWatcher(dir string) (*Watcher, error) {
	now, err := scanFiles(dir)
	if err != nil {
		return nil, err
	}
	return &Watcher{dir: dir, reported: now}, nil
}

// Run calls changed with the sorted relative paths of changed files, once two scans
// in a row find the same state. Changes while changed runs are reported by the next
// call. Run returns the error of ctx when ctx ends, and an error if the directory
// can't be read.
func (w *Watcher) Run(ctx context.Context, changed func(files []string)) error {
	last := w.reported
	pause := time.NewTimer(scanInterval)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
		began := time.Now()
		now, err := scanFiles(w.dir)
		if err != nil {
			return err
		}
		pause.Reset(max(scanInterval, scanShare*time.Since(began)))
		// Editors and git write several files one after the other: wait until the next
		// scan finds no further change.
		settled := len(now.changesSince(last)) == 0
		last = now
		if files := now.changesSince(w.reported); settled && len(files) > 0 {
			w.reported = now
			changed(files)
		}
	}
}

// scanFiles returns the state of a plugin's files. scanFiles leaves out a file that is
// removed during the scan.
func scanFiles(dir string) (snapshot, error) {
	files := snapshot{}
	now := time.Now()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil
		case d.IsDir() && name != "." && (slices.Contains(excludedDirs, name) || strings.HasPrefix(path.Base(name), ".") || path.Base(name) == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(sourceExtensions, strings.ToLower(path.Ext(name))):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if len(files) == maxWatched {
			return fmt.Errorf("it contains more than %d files; move the plugin to a separate directory", maxWatched)
		}
		age := now.Sub(info.ModTime())
		files[name] = stamp{info.ModTime(), info.Size(), age > -mtimeResolution && age < mtimeResolution}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	return files, nil
}

// changesSince returns the files that were added, changed or removed after an earlier
// snapshot, sorted.
func (s snapshot) changesSince(earlier snapshot) []string {
	var files []string
	for name, now := range s {
		if was, ok := earlier[name]; !ok || was != now {
			files = append(files, name)
		}
	}
	for name := range earlier {
		if _, ok := s[name]; !ok {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}
