package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"opentabs/internal/jsonread"
	"opentabs/internal/rawjson"
)

// These constants are the paths of a package's files, relative to the package's folder.
const (
	packageFile = "package.json"
	toolsFile   = "dist/tools.json"
	adapterFile = "dist/adapter.iife.js"
	// preScriptFile exists only if dist/tools.json declares a pre-script.
	preScriptFile = "dist/" + preScriptName
)

// These constants limit the size of package.json and dist/tools.json, in bytes. Each size
// limit is about ten times the size of the largest file in known plugins.
const (
	maxPackageBytes = 1 << 20
	maxToolsBytes   = 8 << 20
)

// packageBuffer is a buffer that loads of packages share, because the adapters of a
// hundred packages total 80 MB. A loaded plugin must not refer to a packageBuffer,
// because the next load overwrites the buffer.
type packageBuffer struct {
	packageJSONBytes []byte
	compactJSON      []byte
}

var packageBuffers = sync.Pool{New: func() any { return new(packageBuffer) }}

func resizeBuffer(b []byte, length int64) []byte {
	return slices.Grow(b[:0], int(length))[:length]
}

// Load reads and checks the built plugin package in the folder dir. The error of Load is
// a *[PackageError] with all problems of the package. Load does not keep the adapter's
// code in memory; see [Plugin.Adapter].
func Load(dir string) (*Plugin, error) { return loadWithIndex(dir, nil) }

func loadWithIndex(dir string, adapterIndex *index) (*Plugin, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, &PackageError{Dir: dir, Problems: []jsonread.Problem{{Text: "the folder cannot be named: " + err.Error()}}}
	}
	if problemText := checkFolder(abs); problemText != "" {
		return nil, &PackageError{Dir: abs, Problems: []jsonread.Problem{{Text: problemText}}}
	}
	m := packageBuffers.Get().(*packageBuffer)
	defer packageBuffers.Put(m)
	p := &Plugin{Dir: abs}
	hash := sha256.New()
	readDescription := func(file string, limit int64, parse func([]byte, *Plugin, *jsonread.Problems)) []jsonread.Problem {
		problems := jsonread.Problems{File: file}
		packageJSON, problemText := readFile(abs, file, limit, m.packageJSONBytes)
		if problemText != "" {
			problems.Add("%s", problemText)
			return problems.List
		}
		m.packageJSONBytes = packageJSON
		fmt.Fprintf(hash, "%d\n", len(packageJSON)) // the length prefix marks the end of the file, so that the hash of several files is unambiguous
		hash.Write(packageJSON)
		if m.compactJSON, problemText = rawjson.Compact(packageJSON, m.compactJSON); problemText != "" {
			problems.Add("%s", problemText)
			return problems.List
		}
		parse(m.compactJSON, p, &problems)
		return problems.List
	}
	problems := readDescription(packageFile, maxPackageBytes, parsePackage)
	problems = append(problems, readDescription(toolsFile, maxToolsBytes, parseTools)...)
	if p.PreScript {
		if problemText := inspectPreScript(p, m, hash); problemText != "" {
			problems = append(problems, jsonread.Problem{File: preScriptFile, Text: problemText})
		}
	}
	p.ManifestHash = hex.EncodeToString(hash.Sum(nil))
	adapter, problemText := inspectAdapter(abs, m, adapterIndex)
	if problemText != "" {
		problems = append(problems, jsonread.Problem{File: adapterFile, Text: problemText})
	}
	p.Hash, p.HasActivateHook = adapter.hash, adapter.hasActivateHook
	p.setContentHash()
	if len(problems) > 0 {
		return nil, &PackageError{Dir: abs, Problems: problems}
	}
	return p, nil
}

// ReadManifests reads package.json and dist/tools.json of the plugin from the plugin's
// folder.
func (p *Plugin) ReadManifests() (packageJSON, toolsJSON []byte, err error) {
	packageJSON, problemText := readFile(p.Dir, packageFile, maxToolsBytes, nil)
	if problemText != "" {
		return nil, nil, &PackageError{Dir: p.Dir, Problems: []jsonread.Problem{{File: packageFile, Text: problemText}}}
	}
	toolsJSON, problemText = readFile(p.Dir, toolsFile, maxToolsBytes, nil)
	if problemText != "" {
		return nil, nil, &PackageError{Dir: p.Dir, Problems: []jsonread.Problem{{File: toolsFile, Text: problemText}}}
	}
	return packageJSON, toolsJSON, nil
}

func checkFolder(dir string) string {
	fileInfo, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the folder does not exist; name the folder of a built plugin"
	case err != nil:
		return "the folder cannot be read: " + err.Error()
	case !fileInfo.IsDir():
		return "this is a file; name the plugin's folder"
	}
	return ""
}

func readFile(dir, file string, limit int64, buffer []byte) (content []byte, problemText string) {
	f, size, problemText := openFile(dir, file, limit)
	if problemText != "" {
		return nil, problemText
	}
	defer f.Close()
	content = resizeBuffer(buffer, size)
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, "cannot be read: " + err.Error()
	}
	return content, ""
}

// openFile checks the file's type before opening, because opening a named pipe blocks. openFile rejects a link that
// leads out of dir, because pages would receive the file's content.
func openFile(dir, file string, limit int64) (f *os.File, size int64, problemText string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, "cannot be read: " + err.Error()
	}
	defer root.Close()
	fileInfo, err := root.Stat(filepath.FromSlash(file))
	switch {
	case errors.Is(err, fs.ErrNotExist) && file == packageFile:
		return nil, 0, "is missing; name the folder of a plugin"
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, "is missing; run opentabs plugin build first"
	case err != nil:
		return nil, 0, describeReadError(err)
	case !fileInfo.Mode().IsRegular():
		return nil, 0, "is not a regular file; build the plugin again"
	case fileInfo.Size() == 0 && file == packageFile:
		return nil, 0, "is empty; write the plugin's name and version into it, or restore the file"
	case fileInfo.Size() == 0:
		return nil, 0, "is empty; build the plugin again"
	case fileInfo.Size() > limit:
		return nil, 0, fmt.Sprintf("has %d bytes, more than the %d allowed; make it smaller", fileInfo.Size(), limit)
	}
	if f, err = root.Open(filepath.FromSlash(file)); err != nil {
		return nil, 0, describeReadError(err)
	}
	return f, fileInfo.Size(), ""
}

func describeReadError(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	// os.Root defines no error value for a link that leads out of the root folder.
	if strings.Contains(err.Error(), "escapes from parent") {
		return "is a link, or is behind a link, that leads out of the plugin's folder; put the file itself there"
	}
	return "cannot be read: " + err.Error() + "; build the plugin again"
}

// maxListedProblems is the maximum number of problems in the text of a [PackageError].
const maxListedProblems = 20

// PackageError lists all problems of a plugin package, so that the author can fix all
// problems before the next attempt.
type PackageError struct {
	// Dir is the package's folder.
	Dir string
	// Problems lists at least one problem of the package.
	Problems []jsonread.Problem
}

// Error returns the package's folder and the problems, at most 20.
func (e *PackageError) Error() string {
	if len(e.Problems) == 1 {
		return fmt.Sprintf("plugin in %s: %s", e.Dir, e.Problems[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "plugin in %s has %d problems:", e.Dir, len(e.Problems))
	for i, p := range e.Problems {
		if i == maxListedProblems {
			fmt.Fprintf(&b, "\n- and %d more", len(e.Problems)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s", p)
	}
	return b.String()
}
