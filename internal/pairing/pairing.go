// Package pairing stores the keys of paired browsers. A browser whose extension comes
// from a store is paired with a code, because that extension has no file with the key of
// the installation.
//
// The side panel shows a code. [Store.Add] stores the key that belongs to the code. When
// the browser has proved that it has this key, [Store.Confirm] replaces the key by a
// random key, so that a code in a shell history is useless.
//
// # Concurrency
//
// A [Store] is safe for concurrent use. Several processes may use one file: changes
// happen under a lock file, and each method reads the file.
package pairing

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"opentabs/internal/statefile"
	"opentabs/wire"
)

const (
	// codeChars is the length of a pairing code without hyphens: 20 characters of 5 bits
	// each.
	codeChars = 20
	// maxBrowsers limits the number of paired browsers.
	maxBrowsers = 256
	// lockTimeout is how long a change of the paired browsers waits for the lock of
	// another process.
	lockTimeout = 5 * time.Second
	// shownIDChars is the length of a paired browser's ID.
	shownIDChars = 8
)

var (
	// errCode is the error for a text that is not a pairing code.
	errCode = errors.New("a code has 20 letters and digits, such as 7KQ2M-XD9R4-TB8WZ-0HJ5N; the side panel of the extension shows the code")
	// ErrUnknown is the error for an ID or a key that belongs to no paired browser.
	ErrUnknown = errors.New("no paired browser has this ID")
)

// Browser is a browser that was paired with a code.
type Browser struct {
	// ID is a short text that identifies the pairing of the browser.
	ID string `json:"id"`
	// Name is the name that the browser had when it last connected; empty if the browser
	// has never connected.
	Name string `json:"name,omitempty"`
	// Paired is when the user entered the pairing code.
	Paired time.Time `json:"paired"`
	// IsConfirmed is true if the browser has connected after the pairing.
	IsConfirmed bool `json:"confirmed,omitempty"`
}

// storedBrowser is a paired browser's entry in the file.
type storedBrowser struct {
	Browser
	// Key is the current key of the paired browser.
	Key string `json:"key"`
	// NextKey is a new key that the paired browser has not used yet; empty if there is no
	// new key.
	NextKey string `json:"next_key,omitempty"`
}

// hasKey reports whether one of the browser's keys has the given ID.
func (b *storedBrowser) hasKey(keyID string) bool { return b.findKey(keyID) != "" }

// findKey returns the key of the browser with the given ID, or an empty string if there
// is none.
func (b *storedBrowser) findKey(keyID string) string {
	for _, key := range []string{b.Key, b.NextKey} {
		if key != "" && wire.KeyID(key) == keyID {
			return key
		}
	}
	return ""
}

// pairingFile is the JSON content of the file with the paired browsers.
type pairingFile struct {
	Version  int             `json:"version"`
	Browsers []storedBrowser `json:"browsers"`
}

// Store stores the paired browsers in one file.
type Store struct{ path string }

// Open returns a store of paired browsers in the file at path. The file need not exist.
func Open(path string) *Store { return &Store{path} }

// ParseCode returns a pairing code in the form that the extension uses. ParseCode ignores
// case, spaces and hyphens, and reads O as 0, and I and L as 1. ParseCode returns an
// error if the text is not a pairing code.
func ParseCode(text string) (string, error) {
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // Crockford's base 32
	code := strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(text))
	if len(code) != codeChars || strings.Trim(code, alphabet) != "" {
		return "", errCode
	}
	return code, nil
}

// Add pairs the browser that shows the code, and returns the ID of the pairing. Adding
// the same code again returns the same ID.
func (s *Store) Add(code string) (id string, err error) {
	key := wire.PairingKey(code)
	id = wire.KeyID(key)[:shownIDChars]
	return id, s.change(func(f *pairingFile) error {
		if slices.ContainsFunc(f.Browsers, func(b storedBrowser) bool { return b.ID == id }) {
			return nil
		}
		if len(f.Browsers) >= maxBrowsers {
			return fmt.Errorf("there are %d paired browsers already: remove one with `opentabs pair remove ID`", maxBrowsers)
		}
		f.Browsers = append(f.Browsers, storedBrowser{Browser: Browser{ID: id, Paired: time.Now().UTC().Truncate(time.Second)}, Key: key})
		return nil
	})
}

// Remove ends the pairing of a browser. The server then closes the browser's link within
// seconds. Remove returns ErrUnknown if no paired browser has the ID.
func (s *Store) Remove(id string) error {
	return s.change(func(f *pairingFile) error {
		i := slices.IndexFunc(f.Browsers, func(b storedBrowser) bool { return b.ID == id })
		if i < 0 {
			return ErrUnknown
		}
		f.Browsers = slices.Delete(f.Browsers, i, i+1)
		return nil
	})
}

// List returns the paired browsers, in the order in which they were paired.
func (s *Store) List() ([]Browser, error) {
	f, err := s.read()
	browsers := make([]Browser, len(f.Browsers))
	for i, b := range f.Browsers {
		browsers[i] = b.Browser
	}
	return browsers, err
}

// Key returns the pairing key with the given ID; empty if no paired browser has such a
// key.
func (s *Store) Key(keyID string) (string, error) {
	f, err := s.read()
	if err != nil {
		return "", err
	}
	for i := range f.Browsers {
		if key := f.Browsers[i].findKey(keyID); key != "" {
			return key, nil
		}
	}
	return "", nil
}

// Confirm records that a browser has proved that it has the key with the given ID. If
// this key comes from a pairing code, Confirm returns a random newKey that the browser
// must use from now on; otherwise newKey is empty. The old key stays valid until the
// browser has used newKey.
func (s *Store) Confirm(keyID, browserName string) (newKey string, err error) {
	return newKey, s.change(func(f *pairingFile) error {
		i := slices.IndexFunc(f.Browsers, func(b storedBrowser) bool { return b.hasKey(keyID) })
		if i < 0 {
			return ErrUnknown
		}
		b := &f.Browsers[i]
		switch {
		case b.NextKey != "" && wire.KeyID(b.NextKey) == keyID:
			b.Key, b.NextKey = b.NextKey, ""
		case !b.IsConfirmed:
			b.NextKey = rand.Text() + rand.Text()
		}
		b.Name, b.IsConfirmed, newKey = browserName, true, b.NextKey
		return nil
	})
}

// read reads the file with the paired browsers. A missing file contains no browsers.
func (s *Store) read() (pairingFile, error) {
	var f pairingFile
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return pairingFile{}, fmt.Errorf("read the paired browsers in %s: %w", s.path, err)
	}
	return f, nil
}

// change locks the file with the paired browsers, applies a change, and writes the file.
func (s *Store) change(apply func(*pairingFile) error) error {
	unlock, err := statefile.Lock(s.path+".lock", lockTimeout)
	if err != nil {
		return fmt.Errorf("change the paired browsers: %w", err)
	}
	defer unlock()
	f, err := s.read()
	if err != nil {
		return err
	}
	old, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write the paired browsers: %w", err)
	}
	if err := apply(&f); err != nil {
		return err
	}
	f.Version = 1
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write the paired browsers: %w", err)
	}
	if string(text) == string(old) {
		return nil
	}
	return statefile.Write(s.path, append(text, '\n'))
}
