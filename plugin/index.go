package plugin

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"opentabs/internal/rawjson"
	"opentabs/internal/statefile"
)

const (
	// indexFile is the name of the index in the state folder.
	indexFile = "plugin-index"
	// indexVersion changes when an older index must not be used any more: with
	// its format, and with what is checked of an adapter before it is indexed.
	indexVersion = 2
	// maxIndexBytes is the largest index that is read.
	maxIndexBytes = 16 << 20
)

// The age from which a file's times are trusted: a file that is written twice
// within one tick of the file system's clock has the same times after both.
const (
	settleFine   = 50 * time.Millisecond
	settleCoarse = 3 * time.Second // FAT counts in steps of 2 s
)

// index is a file in the state folder with the hashes of adapters, by folder and
// by what the adapter's file looks like. With it a server that starts with a
// hundred plugins reads their descriptions and none of their code.
//
// An index only saves reading. One that is missing, damaged, of another version
// or not sealed with the same key is ignored and rewritten. The
// code itself is compared with its hash whenever it is read; see [Plugin.Adapter].
//
// It is safe for concurrent use.
type index struct {
	path string
	key  []byte
	now  func() time.Time
	// misses counts the adapters whose hash was asked for and not known.
	misses atomic.Int64

	mu      sync.Mutex              // guards the rest
	known   map[string]indexedEntry // by folder; nil until the file was read
	changed bool                    // known is not what the file has
}

// indexedEntry is what the index has of one adapter.
type indexedEntry struct {
	File fileMark `json:"file"`
	// Hash is the SHA-256 of the whole file, in hex.
	Hash string `json:"hash"`
	// Activates says that the code defines an onActivate hook.
	Activates bool `json:"activates,omitempty"`
	// Compiles is the manifest hash with which all schemas were last compiled.
	Compiles string `json:"compiles,omitempty"`
}

// fileMark is what a file looks like from outside. Any change of its content
// changes it: a program can set the time of modification, but not that of the
// change (ChangedNs), which Windows does not have.
type fileMark struct {
	Size       int64  `json:"size"`
	ModifiedNs int64  `json:"modifiedNs"`
	ChangedNs  int64  `json:"changedNs,omitempty"`
	Inode      uint64 `json:"inode,omitempty"`
	Device     uint64 `json:"device,omitempty"`
}

// markOf returns the mark of a file.
func markOf(info os.FileInfo) fileMark {
	m := fileMark{Size: info.Size(), ModifiedNs: info.ModTime().UnixNano()}
	m.addSystem(info)
	return m
}

// isSettled reports whether a later change of the file changes its mark too.
func (m fileMark) isSettled(now time.Time) bool {
	for _, ns := range []int64{m.ModifiedNs, m.ChangedNs} {
		age := settleFine
		if ns%int64(time.Second) == 0 {
			age = settleCoarse
		}
		if ns != 0 && now.Sub(time.Unix(0, ns)) < age {
			return false
		}
	}
	return true
}

// newIndex returns the index in the folder dir; nil, which knows nothing and
// keeps nothing, without a key.
func newIndex(dir string, key []byte) *index {
	if len(key) == 0 {
		return nil
	}
	return &index{path: filepath.Join(dir, indexFile), key: key, now: time.Now}
}

// adapter returns what is known of the adapter in the folder dir, if its file
// still looks like this.
func (x *index) adapter(dir string, mark fileMark) (info adapterInfo, ok bool) {
	if x == nil {
		return info, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	e, ok := x.known[dir]
	if !ok || e.File != mark {
		x.misses.Add(1)
		return info, false
	}
	return adapterInfo{hash: e.Hash, activates: e.Activates}, true
}

// note keeps what is known of an adapter whose file looked like this before and after
// it was read.
func (x *index) note(dir string, mark fileMark, info adapterInfo) {
	if x == nil || !mark.isSettled(x.now()) {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	x.known[dir] = indexedEntry{File: mark, Hash: info.hash, Activates: info.activates, Compiles: x.known[dir].Compiles}
	x.changed = true
}

// compiles reports whether the schemas of the package in dir, whose manifest has
// this hash, are known to compile.
func (x *index) compiles(dir, manifest string) bool {
	if x == nil {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	return x.known[dir].Compiles == manifest
}

// noteCompiles keeps that they do, if the package has an entry.
func (x *index) noteCompiles(dir, manifest string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	if e, ok := x.known[dir]; ok {
		e.Compiles = manifest
		x.known[dir] = e
		x.changed = true
	}
}

// forget drops an entry: the adapter is read the next time.
func (x *index) forget(dir string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	if _, ok := x.known[dir]; ok {
		delete(x.known, dir)
		x.changed = true
	}
}

// save writes the index if it has changed. With keep it drops the folders for
// which that is false.
func (x *index) save(keep func(dir string) bool) error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	for dir := range x.known {
		if keep != nil && !keep(dir) {
			delete(x.known, dir)
			x.changed = true
		}
	}
	if !x.changed {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(x.path), 0o700); err != nil {
		return fmt.Errorf("write the plugin index: %w", err)
	}
	body := rawjson.Encode(x.known)
	if err := statefile.Write(x.path, append([]byte(x.head(body)), body...)); err != nil {
		return err
	}
	x.changed = false
	return nil
}

// head is the first line of the file: its version and the seal of the rest.
func (x *index) head(body []byte) string {
	first := fmt.Sprintf("opentabs plugin index %d ", indexVersion)
	seal := hmac.New(sha256.New, x.key)
	seal.Write([]byte(first))
	seal.Write(body)
	return first + hex.EncodeToString(seal.Sum(nil)) + "\n"
}

// read reads the file once. What it can't use counts as an empty index, which is
// written anew. The caller holds mu.
func (x *index) read() {
	if x.known != nil {
		return
	}
	x.known, x.changed = map[string]indexedEntry{}, true
	if info, err := os.Stat(x.path); err != nil || !info.Mode().IsRegular() || info.Size() > maxIndexBytes {
		return
	}
	text, err := os.ReadFile(x.path)
	if err != nil {
		return
	}
	end := bytes.IndexByte(text, '\n') + 1
	head, body := text[:end], text[end:]
	if !hmac.Equal(head, []byte(x.head(body))) {
		return
	}
	known := map[string]indexedEntry{}
	if json.Unmarshal(body, &known) == nil && known != nil {
		x.known, x.changed = known, false
	}
}
