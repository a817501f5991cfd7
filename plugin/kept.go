package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"opentabs/internal/rawjson"
	"opentabs/internal/statefile"
)

const (
	// reviewedFolder holds a copy of what was reviewed last, by plugin.
	reviewedFolder = "reviewed"
	// maxKeptBytes is how much of each file is kept.
	maxKeptBytes = 4 << 20
)

// keptFiles are the files of a copy, in the order in which changes are shown.
var keptFiles = []string{"package.json", "tools.json", "pre-script.js", "own.js", "libraries.txt"}

// entryName is a file that the existing build tool names anew each time.
var entryName = regexp.MustCompile(`_adapter_entry_[0-9a-f-]{36}`)

// keep copies what was reviewed, to tell later what has changed since.
func (p *Policy) keep(one *Plugin) error {
	files, err := reviewable(one)
	if err != nil {
		return err
	}
	dir := p.keptDir(one.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep what was reviewed: %w", err)
	}
	for _, name := range keptFiles {
		if err := statefile.Write(filepath.Join(dir, name), cutBytes(files[name])); err != nil {
			return fmt.Errorf("keep what was reviewed: %w", err)
		}
	}
	return nil
}

// keptDir is where the copy of a plugin's code is. A plugin's name is no path.
func (p *Policy) keptDir(name string) string {
	return filepath.Join(filepath.Dir(p.Path()), reviewedFolder, name)
}

// unkeep removes the copy.
func (p *Policy) unkeep(name string) error {
	if checkName(name) != nil {
		return nil
	}
	return os.RemoveAll(p.keptDir(name))
}

// Changes is what has changed since the content that was reviewed last, as a
// unified diff; empty if nothing has. known is false if nothing was kept.
func (p *Policy) Changes(one *Plugin) (text string, known bool, err error) {
	now, err := reviewable(one)
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	for _, name := range keptFiles {
		before, err := os.ReadFile(filepath.Join(p.keptDir(one.Name), name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", false, fmt.Errorf("read what was reviewed: %w", err)
		}
		known = true
		b.Write(diff.Diff("reviewed/"+name, before, "now/"+name, cutBytes(now[name])))
	}
	return b.String(), known, nil
}

// reviewable is what is looked at in a review, by the names of keptFiles: the
// descriptions with one member a line, the author's own code, and of libraries the
// names and hashes.
func reviewable(one *Plugin) (map[string][]byte, error) {
	code, err := one.ReadCode()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"own.js": entryName.ReplaceAll([]byte(code.Own()), []byte("_adapter_entry")), "pre-script.js": []byte(code.PreScript)}
	for name, file := range map[string]string{"package.json": packageFile, "tools.json": toolsFile} {
		raw, problem := readFile(one.Dir, file, maxToolsBytes, nil)
		if problem != "" {
			return nil, &PackageError{Dir: one.Dir, Problems: []Problem{{File: file, Text: problem}}}
		}
		var b bytes.Buffer
		if json.Indent(&b, rawjson.TrimBOM(raw), "", "  ") != nil {
			b.Write(raw)
		}
		files[name] = append(bytes.TrimSpace(b.Bytes()), '\n')
	}
	var libraries strings.Builder
	for _, m := range code.Modules {
		if m.Library {
			fmt.Fprintf(&libraries, "%.16s %s\n", hexHash([]byte(m.Code)), m.Name)
		}
	}
	files["libraries.txt"] = []byte(libraries.String())
	return files, nil
}

// cutBytes returns what is kept of a file: its beginning, and of the rest whether
// it has changed.
func cutBytes(b []byte) []byte {
	if len(b) > maxKeptBytes {
		return fmt.Appendf(bytes.Clone(b[:maxKeptBytes]), "\n(more is not kept; all of it has the hash %s)\n", hexHash(b))
	}
	return b
}
