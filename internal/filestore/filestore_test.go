package filestore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func openStore(t *testing.T) *Store {
	t.Helper()
	s := Open(filepath.Join(t.TempDir(), "files"))
	s.maxBytes = 100
	return s
}

func addFile(t *testing.T, s *Store, name string, sizeBytes int) File {
	t.Helper()
	f, err := s.Add(File{Name: name, MediaType: "text/plain", Client: "claude", Tool: "browser_har_export"}, make([]byte, sizeBytes))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestOnlyOwnerCanReadFile(t *testing.T) {
	s := openStore(t)
	if files, err := s.List(); err != nil || len(files) != 0 {
		t.Errorf("List of an empty store = %v, error %v; want no file and no error", files, err)
	}
	addedFile, err := s.Add(File{Name: "shop.har", MediaType: "application/json", Client: "claude"}, []byte(`{"log":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	id, ok := IDFromURI(addedFile.URI())
	read, content, err := Open(s.dir).Read(id, "claude")
	if !ok || err != nil || string(content) != `{"log":{}}` || read != addedFile || read.SizeBytes != 10 {
		t.Errorf("Read(%q) = %+v, %q, error %v; want the added file %+v", id, read, content, err, addedFile)
	}
	if _, _, err := s.Read(id, "cursor"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Read by another client: error %v, want ErrNotFound", err)
	}
	for path, want := range map[string]os.FileMode{addedFile.Path: 0o600, filepath.Dir(addedFile.Path): 0o700, s.dir: 0o700} {
		if fileInfo, err := os.Stat(path); err != nil || fileInfo.Mode().Perm() != want {
			t.Errorf("mode of %s = %v, error %v; want %v", path, fileInfo.Mode(), err, want)
		}
	}
	if err := s.Remove(id); err != nil {
		t.Errorf("Remove of a stored file: error %v, want none", err)
	}
	if err := s.Remove(id); !errors.Is(err, ErrNotFound) {
		t.Errorf("second Remove of a file: error %v, want ErrNotFound", err)
	}
	if _, _, err := s.Read(id, "claude"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Read of a removed file: error %v, want ErrNotFound", err)
	}
}

func TestOldestFilesAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t)
		var ids []string
		for _, name := range []string{"a.har", "b.har", "c.har"} {
			ids = append(ids, addFile(t, s, name, 40).ID)
			time.Sleep(time.Second)
		}
		files, err := s.List()
		if err != nil || len(files) != 2 || files[0].ID != ids[1] || files[1].ID != ids[2] {
			t.Errorf("files after adding 120 bytes to a store for 100 bytes = %+v, error %v; want the two newest files, %v", files, err, ids[1:])
		}
		big := addFile(t, s, "big.har", 100)
		if files, _ := s.List(); len(files) != 1 || files[0].ID != big.ID {
			t.Errorf("files after adding a file with 100 bytes to a store for 100 bytes = %+v, want only this file", files)
		}
		if _, err := s.Add(File{Name: "huge.har"}, make([]byte, 101)); err == nil {
			t.Error("Add of a file that exceeds the limit succeeded, want an error")
		}
	})
}

func TestUnfinishedFilesAreRemoved(t *testing.T) {
	s := openStore(t)
	addFile(t, s, "a.har", 1)
	unfinishedFolder := filepath.Join(s.dir, unfinishedPrefix+"abc")
	if err := os.Mkdir(unfinishedFolder, 0o700); err != nil {
		t.Fatal(err)
	}
	addFile(t, s, "b.har", 1)
	if _, err := os.Stat(unfinishedFolder); err != nil {
		t.Errorf("state of a new unfinished folder: %v, want that the folder exists", err)
	}
	oldTime := time.Now().Add(-2 * unfinishedAge)
	if err := os.Chtimes(unfinishedFolder, oldTime, oldTime); err != nil {
		t.Fatal(err)
	}
	addFile(t, s, "c.har", 1)
	if _, err := os.Stat(unfinishedFolder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("state of an old unfinished folder: %v, want that the folder does not exist", err)
	}
	if files, err := s.List(); err != nil || len(files) != 3 {
		t.Errorf("List = %v, error %v; want 3 files", files, err)
	}
}

func TestStoreRejectsUnsafePaths(t *testing.T) {
	s := openStore(t)
	for _, name := range []string{"../a", "/etc/passwd", "", ".", "..", ".hidden", "a/b", descriptionFile} {
		if f, err := s.Add(File{Name: name}, nil); err == nil {
			t.Errorf("Add of a file with the name %q stored %s, want an error", name, f.Path)
		}
	}
	secret := filepath.Join(filepath.Dir(s.dir), "secret")
	if err := os.MkdirAll(secret, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, description := range []string{`{"id":"secret","name":"a"}`, `{"id":"../secret","name":"a"}`} {
		if err := os.WriteFile(filepath.Join(secret, descriptionFile), []byte(description), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"../secret", "..%2fsecret", "/secret", "SECRET"} {
			if _, _, err := s.Read(id, ""); !errors.Is(err, ErrNotFound) {
				t.Errorf("Read(%q): error %v, want ErrNotFound", id, err)
			}
			if err := s.Remove(id); !errors.Is(err, ErrNotFound) {
				t.Errorf("Remove(%q): error %v, want ErrNotFound", id, err)
			}
		}
	}
	f := addFile(t, s, "a.har", 1)
	if err := os.WriteFile(filepath.Join(filepath.Dir(f.Path), descriptionFile), []byte(`{"id":"`+f.ID+`","name":"../../secret/`+descriptionFile+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, content, err := s.Read(f.ID, ""); err == nil {
		t.Errorf("Read of a file whose description names a path returned %q, want an error", content)
	}
}
