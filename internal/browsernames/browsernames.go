// Package browsernames stores the names of browsers and the default browser of each MCP
// client.
//
// The server calls [Store.NameOf] for each browser that connects. Commands change names
// with [Store.Rename] and default browsers with [Store.SetDefault]. Two browsers never
// have the same name: if two browsers are called "Chrome on Linux", the second is named
// "Chrome on Linux 2", also after a restart.
//
// # Concurrency
//
// A [Store] is safe for concurrent use. While a server runs, only the server writes the
// file with the names of browsers.
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
	"opentabs/wire"
)

const (
	maxNameChars = 60
	// unnamedBrowserLifetime is how long opentabs remembers a disconnected browser that the user has
	// not named.
	unnamedBrowserLifetime = 30 * 24 * time.Hour
	// lastSeenPrecision limits writes: the stored connect time of a browser is only accurate to the hour.
	lastSeenPrecision = time.Hour
)

// Browser is a browser that is or was connected to opentabs.
type Browser struct {
	ID string `json:"id"`
	// Name is the browser's name as users see it, such as "Chrome on Linux 2". No two
	// browsers have the same name.
	Name string `json:"name"`
	// IsUserGiven is true if the user chose the name; false for a default name.
	IsUserGiven bool `json:"given,omitempty"`
	// SentName is the name that the user typed for the browser in the extension's side
	// panel; empty if there is none.
	SentName string `json:"sent,omitempty"`
	// SentDefaultName is the default name that the extension sent, such as "Chrome on Linux".
	// Default is the browser's default name without a number: SentDefaultName, or a name with
	// the profile and the computer, such as "Chrome (Work) on laptop".
	SentDefaultName string    `json:"sent_default,omitempty"`
	Default         string    `json:"default"`
	LastSeen        time.Time `json:"last_seen"`
}

// The type document is the JSON content of the file in which a [Store] stores browser
// names and default browsers.
type document struct {
	Browsers []Browser `json:"browsers"`
	// Defaults maps the name of each MCP client, in lower case, to the ID of the client's
	// default browser. The key "" of Defaults is for all clients without their own
	// default browser.
	Defaults map[string]string `json:"defaults,omitempty"`
}

// Store keeps the names of browsers and the default browsers of clients in one file.
type Store struct {
	path            string
	findDefaultName func(browserID, sentName string) string

	mu       sync.Mutex // guards document and the file at path
	document document
}

// Open reads the names of browsers from the file at path, which may be missing. If the
// file is damaged, Open renames the file and returns an empty store, with a warning for
// the user.
func Open(path string) (s *Store, warning string) {
	s = &Store{path: path}
	fileContent, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(fileContent, &s.document)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.document = document{}
		backupPath, err := statefile.RenameDamagedFile(path)
		if err != nil {
			backupPath = path
		}
		warning = fmt.Sprintf("the names of browsers in %s were damaged; the file is kept as %s", path, backupPath)
	}
	if s.document.Defaults == nil {
		s.document.Defaults = map[string]string{}
	}
	return s, warning
}

// SetDefaultNameFinder sets the function that finds better default names of browsers, such as "Chrome (Work)
// on laptop". If the function findName returns "", NameOf uses the name that the extension sent. Call
// SetDefaultNameFinder before the first call of NameOf.
func (s *Store) SetDefaultNameFinder(findName func(browserID, sentName string) string) {
	s.findDefaultName = findName
}

// defaultName caches the results of findDefaultName, because findDefaultName reads many files.
func (s *Store) defaultName(b Browser, sentName string) string {
	switch {
	case s.findDefaultName == nil:
		return sentName
	case b.SentDefaultName == sentName && b.Default != "" && b.Default != sentName:
		return b.Default
	}
	return cmp.Or(s.findDefaultName(b.ID, sentName), sentName)
}

