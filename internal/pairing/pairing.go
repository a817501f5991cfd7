// Package pairing stores the secret keys of paired browsers. A browser whose extension comes from an extension store is
// paired by a code. An extension from a store does not contain the installation's key, unlike an extension that
// opentabs has installed.
//
// To pair a browser, the user enters the code from the side panel, and [Store.Add] stores a key derived from the code.
// After the browser has proved that it has the derived key, [Store.Confirm] replaces the derived key with a random key.
// A pairing code in a shell history is useless, because the code works only once.
//
// # Concurrency
//
// A [Store] is safe for concurrent use. Several processes can use one pairing file: each method reads the file again,
// and each change locks the file.
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
	// pairingCodeChars is the length of a pairing code without hyphens. Each character of a
	// pairing code encodes 5 bits.
	pairingCodeChars = 20
	maxBrowsers      = 256
	lockTimeout      = 5 * time.Second
	// displayedIDChars is the length of a paired browser's ID, which users see and type.
	displayedIDChars = 8
)

var (
	errCode = errors.New("a code has 20 letters and digits, such as 7KQ2M-XD9R4-TB8WZ-0HJ5N; the side panel of the extension shows the code")
	// ErrUnknown is returned if no paired browser has the given ID or key ID.
	ErrUnknown = errors.New("no paired browser has this ID")
)

// Browser describes one browser that the user has paired with a code.
type Browser struct {
	// ID identifies the paired browser in commands, such as `opentabs pair remove ID`. ID
	// consists of the first 8 characters of the ID of the browser's first pairing key.
	ID string `json:"id"`
	// Name is the browser's name at its last connection; empty if the browser has never
	// connected.
	Name string `json:"name,omitempty"`
	// The field PairedAt is the time when the user entered the pairing code.
	PairedAt time.Time `json:"paired"`
	// IsConfirmed is true if the browser has connected since the pairing.
	IsConfirmed bool `json:"confirmed,omitempty"`
}

// storedBrowser is the JSON of one paired browser in the pairing file.
type storedBrowser struct {
	Browser
	// Key is the browser's current pairing key.
	Key string `json:"key"`
	// NextKey replaces Key when the browser first connects with NextKey; empty if no
	// replacement is pending.
	NextKey string `json:"next_key,omitempty"`
}

func (b *storedBrowser) hasKey(keyID string) bool { return b.findKey(keyID) != "" }

func (b *storedBrowser) findKey(keyID string) string {
	for _, key := range []string{b.Key, b.NextKey} {
		if key != "" && wire.KeyID(key) == keyID {
			return key
		}
	}
	return ""
}

// pairingFile is the JSON content of the pairing file.
type pairingFile struct {
	Version  int             `json:"version"`
	Browsers []storedBrowser `json:"browsers"`
}

// Store stores the paired browsers in a JSON file. Create a Store with [Open].
type Store struct{ path string }

// Open returns the store of paired browsers in the file at path. Open does not read the
// file, which need not exist.
func Open(path string) *Store { return &Store{path} }

// ParseCode normalizes a pairing code that the user has typed. ParseCode returns an error
// if the text is not a pairing code. ParseCode ignores case, spaces and hyphens.
// ParseCode reads the letter O as 0, and the letters I and L as 1.
func ParseCode(pairingCode string) (string, error) {
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // Crockford's base 32
	code := strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(pairingCode))
	if len(code) != pairingCodeChars || strings.Trim(code, alphabet) != "" {
		return "", errCode
	}
	return code, nil
}

// Add pairs the browser whose side panel shows the code, and returns the ID of the
// pairing. If the code is already stored, Add returns the ID of the earlier pairing.
func (s *Store) Add(code string) (id string, err error) {
	key := wire.PairingKey(code)
	id = wire.KeyID(key)[:displayedIDChars]
	return id, s.change(func(f *pairingFile) error {
		if slices.ContainsFunc(f.Browsers, func(b storedBrowser) bool { return b.ID == id }) {
			return nil
		}
		if len(f.Browsers) >= maxBrowsers {
			return fmt.Errorf("there are %d paired browsers already: remove one with `opentabs pair remove ID`", maxBrowsers)
		}
		f.Browsers = append(f.Browsers, storedBrowser{Browser: Browser{ID: id, PairedAt: time.Now().UTC().Truncate(time.Second)}, Key: key})
		return nil
	})
}

// Remove ends the pairing of a browser, and the daemon closes the browser's link within
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

// List returns the paired browsers without their keys, oldest pairing first.
func (s *Store) List() ([]Browser, error) {
	f, err := s.read()
	browsers := make([]Browser, len(f.Browsers))
	for i, b := range f.Browsers {
		browsers[i] = b.Browser
	}
	return browsers, err
}

// Key returns the pairing key with the given key ID; empty if no paired browser has such
// a key.
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

// Confirm records that a browser has proved that it has the key with the given key ID. If
// the proven key comes from a pairing code, Confirm returns a random newKey, which the
// browser must use from then on. If the browser already uses a random key, newKey is
// empty. The old key stays valid until the browser has connected with newKey.
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

func (s *Store) read() (pairingFile, error) {
	var f pairingFile
	fileContent, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(fileContent, &f)
	}
	if err != nil {
		return pairingFile{}, fmt.Errorf("read the paired browsers in %s: %w", s.path, err)
	}
	return f, nil
}

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
	oldContent, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write the paired browsers: %w", err)
	}
	if err := apply(&f); err != nil {
		return err
	}
	f.Version = 1
	encodedJSON, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write the paired browsers: %w", err)
	}
	if string(encodedJSON) == string(oldContent) {
		return nil
	}
	return statefile.Write(s.path, append(encodedJSON, '\n'))
}
