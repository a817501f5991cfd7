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

// The files of a package, relative to its folder.
const (
	packageFile = "package.json"
	toolsFile   = "dist/tools.json"
	adapterFile = "dist/adapter.iife.js"
	// preScriptFile is there only if dist/tools.json names it.
	preScriptFile = "dist/" + preScriptName
)

// The largest descriptions that are read, in bytes. Those of the largest known
// plugin are a tenth of this.
const (
	maxPackageBytes = 1 << 20
	maxToolsBytes   = 8 << 20
)

// memory lets packages be inspected one after the other in the same place: a
// hundred have 80 MB of adapters. Nothing that is kept may lie in it.
type memory struct {
	text      []byte // of a file
	compacted []byte
}

var memories = sync.Pool{New: func() any { return new(memory) }}

// sized returns b, or something larger, with this length and any content.
func sized(b []byte, length int64) []byte {
	return slices.Grow(b[:0], int(length))[:length]
}

// Load reads and checks the built package in dir. The error is a
// *[PackageError] that lists everything that is wrong. The adapter's bytes are
// not kept; see [Plugin.Adapter].
func Load(dir string) (*Plugin, error) { return load(dir, nil) }

// load is Load, but does not read an adapter whose hash is known.
func load(dir string, known *index) (*Plugin, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, &PackageError{Dir: dir, Problems: []jsonread.Problem{{Text: "the folder cannot be named: " + err.Error()}}}
	}
	if problem := checkFolder(abs); problem != "" {
		return nil, &PackageError{Dir: abs, Problems: []jsonread.Problem{{Text: problem}}}
	}
	m := memories.Get().(*memory)
	defer memories.Put(m)
	p := &Plugin{Dir: abs}
	hash := sha256.New()
	read := func(file string, limit int64, parse func([]byte, *Plugin, *jsonread.Problems)) []jsonread.Problem {
		to := jsonread.Problems{File: file}
		text, problem := readFile(abs, file, limit, m.text)
		if problem != "" {
			to.Add("%s", problem)
			return to.List
		}
		m.text = text
		fmt.Fprintf(hash, "%d\n", len(text)) // so that no byte can move from one file to the other
		hash.Write(text)
		if m.compacted, problem = rawjson.Compact(text, m.compacted); problem != "" {
			to.Add("%s", problem)
			return to.List
		}
		parse(m.compacted, p, &to)
		return to.List
	}
	found := read(packageFile, maxPackageBytes, parsePackage)
	found = append(found, read(toolsFile, maxToolsBytes, parseTools)...)
	if p.PreScript {
		if problem := inspectPreScript(p, m, hash); problem != "" {
			found = append(found, jsonread.Problem{File: preScriptFile, Text: problem})
		}
	}
	p.ManifestHash = hex.EncodeToString(hash.Sum(nil))
	adapter, problem := inspectAdapter(abs, m, known)
	if problem != "" {
		found = append(found, jsonread.Problem{File: adapterFile, Text: problem})
	}
	p.Hash, p.Activates = adapter.hash, adapter.activates
	if len(found) > 0 {
		return nil, &PackageError{Dir: abs, Problems: found}
	}
	return p, nil
}

// Descriptions reads package.json and dist/tools.json of the plugin.
func (p *Plugin) Descriptions() (packageJSON, toolsJSON []byte, err error) {
	packageJSON, problem := readFile(p.Dir, packageFile, maxToolsBytes, nil)
	if problem != "" {
		return nil, nil, &PackageError{Dir: p.Dir, Problems: []jsonread.Problem{{File: packageFile, Text: problem}}}
	}
	toolsJSON, problem = readFile(p.Dir, toolsFile, maxToolsBytes, nil)
	if problem != "" {
		return nil, nil, &PackageError{Dir: p.Dir, Problems: []jsonread.Problem{{File: toolsFile, Text: problem}}}
	}
	return packageJSON, toolsJSON, nil
}

// checkFolder says what is wrong with a package's folder.
func checkFolder(dir string) string {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the folder does not exist; name the folder of a built plugin"
	case err != nil:
		return "the folder cannot be read: " + err.Error()
	case !info.IsDir():
		return "this is a file; name the plugin's folder"
	}
	return ""
}

// readFile reads a whole regular file, into memory if it fits there. The problem
// says what is wrong.
func readFile(dir, file string, limit int64, memory []byte) (content []byte, problem string) {
	f, size, problem := openFile(dir, file, limit)
	if problem != "" {
		return nil, problem
	}
	defer f.Close()
	content = sized(memory, size)
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, "cannot be read: " + err.Error()
	}
	return content, ""
}

// openFile opens a regular file that is not empty and has at most limit bytes.
// It looks before it opens, because opening a pipe would wait for its writer. A
// link that leads out of dir is not followed: pages would get what is there.
func openFile(dir, file string, limit int64) (f *os.File, size int64, problem string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, "cannot be read: " + err.Error()
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(file))
	switch {
	case errors.Is(err, fs.ErrNotExist) && file == packageFile:
		return nil, 0, "is missing; name the folder of a plugin"
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, "is missing; run opentabs plugin build first"
	case err != nil:
		return nil, 0, unreadable(err)
	case !info.Mode().IsRegular():
		return nil, 0, "is not a regular file; build the plugin again"
	case info.Size() == 0:
		return nil, 0, "is empty; build the plugin again"
	case info.Size() > limit:
		return nil, 0, fmt.Sprintf("has %d bytes, more than the %d allowed; make it smaller", info.Size(), limit)
	}
	if f, err = root.Open(filepath.FromSlash(file)); err != nil {
		return nil, 0, unreadable(err)
	}
	return f, info.Size(), ""
}

// unreadable says why a file of a package cannot be read: in the words of the
// system, but without those of the call that failed.
func unreadable(err error) string {
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	// os.Root has no error to compare with for a link that leads out of it.
	if strings.Contains(err.Error(), "escapes from parent") {
		return "is a link, or lies behind one, that leads out of the plugin's folder; put the file itself there"
	}
	return "cannot be read: " + err.Error() + "; build the plugin again"
}
