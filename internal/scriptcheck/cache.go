// Package scriptcheck checks the scripts of plugins with [jsbuild.CheckScript] and caches
// the results in a file, because a check is slow.
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
	// Without the cache file, checking 120 large plugins takes 30 s at each start of opentabs.
	cacheFile = "checked-adapters"
	// maxPassedScripts limits how many hashes the cache file stores, newest first; 2,000 hashes
	// need 130 KB.
	maxPassedScripts = 2000
	maxFailedScripts = 1000
)

// Cache checks scripts and stores each result under the script's SHA-256 hash. The hashes of
// scripts that passed are also stored in a file for later processes. If the cache file is lost
// or damaged, all scripts are checked again. Cache is safe for concurrent use.
type Cache struct {
	path        string
	log         zerolog.Logger
	checkScript func(code []byte) error

	mu                sync.Mutex // the mutex guards all fields below, and access to the file in this process
	passedHashes      map[string]bool
	passedHashesByAge []string // hashes of passed scripts, oldest first
	scriptErrors      map[string]error
}

// New returns the cache whose file is in the state folder of dirs.
func New(dirs config.Dirs, log zerolog.Logger) *Cache {
	return &Cache{path: filepath.Join(dirs.State, cacheFile), log: log, checkScript: jsbuild.CheckScript}
}

// Check returns an error if the script could escape from the function that opentabs wraps
// around each script. If the cache has no result for the script, Check runs the check and
// stores the result.
func (c *Cache) Check(code []byte) error {
	checksum := sha256.Sum256(code)
	hash := hex.EncodeToString(checksum[:])
	if c.HasPassed(hash) {
		return nil
	}
	c.mu.Lock()
	err, isKnown := c.scriptErrors[hash]
	c.mu.Unlock()
	if isKnown {
		return err
	}
	if err := c.checkScript(code); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.scriptErrors == nil || len(c.scriptErrors) >= maxFailedScripts {
			c.scriptErrors = map[string]error{}
		}
		c.scriptErrors[hash] = err
		return err
	}
	c.addPassedHash(hash)
	return nil
}

// HasPassed reports whether the script with this SHA-256 hash, in hexadecimal digits, has
// passed the check.
func (c *Cache) HasPassed(hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.passedHashes == nil {
		c.readFile()
	}
	return c.passedHashes[hash]
}

// addPassedHash keeps the hashes that other processes have added to the cache file.
func (c *Cache) addPassedHash(hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readFile()
	if c.passedHashes[hash] {
		return
	}
	c.passedHashes[hash] = true
	c.passedHashesByAge = append(c.passedHashesByAge, hash)
	newestHashes := c.passedHashesByAge[max(0, len(c.passedHashesByAge)-maxPassedScripts):]
	err := os.MkdirAll(filepath.Dir(c.path), 0o700)
	if err == nil {
		err = statefile.Write(c.path, []byte(fileHeader()+strings.Join(newestHashes, "\n")+"\n"))
	}
	if err != nil {
		c.log.Warn().Err(err).Msg("the result of an adapter check was not cached; the adapter is checked again next time")
	}
}

// The caller of readFile has locked Cache.mu.
func (c *Cache) readFile() {
	if c.passedHashes == nil {
		c.passedHashes = map[string]bool{}
	}
	fileContent, err := os.ReadFile(c.path)
	hashLines, ok := strings.CutPrefix(string(fileContent), fileHeader())
	if err != nil || !ok {
		return
	}
	var storedHashes []string
	for hash := range strings.Lines(hashLines) {
		// A crash may truncate the last line of the cache file, so an incomplete hash is ignored.
		if hash, isComplete := strings.CutSuffix(hash, "\n"); isComplete && len(hash) == hex.EncodedLen(sha256.Size) {
			storedHashes = append(storedHashes, hash)
		}
	}
	newHashes := c.passedHashesByAge
	c.passedHashesByAge = storedHashes
	for _, hash := range storedHashes {
		c.passedHashes[hash] = true
	}
	for _, hash := range newHashes {
		if !slices.Contains(storedHashes, hash) {
			c.passedHashesByAge = append(c.passedHashesByAge, hash)
		}
	}
}

// If another version of the check wrote the cache file, opentabs ignores the hashes in the file.
func fileHeader() string { return "check " + strconv.Itoa(jsbuild.CheckVersion) + "\n" }
