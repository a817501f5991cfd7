// Package browsernames keeps the names of browsers and the default browser of each MCP
// client.
//
// Start with [Open]. The server calls [Store.NameOf] to get the name of each browser that
// connects, and commands change names and default browsers. No two browsers have the same
// name: the second browser with the name "Chrome on Linux" gets the name "Chrome on Linux
// 2", which it keeps after a restart.
//
// # Concurrency
//
// A [Store] is safe for concurrent use. While a server runs, only the server writes the
// file with the names.
package browsernames

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"opentabs/internal/statefile"
)

const (
	// maxNameChars limits the length of a browser's name that the user gives.
	maxNameChars = 60
	// keepUnnamed is how long opentabs stores a browser to which the user gave no name.
	keepUnnamed = 30 * 24 * time.Hour
	// seenPrecision is the resolution at which opentabs stores when a browser last
	// connected.
	seenPrecision = time.Hour
	// copyMark is a character in the ID of a browser that runs a copy of another
	// browser's profile. Such an ID changes with each start of the browser, so opentabs
	// does not store the browser.
	copyMark = "~"
)

// Browser is a browser that is or was connected to opentabs.
type Browser struct {
	ID string `json:"id"`
	// Name is the name of the browser that surfaces show. No other browser has the same
	// name.
	Name string `json:"name"`
	// IsGiven is true if the user gave the browser its name.
	IsGiven bool `json:"given,omitempty"`
	// SentName is the user's name for the browser in the last message of the extension;
	// empty if the extension sent a default name.
	SentName string `json:"sent,omitempty"`
	// SentDefault is the default name that the extension sent. Default is the default
	// name without a number: SentDefault, or a name that contains the profile and the
	// computer.
	SentDefault string    `json:"sent_default,omitempty"`
	Default     string    `json:"default"`
	LastSeen    time.Time `json:"last_seen"`
}

// document is the JSON content of the file with the names of browsers.
type document struct {
	Browsers []Browser `json:"browsers"`
	// Defaults maps the lower-case name of each client to the ID of its default browser.
	// The empty name is for all other clients.
	Defaults map[string]string `json:"defaults,omitempty"`
}

// Store reads and writes the file with the names of browsers.
type Store struct {
	path string
	// findDefault returns a default name that contains the profile and the computer, or
	// an empty string if the profile is unknown. findDefault is nil unless UseDefaults
	// has set it.
	findDefault func(browserID, sentName string) string

	mu  sync.Mutex // mu guards doc and the file with the names
	doc document
}

// Open reads the names of browsers from the file at path. A missing file has no names.
// Open renames a damaged file, and returns a warning that names the damaged file.
func Open(path string) (s *Store, warning string) {
	s = &Store{path: path}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &s.doc)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.doc = document{}
		keptAs, err := statefile.PutAside(path)
		if err != nil {
			keptAs = path
		}
		warning = fmt.Sprintf("the names of browsers in %s were damaged; the file is kept as %s", path, keptAs)
	}
	if s.doc.Defaults == nil {
		s.doc.Defaults = map[string]string{}
	}
	return s, warning
}

// UseDefaults sets the function find, which returns a default name with the profile and
// the computer of a browser. An empty string means the default name that the extension
// sent. Call UseDefaults before NameOf.
func (s *Store) UseDefaults(find func(browserID, sentName string) string) { s.findDefault = find }

// defaultName returns the default name of a browser. The store keeps a default name that
// was found before, because a search reads many files.
func (s *Store) defaultName(b Browser, sentName string) string {
	switch {
	case s.findDefault == nil:
		return sentName
	case b.SentDefault == sentName && b.Default != "" && b.Default != sentName:
		return b.Default
	}
	return cmp.Or(s.findDefault(b.ID, sentName), sentName)
}

// NameOf returns the name of a browser that connects, and whether the user gave the name.
// The parameter sentName is the name that the extension sent. The parameter isDefault is
// true if sentName is the extension's default. A new name from the extension replaces a
// name that a command set.
func (s *Store) NameOf(id, sentName string, isDefault bool) (name string, isGiven bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetOld()
	b, isKnown := s.find(id)
	before := b
	if !isKnown {
		b = Browser{ID: id}
	}
	givenName := sentName
	if isDefault {
		givenName, b.Default, b.SentDefault = "", s.defaultName(b, sentName), sentName
	}
	b.Default = cmp.Or(b.Default, "Chrome")
	switch {
	case givenName != b.SentName: // the user has named the browser in the side panel
		b.SentName, b.IsGiven = givenName, givenName != ""
		b.Name = s.unusedName(id, cmp.Or(givenName, b.Default))
	case b.Name == "" || !b.IsGiven && !strings.HasPrefix(b.Name, b.Default):
		b.Name = s.unusedName(id, b.Default)
	}
	if now := time.Now().UTC(); now.Sub(b.LastSeen) >= seenPrecision {
		b.LastSeen = now.Truncate(time.Second)
	}
	if b != before {
		s.put(b)
		_ = s.save() // if the disk is not writable, the store keeps the names in memory
	}
	return b.Name, b.IsGiven
}

