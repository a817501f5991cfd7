// Package filestore stores the files that browser tools write, such as recordings of network requests. Each client can
// read only the files that its own calls wrote.
//
// Each stored file has its own directory, which contains the file's content and a JSON description. If all stored files
// together exceed 1 GB, the oldest files are removed. A [Store] is safe for concurrent use, and several processes can
// use the same directory of stored files.
package filestore

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const uriPrefix = "opentabs://files/"

// maxTotalBytes is the maximum total size of all stored files.
const maxTotalBytes = 1 << 30

// A directory has unfinishedPrefix until the stored file in it is complete.
const unfinishedPrefix = "unfinished-"

// An incomplete directory that is older than unfinishedAge was left by a crash.
const unfinishedAge = 10 * time.Minute

const descriptionFile = "description.json"

// ErrNotFound means that no stored file has the given ID, or that the file belongs to
// another client.
var ErrNotFound = errors.New("no stored file has this ID")

// File describes a stored file.
type File struct {
	ID string `json:"id"`
	// Name is the file's name on the disk, such as shop.example.har.
	Name      string `json:"name"`
	MediaType string `json:"mimeType"`
	SizeBytes int    `json:"size"`
	// Client identifies the only MCP client that is allowed to read the file.
	Client string `json:"client"`
	// Tool is the name of the tool that wrote the file.
	Tool    string    `json:"tool"`
	Created time.Time `json:"created"`
	// Path is the absolute path of the file's content. The JSON description of the file
	// on the disk omits the field Path.
	Path string `json:"-"`
}

// URI returns the URI with which MCP clients read the file, such as
// opentabs://files/abcdefghijkl.
func (f File) URI() string { return uriPrefix + f.ID }

// IDFromURI returns the ID of a stored file from the file's URI. If the URI does not
// begin with opentabs://files/, IDFromURI returns false.
func IDFromURI(uri string) (string, bool) { return strings.CutPrefix(uri, uriPrefix) }

// Store manages the files of browser tools in one directory.
type Store struct {
	dir      string
	maxBytes int
	mu       sync.Mutex // Add holds the mutex, so that concurrent calls of Add do not exceed maxBytes
}

// Open returns a store for the files in the directory dir, which need not exist.
func Open(dir string) *Store { return &Store{dir: dir, maxBytes: maxTotalBytes} }

// Add stores a file and returns its description with ID, size, time and path. If all
// stored files together exceed 1 GB, Add removes the oldest files.
func (s *Store) Add(f File, content []byte) (File, error) {
	f.ID, f.SizeBytes, f.Created = strings.ToLower(rand.Text()[:12]), len(content), time.Now().UTC()
	if f.Name != filepath.Base(f.Name) || strings.HasPrefix(f.Name, ".") || f.Name == descriptionFile {
		return File{}, fmt.Errorf("%q cannot be the name of a file", f.Name)
	}
	if f.SizeBytes > s.maxBytes {
		return File{}, fmt.Errorf("the file has %d bytes, more than the limit of %d", f.SizeBytes, s.maxBytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(f, content); err != nil {
		return File{}, fmt.Errorf("store a file: %w", err)
	}
	f.Path = s.pathOf(f)
	return f, s.removeOldest()
}

// A new directory gets its final name only when the file and its description are complete.
func (s *Store) write(f File, content []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	unfinishedFolder := filepath.Join(s.dir, unfinishedPrefix+f.ID)
	err := os.Mkdir(unfinishedFolder, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(unfinishedFolder, f.Name), content, 0o600)
	}
	if err == nil {
		description, _ := json.Marshal(f) // a File can always be encoded as JSON
		err = os.WriteFile(filepath.Join(unfinishedFolder, descriptionFile), description, 0o600)
	}
	if err == nil {
		err = os.Rename(unfinishedFolder, filepath.Join(s.dir, f.ID))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(unfinishedFolder))
	}
	return nil
}

func (s *Store) removeOldest() error {
	files, err := s.List()
	if err != nil {
		return err
	}
	totalCount := 0
	for _, f := range slices.Backward(files) {
		if totalCount += f.SizeBytes; totalCount > s.maxBytes {
			err = errors.Join(err, s.Remove(f.ID))
		}
	}
	dirEntries, listErr := os.ReadDir(s.dir)
	for _, e := range dirEntries {
		fileInfo, statErr := e.Info()
		if statErr == nil && strings.HasPrefix(e.Name(), unfinishedPrefix) && time.Since(fileInfo.ModTime()).Abs() > unfinishedAge {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, e.Name())))
		}
	}
	return errors.Join(err, listErr)
}

// List returns all stored files, oldest first.
func (s *Store) List() ([]File, error) {
	dirEntries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the files: %w", err)
	}
	files := []File{}
	for _, e := range dirEntries {
		if f, err := s.readDescription(e.Name()); err == nil {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID)) })
	return files, nil
}

// Read returns a stored file and its content. If no stored file has the given ID, or the
// file belongs to another client, Read returns [ErrNotFound].
func (s *Store) Read(id, client string) (File, []byte, error) {
	f, err := s.readDescription(id)
	if err != nil || f.Client != client {
		return File{}, nil, ErrNotFound
	}
	content, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	return f, content, err
}

// Remove deletes a stored file. If no stored file has the given ID, Remove returns
// [ErrNotFound].
func (s *Store) Remove(id string) error {
	if _, err := s.readDescription(id); err != nil {
		return ErrNotFound
	}
	if err := os.RemoveAll(filepath.Join(s.dir, id)); err != nil {
		return fmt.Errorf("remove a file: %w", err)
	}
	return nil
}

func (s *Store) readDescription(id string) (File, error) {
	if id == "" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" { // the alphabet of rand.Text, lower case
		return File{}, ErrNotFound
	}
	description, err := os.ReadFile(filepath.Join(s.dir, id, descriptionFile))
	if err != nil {
		return File{}, err
	}
	var f File
	if err := json.Unmarshal(description, &f); err != nil {
		return File{}, fmt.Errorf("read the description of the file %s: %w", id, err)
	}
	if f.ID != id || f.Name != filepath.Base(f.Name) {
		return File{}, fmt.Errorf("the description of the file %s is malformed", id)
	}
	f.Path = s.pathOf(f)
	return f, nil
}

func (s *Store) pathOf(f File) string { return filepath.Join(s.dir, f.ID, f.Name) }
