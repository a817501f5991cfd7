// Package npmtest provides an npm registry for tests. [Registry] is an HTTP handler that
// serves the versions that [Registry.Publish] adds, and the built packages in a folder.
// [Pack] makes the .tgz file of a package.
//
// # Concurrency
//
// [Registry.Publish] and [Registry.Requests] may be called while the registry serves
// requests.
package npmtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// File is one entry of a .tgz file. If the tar header of a File has no type, the File is
// a regular file.
type File struct {
	tar.Header
	Text string
}

// Pack returns a .tgz file with the given entries. Pack does not check the entries, so
// that tests can make malformed packages.
func Pack(files ...File) []byte {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	archive := tar.NewWriter(zip)
	for _, f := range files {
		h := f.Header
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(f.Text))
		}
		h.Mode = 0o755
		panicOnError(archive.WriteHeader(&h))
		_, err := archive.Write([]byte(f.Text))
		panicOnError(err)
	}
	panicOnError(archive.Close())
	panicOnError(zip.Close())
	return b.Bytes()
}

func panicOnError(err error) {
	if err != nil {
		panic("npmtest: " + err.Error())
	}
}

// NewFile returns an archive entry that is a regular file with the given name and
// content.
func NewFile(name, fileContent string) File {
	return File{Header: tar.Header{Name: name}, Text: fileContent}
}

// PackFolder returns a .tgz file with all files in dir.
func PackFolder(dir string) ([]byte, error) {
	var files []File
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		fileContent, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, NewFile("package/"+filepath.ToSlash(name), string(fileContent)))
		return err
	})
	return Pack(files...), err
}

// Integrity returns the sha512 hash of a file in npm's notation.
func Integrity(file []byte) string {
	checksum := sha512.Sum512(file)
	return "sha512-" + base64.StdEncoding.EncodeToString(checksum[:])
}

// Version is one version of a package in the test registry.
type Version struct {
	Name, Version string
	// File is the .tgz file of the package.
	File []byte
	// Manifest contains members that are added to the version's metadata beside name,
	// version and dist; Manifest may be nil.
	Manifest map[string]any
	// Dist replaces members of "dist" in the metadata; Dist may be nil.
	Dist map[string]any
}

// Registry is an npm registry that serves published versions and the packages in a
// folder.
type Registry struct {
	// Token is the token that each request must have. If Token is empty, the registry
	// serves requests without a token.
	Token string
	// Folder is the path of a folder whose subfolders each contain one built package. If
	// Folder is "", the registry serves only published versions.
	Folder string

	mu       sync.Mutex // the mutex guards the fields below
	versions []Version
	requests []*http.Request
}

// Publish adds a version of a package to the simulated registry.
func (r *Registry) Publish(v Version) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.versions = append(r.versions, v)
}

// Requests returns all requests that the registry has received.
func (r *Registry) Requests() []*http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// ServeHTTP returns the metadata of a package, a .tgz file, or the results of a search.
func (r *Registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, q)
	if r.Token != "" && q.Header.Get("Authorization") != "Bearer "+r.Token {
		http.Error(w, `{"error":"who are you"}`, http.StatusUnauthorized)
		return
	}
	allVersions, err := r.allVersions()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	path := strings.TrimPrefix(q.URL.Path, "/")
	if name, file, ok := strings.Cut(path, "/-/"); ok && name != "" {
		for _, v := range allVersions {
			if v.Name == name && fileName(v) == file {
				_, _ = w.Write(v.File)
				return
			}
		}
	} else if path == "-/v1/search" {
		sendJSON(w, searchResults(allVersions, q.URL.Query().Get("text")))
		return
	} else if document := packageMetadata(allVersions, path, "http://"+q.Host); document != nil {
		sendJSON(w, document)
		return
	}
	http.Error(w, `{"error":"Not found"}`, http.StatusNotFound)
}

func sendJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	panicOnError(json.NewEncoder(w).Encode(v))
}

// The caller of allVersions has locked Registry.mu.
func (r *Registry) allVersions() ([]Version, error) {
	allVersions := slices.Clone(r.versions)
	if r.Folder == "" {
		return allVersions, nil
	}
	dirs, err := filepath.Glob(filepath.Join(r.Folder, "*", "package.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range dirs {
		v := Version{Manifest: map[string]any{}}
		fileContent, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(fileContent, &v.Manifest)
		}
		if err == nil {
			v.File, err = PackFolder(filepath.Dir(file))
		}
		if err != nil {
			return nil, err
		}
		v.Name, v.Version = fmt.Sprint(v.Manifest["name"]), fmt.Sprint(v.Manifest["version"])
		allVersions = append(allVersions, v)
	}
	return allVersions, nil
}

func fileName(v Version) string { return filepath.Base(v.Name) + "-" + v.Version + ".tgz" }

func packageMetadata(allVersions []Version, name, address string) map[string]any {
	versions, newestVersion := map[string]any{}, ""
	for _, v := range allVersions {
		if v.Name != name {
			continue
		}
		dist := map[string]any{"tarball": address + "/" + name + "/-/" + fileName(v), "integrity": Integrity(v.File)}
		for key, value := range v.Dist {
			dist[key] = value
		}
		document := map[string]any{}
		for key, value := range v.Manifest {
			document[key] = value
		}
		document["name"], document["version"], document["dist"] = v.Name, v.Version, dist
		versions[v.Version] = document
		if newestVersion == "" || isNewerRelease(v.Version, newestVersion) {
			newestVersion = v.Version
		}
	}
	if len(versions) == 0 {
		return nil
	}
	return map[string]any{"name": name, "dist-tags": map[string]string{"latest": newestVersion}, "versions": versions}
}

func isNewerRelease(a, b string) bool {
	x, errX := semver.NewVersion(a)
	y, errY := semver.NewVersion(b)
	return errX == nil && x.Prerelease() == "" && (errY != nil || x.GreaterThan(y))
}

func searchResults(allVersions []Version, query string) map[string]any {
	objects := []any{}
	seenNames := map[string]bool{}
	for _, v := range allVersions {
		isMatch := !seenNames[v.Name]
		for word := range strings.FieldsSeq(query) {
			keyword, isKeyword := strings.CutPrefix(word, "keywords:")
			isMatch = isMatch && (isKeyword && strings.Contains(fmt.Sprint(v.Manifest["keywords"]), keyword) || !isKeyword && strings.Contains(v.Name, word))
		}
		if isMatch {
			seenNames[v.Name] = true
			objects = append(objects, map[string]any{"package": map[string]any{
				"name": v.Name, "version": v.Version, "description": v.Manifest["description"], "publisher": map[string]string{"username": "acme"},
			}})
		}
	}
	return map[string]any{"objects": objects}
}
