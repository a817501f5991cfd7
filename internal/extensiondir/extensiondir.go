// Package extensiondir writes the unpacked Chrome extension to a directory, and remembers
// the path of this directory.
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

// ConnectionFile is the name of the file in the extension's directory that contains the
// [Connection] as JSON.
const ConnectionFile = "connection.json"

var errFolderOccupied = errors.New("the folder has other files than an opentabs extension")

// Connection is what the extension needs to find the daemon and to authenticate.
type Connection struct {
	Port int `json:"port"`
	// Key is the shared secret of the extension and the daemon, derived from the
	// installation's token by config.BrowserKey.
	Key string `json:"key"`
}

// installRecord records the directory and the files that [Install] has written.
type installRecord struct {
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
	// The field Debugger is true if the extension's manifest has Chrome's debugger
	// permission.
	Debugger bool `json:"debugger,omitempty"`
}

// DebuggerChoice is whether the installed extension has Chrome's debugger permission.
type DebuggerChoice int

const (
	// KeepDebuggerChoice keeps the debugger permission if the previous installation had it. In
	// a first installation, the extension has no debugger permission.
	KeepDebuggerChoice DebuggerChoice = iota
	// WithDebugger adds the debugger permission to the extension's manifest.
	WithDebugger
	// WithoutDebugger removes the debugger permission from the extension's manifest.
	WithoutDebugger
)

// Install writes the extension to the directory dir, which need not exist. Install makes
// dir inaccessible to other users of the computer. The caller should show the returned
// warnings to the user. If dir contains files but no opentabs extension, Install returns
// an error and writes nothing.
func Install(dirs config.Dirs, dir string, c Connection, choice DebuggerChoice) (warnings []string, err error) {
	if err := checkFolderIsEmpty(dir); err != nil {
		return nil, err
	}
	warnings, err = config.MakePrivate(dir)
	if err != nil {
		return warnings, err
	}
	if _, ok := readRecord(dirs); !ok && config.PathExists(dirs.ExtensionRecord()) {
		backupPath, err := statefile.RenameDamagedFile(dirs.ExtensionRecord())
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, fmt.Sprintf("the record of the installed extension, %s, was damaged and is kept as %s; if the extension was in another folder, remove that one from Chrome", dirs.ExtensionRecord(), backupPath))
	}
	return warnings, writeFiles(dirs, dir, c, choice == WithDebugger || choice == KeepDebuggerChoice && HasDebugger(dirs))
}

// writeFiles writes the extension's files, the manifest last. It then removes the files of an older version, but keeps
// adapters and unrelated files.
func writeFiles(dirs config.Dirs, dir string, c Connection, hasDebugger bool) error {
	statefile.RemoveLeftovers(dir)
	files, err := jsbuild.ExtensionFiles(jsbuild.ManifestOptions{Version: version.Version, WithDebugger: hasDebugger})
	if err != nil {
		return fmt.Errorf("bundle the extension: %w", err)
	}
	encodedJSON, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write %s: %w", ConnectionFile, err)
	}
	files[ConnectionFile] = append(encodedJSON, '\n')
	names := slices.SortedFunc(maps.Keys(files), compareWithManifestLast)
	for _, name := range names {
		if err := replaceFile(filepath.Join(dir, filepath.FromSlash(name)), files[name]); err != nil {
			return err
		}
	}
	if err := removeOldFiles(dirs, dir, names); err != nil {
		return err
	}
	record, err := json.Marshal(installRecord{Dir: dir, Files: names, Debugger: hasDebugger})
	if err != nil {
		return fmt.Errorf("store the extension's folder: %w", err)
	}
	return statefile.Write(dirs.ExtensionRecord(), record)
}

// Chrome must not read a new manifest before the files that the manifest lists are written.
func compareWithManifestLast(a, b string) int {
	switch "manifest.json" {
	case a:
		return 1
	case b:
		return -1
	}
	return strings.Compare(a, b)
}

func checkFolderIsEmpty(dir string) error {
	dirEntries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(dirEntries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the extension: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ConnectionFile)); err != nil {
		return errFolderOccupied
	}
	return nil
}

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
	fileContent, err := os.ReadFile(dirs.ExtensionRecord())
	if err != nil || json.Unmarshal(fileContent, &record) != nil || record.Dir == "" {
		return installRecord{}, false
	}
	return record, true
}

// RecordedInstallDir returns the directory to which opentabs last wrote the extension.
// RecordedInstallDir does not check whether the directory still exists. If opentabs has not
// written the extension yet, RecordedInstallDir returns false.
func RecordedInstallDir(dirs config.Dirs) (string, bool) {
	record, ok := readRecord(dirs)
	return record.Dir, ok
}

// Find returns the directory to which opentabs last wrote the extension, or the default
// directory. If there is no extension in the directory, Find returns false.
func Find(dirs config.Dirs) (string, bool) {
	dir := dirs.ExtensionDir()
	if record, ok := readRecord(dirs); ok {
		dir = record.Dir
	}
	_, err := os.Stat(filepath.Join(dir, ConnectionFile))
	return dir, err == nil
}

// HasDebugger reports whether the user installed the extension with Chrome's debugger
// permission.
func HasDebugger(dirs config.Dirs) bool {
	record, ok := readRecord(dirs)
	return ok && record.Debugger
}

// ReadConnection reads the port and the key of the extension in the directory dir.
func ReadConnection(dir string) (Connection, error) {
	var c Connection
	fileContent, err := os.ReadFile(filepath.Join(dir, ConnectionFile))
	if err == nil {
		err = json.Unmarshal(fileContent, &c)
	}
	return c, err
}

// AdapterDir is the name of the subdirectory of the extension's directory to which the
// daemon writes the adapters of plugins. If "Allow User Scripts" is off, Chrome loads the
// adapters from the subdirectory AdapterDir.
const AdapterDir = "adapters"

// Remove deletes the files of the extension that [Install] wrote, and the adapters of
// plugins. Remove keeps files in the extension's directory that opentabs did not write.
// The result isRemoved is true if the extension's directory no longer exists.
func Remove(dirs config.Dirs) (folder string, isRemoved bool, err error) {
	folder, ok := Find(dirs)
	if !ok {
		return folder, true, nil
	}
	if folder == dirs.ExtensionDir() { // the default directory contains no files of the user
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

func removeEmptyFolders(dir string) {
	var folders []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, path)
		}
		return nil
	})
	for _, folder := range slices.Backward(folders) {
		_ = os.Remove(folder) // os.Remove fails for a directory that contains files
	}
}
