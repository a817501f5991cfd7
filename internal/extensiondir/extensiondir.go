// Package extensiondir writes the unpacked browser extension into a folder and records
// the path of the folder.
package extensiondir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"opentabs/internal/config"
	"opentabs/internal/jsbuild"
	"opentabs/internal/statefile"
	"opentabs/internal/version"
)

// ConnectionFile is the file of the extension with its [Connection].
const ConnectionFile = "connection.json"

// errOccupied is the error for a folder that has files but no extension.
var errOccupied = errors.New("the folder has other files than an opentabs extension")

// Connection is what the extension needs to find the daemon and to authenticate.
type Connection struct {
	Port int `json:"port"`
	// Key is config.BrowserKey of the installation's token.
	Key string `json:"key"`
}

// installRecord stores where the extension was written, and which files.
type installRecord struct {
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
	// Debugger is true if the extension's manifest has the permission debugger.
	Debugger bool `json:"debugger,omitempty"`
}

// DebuggerChoice is whether the extension gets the permission debugger.
type DebuggerChoice int

const (
	// KeepDebugger repeats the choice of the last installation. The first installation
	// has no debugger.
	KeepDebugger DebuggerChoice = iota
	// WithDebugger adds the permission.
	WithDebugger
	// WithoutDebugger takes the permission away.
	WithoutDebugger
)

// Install writes the extension into dir. Install creates dir if it is missing, and
// removes the access of other users. Install returns warnings that the user should see.
// The error is errOccupied if dir has unrelated files.
func Install(dirs config.Dirs, dir string, c Connection, choice DebuggerChoice) (warnings []string, err error) {
	if err := checkVacant(dir); err != nil {
		return nil, err
	}
	warnings, err = config.MakePrivate(dir)
	if err != nil {
		return warnings, err
	}
	if _, ok := readRecord(dirs); !ok && config.Exists(dirs.ExtensionRecord()) {
		keptAs, err := statefile.PutAside(dirs.ExtensionRecord())
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, fmt.Sprintf("the record of the installed extension, %s, was damaged and is kept as %s; if the extension was in another folder, remove that one from Chrome", dirs.ExtensionRecord(), keptAs))
	}
	return warnings, writeFiles(dirs, dir, c, choice == WithDebugger || choice == KeepDebugger && HasDebugger(dirs))
}

// writeFiles replaces each file in one step, the manifest last. writeFiles removes the
// files that an older version wrote. writeFiles keeps adapters and unrelated files.
func writeFiles(dirs config.Dirs, dir string, c Connection, withDebugger bool) error {
	statefile.RemoveLeftovers(dir)
	files, err := jsbuild.ExtensionFiles(jsbuild.ManifestOptions{Version: version.Version, WithDebugger: withDebugger})
	if err != nil {
		return fmt.Errorf("bundle the extension: %w", err)
	}
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write %s: %w", ConnectionFile, err)
	}
	files[ConnectionFile] = append(text, '\n')
	names := slices.SortedFunc(maps.Keys(files), compareManifestLast)
	for _, name := range names {
		if err := replaceFile(filepath.Join(dir, filepath.FromSlash(name)), files[name]); err != nil {
			return err
		}
	}
	if err := removeOldFiles(dirs, dir, names); err != nil {
		return err
	}
	record, err := json.Marshal(installRecord{Dir: dir, Files: names, Debugger: withDebugger})
	if err != nil {
		return fmt.Errorf("store the extension's folder: %w", err)
	}
	return statefile.Write(dirs.ExtensionRecord(), record)
}

// compareManifestLast orders file names alphabetically, but the manifest last:
// Chrome must not find a manifest before the files that it lists.
func compareManifestLast(a, b string) int {
	switch "manifest.json" {
	case a:
		return 1
	case b:
		return -1
	}
	return strings.Compare(a, b)
}

// checkVacant returns errOccupied if dir has files but no extension.
func checkVacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the extension: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ConnectionFile)); err != nil {
		return errOccupied
	}
	return nil
}

// replaceFile writes a file and its parent folders, readable by the owner only.
// replaceFile does not write a file that already has the new content.
func replaceFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if oldContent, err := os.ReadFile(path); err == nil && bytes.Equal(oldContent, content) {
		if err := os.Chmod(path, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		return nil
	}
	return statefile.Write(path, content)
}

// removeOldFiles removes the files that the last installation wrote into dir and
// that are not in names.
func removeOldFiles(dirs config.Dirs, dir string, names []string) error {
	record, ok := readRecord(dirs)
	if !ok || record.Dir != dir {
		return nil
	}
	for _, name := range record.Files {
		if slices.Contains(names, name) || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		err := os.Remove(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an old file: %w", err)
		}
	}
	return nil
}

func readRecord(dirs config.Dirs) (installRecord, bool) {
	var record installRecord
	text, err := os.ReadFile(dirs.ExtensionRecord())
	if err != nil || json.Unmarshal(text, &record) != nil || record.Dir == "" {
		return installRecord{}, false
	}
	return record, true
}

// RecordedDir returns the folder to which opentabs last wrote the extension. The folder
// may have been deleted since. RecordedDir returns false if opentabs has not written the
// extension.
func RecordedDir(dirs config.Dirs) (string, bool) {
	record, ok := readRecord(dirs)
	return record.Dir, ok
}

// Find returns the folder that the extension was written to. Find returns false if the
// directory contains no extension.
func Find(dirs config.Dirs) (string, bool) {
	dir := dirs.ExtensionDir()
	if record, ok := readRecord(dirs); ok {
		dir = record.Dir
	}
	_, err := os.Stat(filepath.Join(dir, ConnectionFile))
	return dir, err == nil
}

// HasDebugger reports whether the user installed the extension with the permission
// debugger.
func HasDebugger(dirs config.Dirs) bool {
	record, ok := readRecord(dirs)
	return ok && record.Debugger
}

// ReadConnection returns the connection of the extension in dir.
func ReadConnection(dir string) (Connection, error) {
	var c Connection
	text, err := os.ReadFile(filepath.Join(dir, ConnectionFile))
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	return c, err
}

// AdapterDir is the name of the folder, inside the extension's folder, to which a daemon
// writes the scripts of plugins. Browsers without the permission "Allow User Scripts"
// load plugins from this folder.
const AdapterDir = "adapters"

// Remove deletes the extension that [Install] wrote, with the adapters of plugins. Remove
// keeps files of the user; hasGone is true if the folder was empty and was deleted.
func Remove(dirs config.Dirs) (folder string, hasGone bool, err error) {
	folder, ok := Find(dirs)
	if !ok {
		return folder, true, nil
	}
	if folder == dirs.ExtensionDir() { // the state directory contains no files of the user
		return folder, true, errors.Join(os.RemoveAll(folder), os.RemoveAll(dirs.ExtensionRecord()))
	}
	record, _ := readRecord(dirs)
	for _, name := range append(record.Files, ConnectionFile) {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return folder, false, err
		}
	}
	if err := os.RemoveAll(filepath.Join(folder, AdapterDir)); err != nil {
		return folder, false, err
	}
	if err := os.Remove(dirs.ExtensionRecord()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return folder, false, err
	}
	removeEmptyFolders(folder)
	_, err = os.Lstat(folder)
	return folder, errors.Is(err, fs.ErrNotExist), nil
}

// removeEmptyFolders deletes the folder dir and the folders below dir if they contain no
// files.
func removeEmptyFolders(dir string) {
	var folders []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, path)
		}
		return nil
	})
	for _, folder := range slices.Backward(folders) {
		_ = os.Remove(folder) // Remove fails for a folder that contains files
	}
}