// NameOf returns the name of a browser that connects, and whether the user chose this
// name. The parameter sentName is the name that the extension sent, and isDefault is true
// if the extension generated this name. If the user types a name in the extension, it
// replaces a name that was set with `opentabs browser rename`.
func (s *Store) NameOf(id, sentName string, isDefault bool) (name string, isGiven bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeOldBrowsers()
	b, isKnown := s.find(id)
	earlierBrowser := b
	if !isKnown {
		b = Browser{ID: id}
	}
	givenName := sentName
	if isDefault {
		givenName, b.Default, b.SentDefaultName = "", s.defaultName(b, sentName), sentName
	}
	b.Default = cmp.Or(b.Default, "Chrome")
	switch {
	case givenName != b.SentName: // the user has changed the browser's name in the side panel
		b.SentName, b.IsUserGiven = givenName, givenName != ""
		b.Name = s.makeUniqueName(id, cmp.Or(givenName, b.Default))
	case b.Name == "" || !b.IsUserGiven && !strings.HasPrefix(b.Name, b.Default):
		b.Name = s.makeUniqueName(id, b.Default)
	}
	if now := time.Now().UTC(); now.Sub(b.LastSeen) >= lastSeenPrecision {
		b.LastSeen = now.Truncate(time.Second)
	}
	if b != earlierBrowser {
		s.put(b)
		_ = s.save() // after a write error, the names are still in memory
	}
	return b.Name, b.IsUserGiven
}

