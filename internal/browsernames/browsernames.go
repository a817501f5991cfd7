// Package browsernames keeps the names of browsers and the default browser of each MCP
// client.
//
// Start with [Open]. The server asks [Store.NameOf] for the name of each browser that
// connects, and commands change names and defaults. No two browsers have the same name:
// the second "Chrome on Linux" is "Chrome on Linux 2", also after a restart.
//
// # Concurrency
//
// A [Store] is safe for concurrent use. While a server runs, only the server writes the
// file.
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
	// maxNameChars limits a name that the user gives.
	maxNameChars = 60
	// keepUnnamed is how long a browser without a name from the user is remembered.
	keepUnnamed = 30 * 24 * time.Hour
	// seenPrecision is the resolution of the time at which a browser last connected.
	seenPrecision = time.Hour
	// copyMark is in the ID of a browser that runs a copy of another browser's profile. The
	// ID changes with each start, so the browser is not stored.
	copyMark = "~"
)

// Browser is one browser that has connected.
type Browser struct {
	ID string `json:"id"`
	// Name is the name that is shown; no other browser has it.
	Name string `json:"name"`
	// IsGiven is true if the user gave the name.
	IsGiven bool `json:"given,omitempty"`
	// SentName is the given name in the last message of the extension; empty if the
	// extension sent a default name.
	SentName string `json:"sent,omitempty"`
	// SentDefault is the default name that the extension sent. Default is the default name
	// without a number: SentDefault, or a name that has the profile and the computer.
	SentDefault string    `json:"sent_default,omitempty"`
	Default     string    `json:"default"`
	LastSeen    time.Time `json:"last_seen"`
}

// document is the content of the file.
type document struct {
	Browsers []Browser `json:"browsers"`
	// Defaults are the IDs of default browsers by the client's name in lower case; the key
	// of the default browser of all other clients is empty.
	Defaults map[string]string `json:"defaults,omitempty"`
}

// Store is the file with the names of browsers.
type Store struct {
	path string
	// findDefault returns a default name that has the profile and the computer; empty if
	// it finds none. findDefault is nil unless UseDefaults has set it.
	findDefault func(browserID, sentName string) string

	mu  sync.Mutex // mu guards doc and the file
	doc document
}

// Open reads the file at path. Open ignores a missing file, and renames a damaged one; the
// warning names the damaged file.
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

// UseDefaults makes find return the default names of browsers: a name that has the profile
// and the computer of the browser, or "" for the default name that the extension sent. Call
// UseDefaults before NameOf.
func (s *Store) UseDefaults(find func(browserID, sentName string) string) { s.findDefault = find }

// defaultName returns the default name of a browser. A default name that was found before
// stays, because a search reads files.
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
// sentName is the name that the extension sent, isDefault whether the name is the
// extension's default. A new name from the extension replaces a name from a command.
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
	case givenName != b.SentName: // the user has named the browser in its side panel
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
		_ = s.save() // without a writable disk, the names are kept in memory
	}
	return b.Name, b.IsGiven
}

// Rename gives a browser a name, and returns the browser. browser is an ID or a name. An
// empty name restores the default name. The name of a browser that is not in connected
// may be given to another browser, which then takes its place as a default browser.
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

// SetDefault sets the browser that calls of a client use if several have a matching tab. An
// empty client means all clients without a separate default. An empty browser removes the
// default.
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

// Forget removes a browser that is not connected, with its name and its defaults.
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

// DefaultFor returns the ID of the default browser of a client, which has one of the
// given names; empty if there is none.
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

// List returns the browsers by name, and the clients of each whose default it is; an empty
// name means all other clients.
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

// checkName returns an error for a name that cannot be shown.
func checkName(name string) error {
	switch {
	case utf8.RuneCountInString(name) > maxNameChars:
		return fmt.Errorf("the name has more than %d characters: choose a shorter one", maxNameChars)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("the name has characters that cannot be shown: use letters, digits and spaces")
	}
	return nil
}

// unusedName returns a name that no browser but id has: base, or base with a number.
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

// findName returns the browser with a name, in any case.
func (s *Store) findName(name string) (Browser, bool) {
	i := slices.IndexFunc(s.doc.Browsers, func(b Browser) bool { return strings.EqualFold(b.Name, name) })
	if i < 0 {
		return Browser{}, false
	}
	return s.doc.Browsers[i], true
}

// lookUp returns the browser with this ID or name. An empty text means the only browser.
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

// put adds a browser, or replaces the browser with its ID.
func (s *Store) put(b Browser) {
	s.doc.Browsers = slices.DeleteFunc(s.doc.Browsers, func(known Browser) bool { return known.ID == b.ID })
	s.doc.Browsers = append(s.doc.Browsers, b)
}

// replace removes a browser, and gives its defaults to the browser newID, or to none.
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

// forgetOld removes browsers that the user has not named and that have not connected for
// keepUnnamed.
func (s *Store) forgetOld() {
	for _, b := range slices.Clone(s.doc.Browsers) {
		if !b.IsGiven && time.Since(b.LastSeen) > keepUnnamed {
			s.replace(b.ID, "")
		}
	}
}

// save writes the file without the browsers that run a copy of a profile.
func (s *Store) save() error {
	stored := s.doc
	stored.Browsers = slices.DeleteFunc(slices.Clone(s.doc.Browsers), func(b Browser) bool { return strings.Contains(b.ID, copyMark) })
	data, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return err
	}
	return statefile.Write(s.path, append(data, '\n'))
}
