package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
	"opentabs/internal/jsbuild"
	"opentabs/internal/statefile"
)

const (
	// checkedFile keeps the hashes of adapters that passed, in the state
	// directory. A server that starts with 120 large plugins would need half
	// a minute to check them all again.
	checkedFile = "checked-adapters"
	// maxChecked is how many hashes are kept, the newest: more than anyone has
	// plugins, and 128 KB at most.
	maxChecked = 2000
)

// checkedScripts remembers which adapters' code passed [jsbuild.CheckScript],
// by the SHA-256 of all of it, for this and later processes. A lost or damaged
// file costs checks only. It is safe for concurrent use.
type checkedScripts struct {
	path  string
	log   zerolog.Logger
	check func(code []byte) error

	mu     sync.Mutex      // guards all below and, in this process, the file
	passed map[string]bool // nil until the file was read
	order  []string        // the hashes, oldest first
	failed map[string]error
}

// maxRefused is how many refusals this process remembers.
const maxRefused = 1000

func newCheckedScripts(dirs config.Dirs, log zerolog.Logger) *checkedScripts {
	return &checkedScripts{path: filepath.Join(dirs.State, checkedFile), log: log, check: jsbuild.CheckScript}
}

// Check returns an error if code may not run in the function that is written
// around an adapter.
func (c *checkedScripts) Check(code []byte) error {
	sum := sha256.Sum256(code)
	hash := hex.EncodeToString(sum[:])
	if c.has(hash) {
		return nil
	}
	c.mu.Lock()
	err, known := c.failed[hash]
	c.mu.Unlock()
	if known {
		return err
	}
	if err := c.check(code); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failed == nil || len(c.failed) >= maxRefused {
			c.failed = map[string]error{}
		}
		c.failed[hash] = err
		return err
	}
	c.add(hash)
	return nil
}

func (c *checkedScripts) has(hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.passed == nil {
		c.read()
	}
	return c.passed[hash]
}

// add remembers a hash. What another process wrote meanwhile is kept.
func (c *checkedScripts) add(hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	if c.passed[hash] {
		return
	}
	c.passed[hash] = true
	c.order = append(c.order, hash)
	kept := c.order[max(0, len(c.order)-maxChecked):]
	err := os.MkdirAll(filepath.Dir(c.path), 0o700)
	if err == nil {
		err = statefile.Write(c.path, []byte(checkedHead()+strings.Join(kept, "\n")+"\n"))
	}
	if err != nil {
		c.log.Warn().Err(err).Msg("could not note that an adapter was checked; it will be checked again")
	}
}

// read adds what the file holds. The caller holds mu.
func (c *checkedScripts) read() {
	if c.passed == nil {
		c.passed = map[string]bool{}
	}
	text, err := os.ReadFile(c.path)
	rest, ok := strings.CutPrefix(string(text), checkedHead())
	if err != nil || !ok { // none yet, or of another check
		return
	}
	var found []string
	for hash := range strings.Lines(rest) {
		// A line that was cut off does not count.
		if hash, whole := strings.CutSuffix(hash, "\n"); whole && len(hash) == hex.EncodedLen(sha256.Size) {
			found = append(found, hash)
		}
	}
	own := c.order
	c.order = found
	for _, hash := range found {
		c.passed[hash] = true
	}
	for _, hash := range own {
		if !slices.Contains(found, hash) {
			c.order = append(c.order, hash)
		}
	}
}

// checkedHead is the first line of the file.
func checkedHead() string { return "check " + strconv.Itoa(jsbuild.CheckVersion) + "\n" }