// Rename gives a browser a new name, and returns the browser. The parameter browser is an
// ID or a name. An empty name restores the default name. If a browser that is not
// connected already has the name, the renamed browser replaces that browser, also as a
// default browser.
func (s *Store) Rename(browser, name string, connected []string) (Browser, error) {
	name = strings.TrimSpace(name)
	if err := checkName(name); err != nil {
		return Browser{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.lookUp(browser)
	if err != nil {
		return Browser{}, err
	}
	if owner, ok := s.findName(name); ok && owner.ID != b.ID {
		if slices.Contains(connected, owner.ID) {
			return Browser{}, fmt.Errorf("another connected browser has the name %q: choose another name, or rename that browser first", owner.Name)
		}
		s.replace(owner.ID, b.ID)
	}
	b.IsGiven = name != ""
	if b.Name = name; name == "" {
		b.Name = s.unusedName(b.ID, b.Default)
	}
	s.put(b)
	return b, s.save()
}

// SetDefault sets the browser that runs the calls of a client if several browsers have a
// matching tab. An empty client means all clients without a separate default browser. An
// empty browser removes the default browser.
func (s *Store) SetDefault(client, browser string) (Browser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.ToLower(strings.TrimSpace(client))
	if browser == "" {
		delete(s.doc.Defaults, key)
		return Browser{}, s.save()
	}
	b, err := s.lookUp(browser)
	if err != nil {
		return Browser{}, err
	}
	s.doc.Defaults[key] = b.ID
	return b, s.save()
}

// Forget removes a browser that is not connected, with its name. Forget also removes the
// browser as the default browser of clients.
func (s *Store) Forget(browser string, connected []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.lookUp(browser)
	if err != nil {
		return err
	}
	if slices.Contains(connected, b.ID) {
		return fmt.Errorf("the browser %q is connected: close it first", b.Name)
	}
	s.replace(b.ID, "")
	return s.save()
}

// DefaultFor returns the ID of the default browser of a client that has one of the given
// names; empty if the client has no default browser.
func (s *Store) DefaultFor(clientNames ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range append(clientNames, "") {
		if id := s.doc.Defaults[strings.ToLower(strings.TrimSpace(name))]; id != "" {
			return id
		}
	}
	return ""
}

// List returns the browsers, sorted by name. The function clientsOf returns the names of
// the clients whose default is a browser; an empty name means all other clients.
func (s *Store) List() (browsers []Browser, clientsOf func(id string) []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	browsers = slices.Clone(s.doc.Browsers)
	slices.SortFunc(browsers, func(a, b Browser) int { return cmp.Compare(a.Name, b.Name) })
	clients := map[string][]string{}
	for client, id := range s.doc.Defaults {
		clients[id] = append(clients[id], client)
		slices.Sort(clients[id])
	}
	return browsers, func(id string) []string { return clients[id] }
}

// checkName returns an error for a browser's name that surfaces cannot show.
func checkName(name string) error {
	switch {
	case utf8.RuneCountInString(name) > maxNameChars:
		return fmt.Errorf("the name has more than %d characters: choose a shorter one", maxNameChars)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("the name has characters that cannot be shown: use letters, digits and spaces")
	}
	return nil
}

// unusedName returns a browser's name that no browser but id has: base, or base with a
// number.
func (s *Store) unusedName(id, base string) string {
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s %d", base, n)
		}
		if owner, ok := s.findName(name); !ok || owner.ID == id {
			return name
		}
	}
}

func (s *Store) find(id string) (Browser, bool) {
	i := slices.IndexFunc(s.doc.Browsers, func(b Browser) bool { return b.ID == id })
	if i < 0 {
		return Browser{}, false
	}
	return s.doc.Browsers[i], true
}

// findName returns the browser with a name. findName ignores upper and lower case.
func (s *Store) findName(name string) (Browser, bool) {
	i := slices.IndexFunc(s.doc.Browsers, func(b Browser) bool { return strings.EqualFold(b.Name, name) })
	if i < 0 {
		return Browser{}, false
	}
	return s.doc.Browsers[i], true
}

// lookUp returns the browser with this ID or name. An empty string means the only browser
// in the store.
func (s *Store) lookUp(idOrName string) (Browser, error) {
	if b, ok := s.find(idOrName); ok {
		return b, nil
	}
	if b, ok := s.findName(idOrName); ok {
		return b, nil
	}
	if idOrName == "" && len(s.doc.Browsers) == 1 {
		return s.doc.Browsers[0], nil
	}
	return Browser{}, fmt.Errorf("there is no browser %q: `opentabs browser list` shows the names", idOrName)
}

// put adds a browser to the store, or replaces the browser with the same ID.
func (s *Store) put(b Browser) {
	s.doc.Browsers = slices.DeleteFunc(s.doc.Browsers, func(known Browser) bool { return known.ID == b.ID })
	s.doc.Browsers = append(s.doc.Browsers, b)
}

// replace removes a browser and makes the browser newID the default browser of the same
// clients. An empty newID leaves these clients without a default browser.
func (s *Store) replace(oldID, newID string) {
	s.doc.Browsers = slices.DeleteFunc(s.doc.Browsers, func(b Browser) bool { return b.ID == oldID })
	for client, id := range s.doc.Defaults {
		switch {
		case id != oldID:
		case newID == "":
			delete(s.doc.Defaults, client)
		default:
			s.doc.Defaults[client] = newID
		}
	}
}

// forgetOld removes the browsers that the user has not named and that have not connected
// within keepUnnamed.
func (s *Store) forgetOld() {
	for _, b := range slices.Clone(s.doc.Browsers) {
		if !b.IsGiven && time.Since(b.LastSeen) > keepUnnamed {
			s.replace(b.ID, "")
		}
	}
}

// save writes the file with the names of browsers. Browsers that run a copy of a profile
// are left out.
func (s *Store) save() error {
	stored := s.doc
	stored.Browsers = slices.DeleteFunc(slices.Clone(s.doc.Browsers), func(b Browser) bool { return strings.Contains(b.ID, copyMark) })
	data, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return err
	}
	return statefile.Write(s.path, append(data, '\n'))
}
