package plugin

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"opentabs/internal/jsonread"
	"opentabs/internal/statedoc"
)

// storeFile is the name of the store's file in the state folder.
const storeFile = "plugins.json"

// StoreOptions set a store up. The zero value of each field means its default.
type StoreOptions struct {
	// Check says what is wrong with an adapter's code before it is added; it is
	// where a caller that has a JavaScript parser makes sure that the code is
	// one complete script and cannot break out of the function it is put in.
	// Default: code is not checked, which is unsafe outside of tests.
	Check func(code []byte) error
	// Passed reports whether the code with this SHA-256, in hex, has passed Check
	// before: then it is not read. Default: none has.
	Passed func(hash string) bool
	// IndexKey seals the index of adapters (see docs/security.md): one that was
	// written with another key is not used. Default: there is no index, and each
	// adapter is read whenever the plugins are loaded.
	IndexKey []byte
	// LockWait is how long a change waits for another process that is changing
	// the store. Default 10 s; after that Add and Remove fail.
	LockWait time.Duration
	// Warn takes a sentence for a person when a damaged list was put aside.
	// Default: nobody is told.
	Warn func(sentence string)
}

// Store is the list of added plugins in plugins.json in the state folder. Every
// change is written whole under a lock that other processes honour too, with
// mode 0600. Members it does not know are kept.
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
	// Name is the plugin's name when it was added.
	Name string
	// Source says how the package came to Path.
	Source Source
	// Package and Want are what was installed from a registry or a file: the npm
	// name, and the version, tag or range that the person asked for. Want is empty
	// for the latest version, and for a file.
	Package, Want string
	// Hash is the SHA-256 of the adapter when it was added, in hex.
	Hash string
	// Manifest is the SHA-256 of the descriptions when it was added, in hex; empty
	// in lists that did not record it. What opentabs itself has installed is not
	// loaded once it differs from Hash and Manifest.
	Manifest string
	// Added is when it was added, in UTC; zero if that is not recorded.
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
		Path: filepath.Join(dir, storeFile), What: "the list of plugins", Lost: "a new list was begun, so add your plugins again",
		LockWait: o.LockWait, Warn: o.Warn, Empty: newDocument, Parse: parseDocument, Encode: (*document).encode,
	}}
}

// Path returns the path of the store's file.
func (s *Store) Path() string { return s.file.Path }

// Entries returns the added plugins in the order they were added. Entries that
// cannot be read are left out; [Set.Failed] tells them.
func (s *Store) Entries() ([]Entry, error) {
	entries, _, err := s.list()
	return entries, err
}

// list reads the store: what can be read and what cannot.
func (s *Store) list() ([]Entry, []Failure, error) {
	doc, err := s.file.Read()
	if err != nil {
		return nil, nil, err
	}
	var entries []Entry
	var failed []Failure
	for i, raw := range doc.plugins {
		e, err := decodeEntry(raw)
		if err != nil {
			failed = append(failed, Failure{Path: s.Path(), Name: e.Name, Err: fmt.Errorf("plugins[%d] %w", i, err)})
			continue
		}
		entries = append(entries, e)
	}
	return entries, failed, nil
}

// Add checks the built package in path and adds it. The folder stays the
// person's: a new build in it is served as it is, but has to be reviewed. The
// error says what is wrong with the package, or which plugin has its name already.
func (s *Store) Add(path string) (*Plugin, error) {
	return s.add(Entry{Path: path, Source: SourceFolder})
}

// AddInstalled adds a package that opentabs has put into the folder e.Path, in
// place of an older version of it. Path, Package and Want of e are set.
func (s *Store) AddInstalled(e Entry) (*Plugin, error) {
	e.Source = SourceNPM
	return s.add(e)
}

// add checks and adds the package in e.Path, and fills e.
func (s *Store) add(e Entry) (*Plugin, error) {
	if dir, err := filepath.Abs(e.Path); err == nil {
		s.index.forget(dir) // what is added is read
	}
	p, err := load(e.Path, s.index)
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
	if err := s.file.Change(func(doc *document) error { return doc.put(e) }); err != nil {
		return nil, err
	}
	// Without an index the next start takes longer, and that is all.
	_ = s.index.save(nil)
	return p, nil
}

// checkScripts makes sure that the code of p stays inside what it is put in.
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

// Remove takes the plugin of this name from the list. Its folder stays. The
// error names the plugins there are if there is none of this name.
func (s *Store) Remove(name string) error {
	return s.file.Change(func(doc *document) error {
		before := len(doc.plugins)
		var names []string
		doc.plugins = slices.DeleteFunc(doc.plugins, func(raw rawEntry) bool {
			e, _ := decodeEntry(raw)
			names = append(names, e.Name)
			return name != "" && e.Name == name
		})
		if len(doc.plugins) < before {
			return nil
		}
		return unknownName(name, names)
	})
}
