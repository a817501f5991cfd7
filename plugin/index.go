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

	"opentabs/internal/filemark"
	"opentabs/internal/rawjson"
	"opentabs/internal/statefile"
)

const (
	// indexFile is the file name of the index of adapters in the state folder.
	indexFile = "plugin-index"
	// indexVersion is the version of the index file's format, and increases when the checks of adapters change.
	indexVersion = 2
	// maxIndexBytes is the maximum size of an index file that opentabs reads, in bytes.
	maxIndexBytes = 16 << 20
)

// The type index is the content of the index file in the state folder. For each plugin
// folder, the index file stores the adapter's hash and the attributes of the adapter's
// file. With an index, a starting daemon reads the descriptions of plugins, but not the
// code of their adapters.
//
// The registry ignores and rewrites an index file that is damaged, has another version or
// was authenticated with another key. opentabs compares the code of an adapter with the
// adapter's hash at each read; see [Plugin.Adapter].
//
// An index is safe for concurrent use. A nil index is empty and stores nothing.
type index struct {
	path      string
	key       []byte
	now       func() time.Time
	missCount atomic.Int64

	mu         sync.Mutex              // the mutex guards all fields below
	entries    map[string]indexedEntry // entries maps package folders to entries; nil until the index file is read
	hasChanged bool
}

// indexedEntry is the entry of one adapter in the index file.
type indexedEntry struct {
	File filemark.Fingerprint `json:"file"`
	// The field Hash is the SHA-256 of the whole adapter file, in hex.
	Hash string `json:"hash"`
	// The field HasActivateHook is true if the adapter's code defines an onActivate hook.
	HasActivateHook bool `json:"activates,omitempty"`
	// CompiledManifestHash is the hash of the last package manifest whose JSON Schemas all compiled;
	// empty if there is none.
	CompiledManifestHash string `json:"compiles,omitempty"`
}

func newIndex(dir string, key []byte) *index {
	if len(key) == 0 {
		return nil
	}
	return &index{path: filepath.Join(dir, indexFile), key: key, now: time.Now}
}

func (x *index) adapterEntry(dir string, fileMark filemark.Fingerprint) (info adapterInfo, ok bool) {
	if x == nil {
		return info, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	e, ok := x.entries[dir]
	if !ok || e.File != fileMark {
		x.missCount.Add(1)
		return info, false
	}
	return adapterInfo{hash: e.Hash, hasActivateHook: e.HasActivateHook}, true
}

// addEntry skips an adapter file that was written a moment ago, because another write could leave the file's attributes
// unchanged.
func (x *index) addEntry(dir string, fileMark filemark.Fingerprint, info adapterInfo) {
	if x == nil || !fileMark.IsReliable(x.now()) {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	x.entries[dir] = indexedEntry{File: fileMark, Hash: info.hash, HasActivateHook: info.hasActivateHook, CompiledManifestHash: x.entries[dir].CompiledManifestHash}
	x.hasChanged = true
}

func (x *index) hasCompiled(dir, manifest string) bool {
	if x == nil {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	return x.entries[dir].CompiledManifestHash == manifest
}

func (x *index) recordCompiledManifest(dir, manifest string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	if e, ok := x.entries[dir]; ok {
		e.CompiledManifestHash = manifest
		x.entries[dir] = e
		x.hasChanged = true
	}
}

func (x *index) removeEntry(dir string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	if _, ok := x.entries[dir]; ok {
		delete(x.entries, dir)
		x.hasChanged = true
	}
}

func (x *index) save(keep func(dir string) bool) error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	for dir := range x.entries {
		if keep != nil && !keep(dir) {
			delete(x.entries, dir)
			x.hasChanged = true
		}
	}
	if !x.hasChanged {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(x.path), 0o700); err != nil {
		return fmt.Errorf("write the plugin index: %w", err)
	}
	body := rawjson.Encode(x.entries)
	if err := statefile.Write(x.path, append([]byte(x.firstLine(body)), body...)); err != nil {
		return err
	}
	x.hasChanged = false
	return nil
}

func (x *index) firstLine(body []byte) string {
	version := fmt.Sprintf("opentabs plugin index %d ", indexVersion)
	mac := hmac.New(sha256.New, x.key)
	mac.Write([]byte(version))
	mac.Write(body)
	return version + hex.EncodeToString(mac.Sum(nil)) + "\n"
}

// The caller of read must hold index.mu.
func (x *index) read() {
	if x.entries != nil {
		return
	}
	x.entries, x.hasChanged = map[string]indexedEntry{}, true
	if fileInfo, err := os.Stat(x.path); err != nil || !fileInfo.Mode().IsRegular() || fileInfo.Size() > maxIndexBytes {
		return
	}
	fileContent, err := os.ReadFile(x.path)
	if err != nil {
		return
	}
	endIndex := bytes.IndexByte(fileContent, '\n') + 1
	firstLine, body := fileContent[:endIndex], fileContent[endIndex:]
	if !hmac.Equal(firstLine, []byte(x.firstLine(body))) {
		return
	}
	entries := map[string]indexedEntry{}
	if json.Unmarshal(body, &entries) == nil && entries != nil {
		x.entries, x.hasChanged = entries, false
	}
}
