// Package scriptcheck checks plugin scripts with [jsbuild.CheckScript] and caches
// the results across processes.
package scriptcheck

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
	// cacheFile has the hashes of scripts that passed, in the state directory.
	// Without the cache, checking 120 large plugins at startup takes 30 s.
	cacheFile = "checked-adapters"
	// maxPassed is how many of the newest hashes the cache file keeps, at most 128 KB.
	maxPassed = 2000
	// maxFailed is how many failures one process caches.
	maxFailed = 1000
)

// Cache checks scripts and stores the results by the SHA-256 of the script. Passed
// scripts are also stored in a file for later processes. A lost or damaged file only
// costs repeated checks. Cache is safe for concurrent use.
type Cache struct {
	path  string
	log   zerolog.Logger
	check func(code []byte) error

	mu            sync.Mutex      // guards all fields below, and the file within this process
	passed        map[string]bool // passed is nil until the file was read
	passedInOrder []string        // hashes of passed scripts, oldest first
	failed        map[string]error
}

// New returns the cache of the installation in dirs.
func New(dirs config.Dirs, log zerolog.Logger) *Cache {
	return &Cache{path: filepath.Join(dirs.State, cacheFile), log: log, check: jsbuild.CheckScript}
}

// Check returns an error if code could break out of the function that wraps it.
func (c *Cache) Check(code []byte) error {
	sum := sha256.Sum256(code)
	hash := hex.EncodeToString(sum[:])
	if c.HasPassed(hash) {
		return nil
	}
	c.mu.Lock()
	err, isKnown := c.failed[hash]
	c.mu.Unlock()
	if isKnown {
		return err
	}
	if err := c.check(code); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failed == nil || len(c.failed) >= maxFailed {
			c.failed = map[string]error{}
		}
		c.failed[hash] = err
		return err
	}
	c.addPassed(hash)
	return nil
}

// HasPassed reports whether the script with the given SHA-256, in hex, has passed the
// check.
func (c *Cache) HasPassed(hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.passed == nil {
		c.readFile()
	}
	return c.passed[hash]
}

// addPassed stores the hash of a script that passed. addPassed keeps what other
// processes have added to the file.
func (c *Cache) addPassed(hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readFile()
	if c.passed[hash] {
		return
	}
	c.passed[hash] = true
	c.passedInOrder = append(c.passedInOrder, hash)
	newestHashes := c.passedInOrder[max(0, len(c.passedInOrder)-maxPassed):]
	err := os.MkdirAll(filepath.Dir(c.path), 0o700)
	if err == nil {
		err = statefile.Write(c.path, []byte(fileHeader()+strings.Join(newestHashes, "\n")+"\n"))
	}
	if err != nil {
		c.log.Warn().Err(err).Msg("the result of an adapter check was not cached; the adapter is checked again next time")
	}
}

// readFile adds the hashes in the cache file to the cache. The caller holds mu.
func (c *Cache) readFile() {
	if c.passed == nil {
		c.passed = map[string]bool{}
	}
	text, err := os.ReadFile(c.path)
	hashLines, ok := strings.CutPrefix(string(text), fileHeader())
	if err != nil || !ok { // the file is missing, or is from another version of the check
		return
	}
	var storedHashes []string
	for hash := range strings.Lines(hashLines) {
		// Ignore a truncated last line.
		if hash, isComplete := strings.CutSuffix(hash, "\n"); isComplete && len(hash) == hex.EncodedLen(sha256.Size) {
			storedHashes = append(storedHashes, hash)
		}
	}
	newHashes := c.passedInOrder
	c.passedInOrder = storedHashes
	for _, hash := range storedHashes {
		c.passed[hash] = true
	}
	for _, hash := range newHashes {
		if !slices.Contains(storedHashes, hash) {
			c.passedInOrder = append(c.passedInOrder, hash)
		}
	}
}

// fileHeader returns the first line of the cache file. The first line of the cache file
// changes with the version of the check.
func fileHeader() string { return "check " + strconv.Itoa(jsbuild.CheckVersion) + "\n" }
