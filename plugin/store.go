package plugin

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"opentabs/internal/jsonread"
	"opentabs/internal/statedoc"
)

// storeFile is the name of the list of added plugins in the state folder.
const storeFile = "plugins.json"

// StoreOptions set a store up. The zero value of each field means its default.
type StoreOptions struct {
	// Check returns an error for code that is not one complete script, so that code
	// cannot break out of the function around it. Check needs a JavaScript parser. By
	// default, code is not checked, which is unsafe outside of tests.
	Check func(code []byte) error
	// Passed reports whether the code with this SHA-256, in hex, has passed Check and
	// need not be read again. By default, no code counts as checked.
	Passed func(hash string) bool
	// IndexKey authenticates the index of adapters (see docs/security.md). An index
	// that was authenticated with another key is not used. Default: no key, so there is
	// no index, and each load reads all adapters.
	IndexKey []byte
	// LockWait is how long a change waits for another process that changes the store.
	// Add and Remove fail after LockWait. Default: 10 s.
	LockWait time.Duration
	// Warn receives a sentence for the user when a damaged list of plugins was put
	// aside. Default: no warning.
	Warn func(sentence string)
}

// Store is the list of added plugins in plugins.json in the state folder (mode 0600).
// Each change replaces the whole plugins.json under a lock that other processes
// respect. Store keeps members of plugins.json that this version of opentabs does not
// know.
type Store struct {
	file   statedoc.File[*document]
	check  func(code []byte) error
	passed func(hash string) bool
	index  *index
}

// Entry is one added plugin.
type Entry struct {
	// Path is the package's absolute path.
	Path string
	// Name is the plugin's name when the plugin was added.
	Name string
	// Source is the way the package was installed.
	Source Source
	// Package is the npm name of an installed package. VersionWanted is the version, tag or range
	// that the user requested; empty for the latest version and for a file.
	Package, VersionWanted string
	// Hash is the SHA-256 of the adapter when the plugin was added, in hex.
	Hash string
	// Manifest is the SHA-256 of the descriptions when the plugin was added, in hex;
	// empty in older lists. A package that opentabs installed is not loaded if its
	// files differ from Hash and Manifest.
	Manifest string
	// Added is when the plugin was added, in UTC; zero if not recorded.
	Added time.Time
}

// NewStore returns the store in dir, which need not exist yet.
func NewStore(dir string, o StoreOptions) *Store {
	if o.LockWait == 0 {
		o.LockWait = 10 * time.Second
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return &Store{check: o.Check, passed: o.Passed, index: newIndex(dir, o.IndexKey), file: statedoc.File[*document]{
		Path: filepath.Join(dir, storeFile), Subject: "the list of plugins", LossText: "a new list was started, so add your plugins again",
		LockWait: o.LockWait, Warn: o.Warn, Empty: newDocument, Parse: parseDocument, Encode: (*document).encode,
	}}
}

// Path returns the path of the store's file.
func (s *Store) Path() string { return s.file.Path }

// Entries returns the added plugins in the order in which they were added. Entries
// leaves out unreadable entries of the store; [Set.Failed] lists them.
func (s *Store) Entries() ([]Entry, error) {
	entries, _, err := s.readEntries()
	return entries, err
}

// readEntries reads the readable and the unreadable entries of the store.
func (s *Store) readEntries() ([]Entry, []Failure, error) {
	doc, err := s.file.Read()
	if err != nil {
		return nil, nil, err
	}
	var storeEntries []Entry
	var failed []Failure
	for i, raw := range doc.plugins {
		e, err := decodeEntry(raw)
		if err != nil {
			failed = append(failed, Failure{Path: s.Path(), Name: e.Name, Err: fmt.Errorf("plugins[%d] %w", i, err)})
			continue
		}
		storeEntries = append(storeEntries, e)
	}
	return storeEntries, failed, nil
}

// Add checks the built package in path and adds the package to the store. A new build
// in the folder is loaded without another Add, but must be reviewed. The error of Add
// lists the problems of the package, or names the plugin that has the same name.
func (s *Store) Add(path string) (*Plugin, error) {
	return s.addEntry(Entry{Path: path, Source: SourceFolder})
}

// AddInstalled adds a package that opentabs has installed in the folder e.Path.
// AddInstalled replaces the entry of an older version. The caller sets Path, Package
// and VersionWanted of e.
func (s *Store) AddInstalled(e Entry) (*Plugin, error) {
	e.Source = SourceNPM
	return s.addEntry(e)
}

// addEntry checks and adds the package in e.Path, and sets the other fields of e.
func (s *Store) addEntry(e Entry) (*Plugin, error) {
	if dir, err := filepath.Abs(e.Path); err == nil {
		s.index.removeEntry(dir) // loadWithIndex reads the files of a package without an index entry
	}
	p, err := loadWithIndex(e.Path, s.index)
	if err != nil {
		return nil, err
	}
	if err := p.CheckSchemas(); err != nil {
		return nil, err
	}
	if err := s.checkScripts(p); err != nil {
		return nil, err
	}
	p.Source = e.Source
	e.Path, e.Name, e.Hash, e.Manifest = p.Dir, p.Name, p.Hash, p.ManifestHash
	e.Added = time.Now().UTC().Truncate(time.Second)
	if err := s.file.Change(func(doc *document) error { return doc.putEntry(e) }); err != nil {
		return nil, err
	}
	// A missing index of adapters only makes the next start slower.
	_ = s.index.save(nil)
	return p, nil
}

// checkScripts checks that the scripts of p cannot break out of the code around them.
func (s *Store) checkScripts(p *Plugin) error {
	if s.check == nil {
		return nil
	}
	for _, script := range []struct {
		file, hash string
		read       func() ([]byte, error)
	}{{adapterFile, p.Hash, p.Adapter}, {preScriptFile, p.PreScriptHash, p.PreScriptCode}} {
		if s.passed != nil && s.passed(script.hash) {
			continue
		}
		code, err := script.read()
		if err != nil {
			return err
		}
		if code == nil {
			continue
		}
		if err := s.check(code); err != nil {
			return &PackageError{Dir: p.Dir, Problems: []jsonread.Problem{{File: script.file,
				Text: "is not one complete script: " + err.Error() + "; build the plugin again"}}}
		}
	}
	return nil
}

// Remove removes the plugin of this name from the list of added plugins. The folder of
// the plugin stays. The error for an unknown name lists the plugins.
func (s *Store) Remove(name string) error {
	return s.file.Change(func(doc *document) error {
		countBefore := len(doc.plugins)
		var entryNames []string
		doc.plugins = slices.DeleteFunc(doc.plugins, func(raw rawEntry) bool {
			e, _ := decodeEntry(raw)
			entryNames = append(entryNames, e.Name)
			return name != "" && e.Name == name
		})
		if len(doc.plugins) < countBefore {
			return nil
		}
		return unknownName(name, entryNames)
	})
}
