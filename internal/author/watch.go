package author

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// Unlike file events, scans detect changes on every file system, in containers and behind symbolic links.
	scanInterval = 30 * time.Millisecond
	// scanTimeDivisor limits scans to 1/20 of the total time, so that large trees are scanned less often.
	scanTimeDivisor = 20
	// mtimeResolution is the coarsest resolution of modification times: two changes within it can have equal times.
	mtimeResolution = 20 * time.Millisecond
	maxWatchedFiles = 20_000
)

var sourceExtensions = []string{
	".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json",
	".css", ".html", ".svg", ".graphql", ".md", ".png", ".jpg", ".gif", ".webp",
}

var excludedDirs = []string{"node_modules", "dist"}

// The type snapshot contains the stamps of a plugin's files at one moment, by path with
// slashes.
type snapshot map[string]fileState

// fileState describes one file at the time of a scan. Two values of fileState are equal
// if the file did not change between the two scans.
type fileState struct {
	modifiedAt time.Time
	size       int64
	// content is a hash for files that changed within mtimeResolution of a scan, because size and time may stay equal.
	content [sha256.Size]byte
}

// recentFiles contains the paths of files that changed less than mtimeResolution before a
// scan.
type recentFiles map[string]bool

// Watcher watches the files of one plugin.
type Watcher struct {
	dir              string
	reportedSnapshot snapshot
	recentFiles      recentFiles
}

// NewWatcher starts to watch the plugin in dir. [Watcher.Run] reports all later changes
// of files that a build can read. NewWatcher ignores dist, node_modules and directories
// whose names begin with a dot.
func NewWatcher(dir string) (*Watcher, error) {
	currentSnapshot, recentFiles, err := scanFiles(dir, nil, nil)
	if err != nil {
		return nil, err
	}
	return &Watcher{dir: dir, reportedSnapshot: currentSnapshot, recentFiles: recentFiles}, nil
}

// Run calls onChange with the sorted relative paths of changed files, once two
// consecutive scans find the same files. If files change while onChange runs, Run reports
// these changes in the next call of onChange. Run returns the error of ctx when ctx is
// done, and an error if the plugin's directory cannot be read.
func (w *Watcher) Run(ctx context.Context, onChange func(files []string)) error {
	lastSnapshot := w.reportedSnapshot
	scanTimer := time.NewTimer(scanInterval)
	defer scanTimer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-scanTimer.C:
		}
		startTime := time.Now()
		currentSnapshot, recentFiles, err := scanFiles(w.dir, lastSnapshot, w.recentFiles)
		if err != nil {
			return err
		}
		w.recentFiles = recentFiles
		scanTimer.Reset(max(scanInterval, scanTimeDivisor*time.Since(startTime)))
		// Editors and git write several files in sequence, so Run waits until a scan
		// finds no further change.
		isUnchanged := len(currentSnapshot.changedFilesSince(lastSnapshot)) == 0
		lastSnapshot = currentSnapshot
		if files := currentSnapshot.changedFilesSince(w.reportedSnapshot); isUnchanged && len(files) > 0 {
			w.reportedSnapshot = currentSnapshot
			onChange(files)
		}
	}
}

func scanFiles(dir string, lastSnapshot snapshot, lastRecentFiles recentFiles) (snapshot, recentFiles, error) {
	files, newRecentFiles := snapshot{}, recentFiles{}
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
		fileInfo, err := d.Info()
		if err != nil {
			return nil
		}
		if len(files) == maxWatchedFiles {
			return fmt.Errorf("the directory contains more than %d files; move the plugin to a separate directory", maxWatchedFiles)
		}
		file := fileState{modifiedAt: fileInfo.ModTime(), size: fileInfo.Size()}
		if now.Sub(file.modifiedAt).Abs() < mtimeResolution {
			newRecentFiles[name] = true
		}
		lastState := lastSnapshot[name]
		switch {
		case newRecentFiles[name] || lastRecentFiles[name]:
			if file.content, err = hashFile(filepath.Join(dir, name)); err != nil {
				return nil
			}
		case lastState.modifiedAt.Equal(file.modifiedAt) && lastState.size == file.size:
			file.content = lastState.content
		}
		files[name] = file
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	return files, newRecentFiles, nil
}

func hashFile(path string) ([sha256.Size]byte, error) {
	content, err := os.ReadFile(path)
	return sha256.Sum256(content), err
}

func (s snapshot) changedFilesSince(earlierSnapshot snapshot) []string {
	var files []string
	for name, currentState := range s {
		if earlierState, ok := earlierSnapshot[name]; !ok || earlierState != currentState {
			files = append(files, name)
		}
	}
	for name := range earlierSnapshot {
		if _, ok := s[name]; !ok {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}
