package review

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"opentabs/internal/lazyregexp"
	"opentabs/internal/rawjson"
	"opentabs/internal/statefile"
	"opentabs/plugin"
)

const (
	reviewedFolder = "reviewed"
	// maxFileBytes is the maximum number of bytes of each file that the archive stores.
	maxFileBytes = 4 << 20
)

var archivedFiles = []string{"package.json", "tools.json", "pre-script.js", "own.js", "libraries.txt"}

// The original OpenTabs SDK generates a new UUID in the name of the entry module for each build.
var entryName = lazyregexp.New(`_adapter_entry_[0-9a-f-]{36}`)

// Archive stores a copy of each plugin's last reviewed content in the state folder. A
// review compares a plugin's new content with the copy in the Archive, to show what has
// changed. The zero Archive is not usable.
type Archive struct{ dir string }

// NewArchive returns the archive in the state folder dir, which need not exist yet.
func NewArchive(dir string) Archive { return Archive{filepath.Join(dir, reviewedFolder)} }

// StoreReviewedCopy replaces the stored copy of a plugin with the plugin's current content.
func (a Archive) StoreReviewedCopy(reviewedPlugin *plugin.Plugin) error {
	files, err := reviewableFiles(reviewedPlugin)
	if err != nil {
		return err
	}
	dir := filepath.Join(a.dir, reviewedPlugin.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep what was reviewed: %w", err)
	}
	for _, name := range archivedFiles {
		if err := statefile.Write(filepath.Join(dir, name), truncateFile(files[name])); err != nil {
			return fmt.Errorf("keep what was reviewed: %w", err)
		}
	}
	return nil
}

// Remove removes the stored copy of a plugin. Remove ignores a name that is not a valid
// plugin name, because the name becomes part of a path.
func (a Archive) Remove(name string) error {
	if plugin.CheckName(name) != nil {
		return nil
	}
	return os.RemoveAll(filepath.Join(a.dir, name))
}

// Changes returns a unified diff from the last reviewed content of a plugin, empty if unchanged. The result hasReviewed
// is false if the archive has no copy of the plugin.
func (a Archive) Changes(reviewedPlugin *plugin.Plugin) (changes string, hasReviewed bool, err error) {
	contentNow, err := reviewableFiles(reviewedPlugin)
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	for _, name := range archivedFiles {
		storedText, err := os.ReadFile(filepath.Join(a.dir, reviewedPlugin.Name, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", false, fmt.Errorf("read what was reviewed: %w", err)
		}
		hasReviewed = true
		b.Write(diff.Diff("reviewed/"+name, storedText, "now/"+name, truncateFile(contentNow[name])))
	}
	return b.String(), hasReviewed, nil
}

func reviewableFiles(reviewedPlugin *plugin.Plugin) (map[string][]byte, error) {
	code, err := ReadCode(reviewedPlugin)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"own.js": entryName().ReplaceAll([]byte(code.OwnCode()), []byte("_adapter_entry")), "pre-script.js": []byte(code.PreScript)}
	packageJSON, toolsJSON, err := reviewedPlugin.ReadManifests()
	if err != nil {
		return nil, err
	}
	for name, rawJSON := range map[string][]byte{"package.json": packageJSON, "tools.json": toolsJSON} {
		var b bytes.Buffer
		if json.Indent(&b, rawjson.TrimBOM(rawJSON), "", "  ") != nil {
			b.Write(rawJSON)
		}
		files[name] = append(bytes.TrimSpace(b.Bytes()), '\n')
	}
	var libraries strings.Builder
	for _, m := range code.Modules {
		if m.IsLibrary {
			fmt.Fprintf(&libraries, "%.16s %s\n", hexSHA256([]byte(m.Code)), m.Name)
		}
	}
	files["libraries.txt"] = []byte(libraries.String())
	return files, nil
}

func truncateFile(b []byte) []byte {
	if len(b) > maxFileBytes {
		return fmt.Appendf(bytes.Clone(b[:maxFileBytes]), "\n(more is not kept; all of it has the hash %s)\n", hexSHA256(b))
	}
	return b
}

func hexSHA256(b []byte) string {
	checksum := sha256.Sum256(b)
	return hex.EncodeToString(checksum[:])
}
