package plugin

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"opentabs/internal/jsonread"
	"opentabs/internal/statedoc"
)

// storeFile is the file name of the list of installed plugins in the state folder.
const storeFile = "plugins.json"

// StoreOptions configures a [Store]. The zero value of a field selects the field's
// default.
type StoreOptions struct {
	// CheckCode returns an error if code is not exactly one complete script. Incomplete code
	// such as "})" could break out of the function that opentabs puts around it. CheckCode
	// needs a JavaScript parser. By default, the store does not check the code of plugins,
	// which is safe only in tests.
	CheckCode func(code []byte) error
	// HasPassedCheck reports whether the code with the given SHA-256, in hex, has already
	// passed CheckCode. Add skips CheckCode for code that has already passed CheckCode. By
	// default, Add runs CheckCode on all code.
	HasPassedCheck func(hash string) bool
	// IndexKey authenticates the index of adapters (see docs/security.md). opentabs
	// ignores an index that was authenticated with another key. Without an IndexKey,
	// there is no index of adapters, so each load reads all adapters.
	IndexKey []byte
	// LockWait is how long a change of the store waits for a lock that another process holds,
	// before the change fails. The default of the field LockWait is 10 s.
	LockWait time.Duration
	// WarnUser receives a sentence for the user when opentabs renames a damaged list of
	// plugins. Default: no warning.
	WarnUser func(warning string)
}

// Store is the list of installed plugins in plugins.json in the state folder (mode 0600).
// Each change of the store replaces the whole plugins.json under a lock that other
// processes respect. A Store keeps members of plugins.json that the running version of
// opentabs does not support.
type Store struct {
	file           statedoc.File[*document]
	checkCode      func(code []byte) error
	hasPassedCheck func(hash string) bool
	index          *index
}

// Entry is one installed plugin in plugins.json.
type Entry struct {
	// Path is the absolute path of the package's folder.
	Path string
	// Name is the plugin's name at the time when the user added the plugin.
	Name string
	// Source is the way the package was installed.
	Source Source
	// Package is the npm name of an installed package. RequestedVersion is the version, tag
	// or range that the user requested. RequestedVersion is empty if the user requested the
	// latest version or a package file.
	Package, RequestedVersion string
	// The field Hash is the SHA-256 of the adapter at the time when the user added the
	// plugin, in hex.
	Hash string
	// Manifest is the SHA-256 of the descriptions at the time when the user added the plugin,
	// in hex. The field Manifest is empty in a plugins.json that an older version of opentabs
	// has written. A package that opentabs installed is loaded only if the hashes of its
	// files equal Hash and Manifest.
	Manifest string
	// The field AddedAt is the time at which the user added the plugin, in UTC; zero if not
	// recorded.
	AddedAt time.Time
}

// NewStore returns the store in the state folder dir, which need not exist yet.
func NewStore(dir string, o StoreOptions) *Store {
	if o.LockWait == 0 {
		o.LockWait = 10 * time.Second
	}
	if o.WarnUser == nil {
		o.WarnUser = func(string) {}
	}
	return &Store{checkCode: o.CheckCode, hasPassedCheck: o.HasPassedCheck, index: newIndex(dir, o.IndexKey), file: statedoc.File[*document]{
		Path: filepath.Join(dir, storeFile), Subject: "the list of plugins", LossWarning: "a new list was started, so add your plugins again",
		LockWait: o.LockWait, Warn: o.WarnUser, NewContent: newDocument, Parse: parseDocument, Encode: (*document).encode,
	}}
}

// Path returns the path of plugins.json.
func (s *Store) Path() string { return s.file.Path }

// Entries returns the installed plugins in the order in which the user added them. Entries leaves out entries of
// plugins.json that cannot be read, which [Set.Failed] lists.
func (s *Store) Entries() ([]Entry, error) {
	entries, _, err := s.readEntries()
	return entries, err
}

func (s *Store) readEntries() ([]Entry, []Failure, error) {
	document, err := s.file.Read()
	if err != nil {
		return nil, nil, err
	}
	var storeEntries []Entry
	var failures []Failure
	for i, raw := range document.plugins {
		e, err := decodeEntry(raw)
		if err != nil {
			failures = append(failures, Failure{Path: s.Path(), Name: e.Name, Err: fmt.Errorf("plugins[%d] %w", i, err)})
			continue
		}
		storeEntries = append(storeEntries, e)
	}
	return storeEntries, failures, nil
}

// Add checks the built package in the folder path and adds the package to the store. After a
// new build of the package, the registry loads the package without another call of Add, but
// the user must review the new build. If the package is invalid, the error that Add returns
// lists the package's problems. If another plugin already has the name of the added plugin,
// the error that Add returns names the other plugin.
func (s *Store) Add(path string) (*Plugin, error) {
	return s.addEntry(Entry{Path: path, Source: SourceFolder})
}

// AddInstalled adds a package that opentabs has installed in the folder e.Path. AddInstalled replaces an entry for an
// older version of the package. Callers of AddInstalled set only the fields Path, Package and RequestedVersion of the
// entry e.
func (s *Store) AddInstalled(e Entry) (*Plugin, error) {
	e.Source = SourceNPM
	return s.addEntry(e)
}

func (s *Store) addEntry(e Entry) (*Plugin, error) {
	if dir, err := filepath.Abs(e.Path); err == nil {
		s.index.removeEntry(dir)
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
	e.AddedAt = time.Now().UTC().Truncate(time.Second)
	if err := s.file.Change(func(storeDocument *document) error { return storeDocument.putEntry(e) }); err != nil {
		return nil, err
	}
	// A failure to save the index of adapters is ignored, because it only makes the next
	// start slower.
	_ = s.index.save(nil)
	return p, nil
}

func (s *Store) checkScripts(p *Plugin) error {
	if s.checkCode == nil {
		return nil
	}
	for _, script := range []struct {
		file, hash string
		read       func() ([]byte, error)
	}{{adapterFile, p.Hash, p.Adapter}, {preScriptFile, p.PreScriptHash, p.PreScriptCode}} {
		if s.hasPassedCheck != nil && s.hasPassedCheck(script.hash) {
			continue
		}
		code, err := script.read()
		if err != nil {
			return err
		}
		if code == nil {
			continue
		}
		if err := s.checkCode(code); err != nil {
			return &PackageError{Dir: p.Dir, Problems: []jsonread.Problem{{File: script.file,
				Text: "is not one complete script: " + err.Error() + "; build the plugin again"}}}
		}
	}
	return nil
}

// Remove removes the plugin with the given name from the list of installed plugins. Remove
// does not delete the plugin's folder from the disk. If no plugin has the given name, the
// error that Remove returns lists the installed plugins.
func (s *Store) Remove(name string) error {
	return s.file.Change(func(storeDocument *document) error {
		countBefore := len(storeDocument.plugins)
		var entryNames []string
		storeDocument.plugins = slices.DeleteFunc(storeDocument.plugins, func(raw rawEntry) bool {
			e, _ := decodeEntry(raw)
			entryNames = append(entryNames, e.Name)
			return name != "" && e.Name == name
		})
		if len(storeDocument.plugins) < countBefore {
			return nil
		}
		return newUnknownNameError(name, entryNames)
	})
}