// Rename gives a browser a new name, and returns the renamed browser. The parameter browser selects
// the browser to rename; see [wire.MatchesBrowser]. An empty new name restores the default name.
//
// If another connected browser already has the new name, Rename returns an error. If a
// disconnected browser has the new name, Rename deletes the disconnected browser, and the
// renamed browser becomes the default browser of its clients.
func (s *Store) Rename(browser, name string, connectedBrowsers []string) (Browser, error) {
	name = strings.TrimSpace(name)
	if err := checkName(name); err != nil {
		return Browser{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.findByReference(browser)
	if err != nil {
		return Browser{}, err
	}
	if owner, ok := s.findName(name); ok && owner.ID != b.ID {
		if slices.Contains(connectedBrowsers, owner.ID) {
			return Browser{}, fmt.Errorf("another connected browser has the name %q: choose another name, or rename that browser first", owner.Name)
		}
		s.replaceID(owner.ID, b.ID)
	}
	b.IsUserGiven = name != ""
	if b.Name = name; name == "" {
		b.Name = s.makeUniqueName(b.ID, b.Default)
	}
	s.put(b)
	return b, s.save()
}

// SetDefault sets the default browser of a client, which runs the client's calls if
// several browsers have a matching tab. An empty client name means all clients without
// their own default browser. If browser is empty, SetDefault removes the default browser.
func (s *Store) SetDefault(client, browser string) (Browser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.ToLower(strings.TrimSpace(client))
	if browser == "" {
		delete(s.document.Defaults, key)
		return Browser{}, s.save()
	}
	b, err := s.findByReference(browser)
	if err != nil {
		return Browser{}, err
	}
	s.document.Defaults[key] = b.ID
	return b, s.save()
}

// Forget removes a browser and its name from the store. Clients whose default browser is
// removed have no default browser afterwards. Forget returns an error for a connected
// browser.
func (s *Store) Forget(browser string, connectedBrowsers []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.findByReference(browser)
	if err != nil {
		return err
	}
	if slices.Contains(connectedBrowsers, b.ID) {
		return fmt.Errorf("the browser %q is connected: close it first", b.Name)
	}
	s.replaceID(b.ID, "")
	return s.save()
}

// defaultBrowserFor returns the ID of a client's default browser; empty if the client has none.
// If a client has several names, defaultBrowserFor uses the first name that has a default
// browser. If the client has no default browser itself, defaultBrowserFor returns the default
// browser for all other clients.
func (s *Store) defaultBrowserFor(clientNames ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range append(clientNames, "") {
		if id := s.document.Defaults[strings.ToLower(strings.TrimSpace(name))]; id != "" {
			return id
		}
	}
	return ""
}

// List returns all stored browsers, sorted by name. The function clientNames returns the
// names of the MCP clients whose default browser has the given ID. The name "" represents
// all clients without their own default browser.
func (s *Store) List() (browsers []Browser, clientNames func(id string) []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	browsers = slices.Clone(s.document.Browsers)
	slices.SortFunc(browsers, func(a, b Browser) int { return cmp.Compare(a.Name, b.Name) })
	clients := map[string][]string{}
	for client, id := range s.document.Defaults {
		clients[id] = append(clients[id], client)
		slices.Sort(clients[id])
	}
	return browsers, func(id string) []string { return clients[id] }
}

func checkName(name string) error {
	switch {
	case utf8.RuneCountInString(name) > maxNameChars:
		return fmt.Errorf("the name has more than %d characters: choose a shorter one", maxNameChars)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("the name has characters that cannot be shown: use letters, digits and spaces")
	}
	return nil
}

func (s *Store) makeUniqueName(id, baseName string) string {
	for n := 1; ; n++ {
		name := baseName
		if n > 1 {
			name = fmt.Sprintf("%s %d", baseName, n)
		}
		if owner, ok := s.findName(name); !ok || owner.ID == id {
			return name
		}
	}
}

func (s *Store) find(id string) (Browser, bool) {
	i := slices.IndexFunc(s.document.Browsers, func(b Browser) bool { return b.ID == id })
	if i < 0 {
		return Browser{}, false
	}
	return s.document.Browsers[i], true
}

func (s *Store) findName(name string) (Browser, bool) {
	i := slices.IndexFunc(s.document.Browsers, func(b Browser) bool { return strings.EqualFold(b.Name, name) })
	if i < 0 {
		return Browser{}, false
	}
	return s.document.Browsers[i], true
}

func (s *Store) findByReference(ref string) (Browser, error) {
	if ref == "" && len(s.document.Browsers) == 1 {
		return s.document.Browsers[0], nil
	}
	if b, ok := s.find(ref); ok {
		return b, nil
	}
	var matches []Browser
	var names []string
	for _, b := range s.document.Browsers {
		if wire.MatchesBrowser(ref, b.ID, b.Name) {
			matches, names = append(matches, b), append(names, fmt.Sprintf("%q (id %s)", b.Name, b.ID))
		}
	}
	switch len(matches) {
	case 0:
		return Browser{}, fmt.Errorf("there is no browser %q: `opentabs browser list` shows the names", ref)
	case 1:
		return matches[0], nil
	}
	return Browser{}, fmt.Errorf("several browsers match %q: %s; use the name or more characters of the id", ref, strings.Join(names, ", "))
}

func (s *Store) put(b Browser) {
	s.document.Browsers = slices.DeleteFunc(s.document.Browsers, func(knownBrowser Browser) bool { return knownBrowser.ID == b.ID })
	s.document.Browsers = append(s.document.Browsers, b)
}

func (s *Store) replaceID(oldID, newID string) {
	s.document.Browsers = slices.DeleteFunc(s.document.Browsers, func(b Browser) bool { return b.ID == oldID })
	for client, id := range s.document.Defaults {
		switch {
		case id != oldID:
		case newID == "":
			delete(s.document.Defaults, client)
		default:
			s.document.Defaults[client] = newID
		}
	}
}

func (s *Store) removeOldBrowsers() {
	for _, b := range slices.Clone(s.document.Browsers) {
		if !b.IsUserGiven && time.Since(b.LastSeen) > unnamedBrowserLifetime {
			s.replaceID(b.ID, "")
		}
	}
}

// The file of browser names omits browsers that run a copied profile, because their IDs change with each start.
func (s *Store) save() error {
	storedDocument := s.document
	storedDocument.Browsers = slices.DeleteFunc(slices.Clone(s.document.Browsers), func(b Browser) bool { return wire.IsBrowserCopy(b.ID) })
	encodedJSON, err := json.MarshalIndent(storedDocument, "", "  ")
	if err != nil {
		return err
	}
	return statefile.Write(s.path, append(encodedJSON, '\n'))
}
