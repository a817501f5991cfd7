// Package filestore keeps the files that browser tools write, such as recordings of
// requests. Each client can read only the files that its calls wrote. Users can open all
// stored files on their disk.
//
// Each file has a folder with the content and a description. If all files together exceed
// a size limit, the store removes the oldest files. All methods of [Store] are safe for
// concurrent use, also from several processes.
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

// uriPrefix begins the URI of each file. The rest is the ID of the file.
const uriPrefix = "opentabs://files/"

// maxTotalBytes limits the total size of all stored files, in bytes.
const maxTotalBytes = 1 << 30

// unfinishedPrefix is the prefix of the name of a folder until all its files are written.
const unfinishedPrefix = "unfinished-"

// unfinishedAge is the age at which an unfinished folder counts as abandoned.
const unfinishedAge = 10 * time.Minute

// descriptionFile is the name of the file with the description of a stored file.
const descriptionFile = "description.json"

// ErrNotFound means that no stored file has an ID, or that another client owns the file.
var ErrNotFound = errors.New("no stored file has this ID")

// File describes a stored file.
type File struct {
	ID string `json:"id"`
	// Name is the name of the stored file on the disk, such as shop.example.har.
	Name      string `json:"name"`
	MediaType string `json:"mimeType"`
	SizeBytes int    `json:"size"`
	// Client is the identity of the client that may read the file.
	Client string `json:"client"`
	// Tool is the name of the tool that wrote the file.
	Tool    string    `json:"tool"`
	Created time.Time `json:"created"`
	// Path is the path of the stored content. Path is not part of the description on the
	// disk.
	Path string `json:"-"`
}

// URI returns the address under which clients read the file.
func (f File) URI() string { return uriPrefix + f.ID }

// IDFromURI returns the ID of the stored file that a URI identifies. IDFromURI returns
// false for a URI with another prefix.
func IDFromURI(uri string) (string, bool) { return strings.CutPrefix(uri, uriPrefix) }

// Store is a folder that contains the files of browser tools.
type Store struct {
	dir      string
	maxBytes int
	mu       sync.Mutex // locked while a file is added, so that the total size stays below the limit
}

// Open returns a store of the files in dir. The folder dir need not exist.
func Open(dir string) *Store { return &Store{dir: dir, maxBytes: maxTotalBytes} }

// Add stores a file, and sets its ID, size, time and path. If all files together exceed
// the limit, Add removes the oldest files.
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

// write writes a file into a new folder. The folder gets its final name when the file is
// complete.
func (s *Store) write(f File, content []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	unfinished := filepath.Join(s.dir, unfinishedPrefix+f.ID)
	err := os.Mkdir(unfinished, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(unfinished, f.Name), content, 0o600)
	}
	if err == nil {
		description, _ := json.Marshal(f) // encoding a File as JSON cannot fail
		err = os.WriteFile(filepath.Join(unfinished, descriptionFile), description, 0o600)
	}
	if err == nil {
		err = os.Rename(unfinished, filepath.Join(s.dir, f.ID))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(unfinished))
	}
	return nil
}

// removeOldest removes the oldest files until the total size is below the limit.
// removeOldest also removes unfinished folders that a crash has left.
func (s *Store) removeOldest() error {
	files, err := s.List()
	if err != nil {
		return err
	}
	total := 0
	for _, f := range slices.Backward(files) {
		if total += f.SizeBytes; total > s.maxBytes {
			err = errors.Join(err, s.Remove(f.ID))
		}
	}
	entries, listErr := os.ReadDir(s.dir)
	for _, e := range entries {
		info, infoErr := e.Info()
		if infoErr == nil && strings.HasPrefix(e.Name(), unfinishedPrefix) && time.Since(info.ModTime()).Abs() > unfinishedAge {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, e.Name())))
		}
	}
	return errors.Join(err, listErr)
}

// List returns all stored files, oldest first.
func (s *Store) List() ([]File, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the files: %w", err)
	}
	files := []File{}
	for _, e := range entries {
		if f, err := s.readDescription(e.Name()); err == nil {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID)) })
	return files, nil
}

// Read returns a client's file with its content. Read returns ErrNotFound if the client
// has no file with this ID.
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

// Remove deletes a stored file. Remove returns ErrNotFound if no file has this ID.
func (s *Store) Remove(id string) error {
	if _, err := s.readDescription(id); err != nil {
		return ErrNotFound
	}
	if err := os.RemoveAll(filepath.Join(s.dir, id)); err != nil {
		return fmt.Errorf("remove a file: %w", err)
	}
	return nil
}

// readDescription reads the description of a stored file.
func (s *Store) readDescription(id string) (File, error) {
	if id == "" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" { // the alphabet of rand.Text, in lower case
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
