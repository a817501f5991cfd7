package author

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func createPluginToPack(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, fileContent := range map[string]string{
		"package.json": `{"name": "@acme/opentabs-plugin-chat", "version": "1.2.3-beta.1"}`,
		"README.md":    "read me", "LICENSE": "MIT", "licence.txt": "MIT", "readme-of-others": "no",
		"dist/adapter.iife.js": "code", "dist/tools.json": "{}", "dist/deep/x.js": "x", "dist/.DS_Store": "junk",
		"src/index.ts": "source", ".env": "SECRET=1", ".npmrc": "token", "node_modules/a/i.js": "a",
	} {
		writePluginFile(t, dir, name, fileContent)
	}
	return dir
}

func TestPackWritesArchive(t *testing.T) {
	dir, outDir := createPluginToPack(t), t.TempDir()
	packResult, err := Pack(dir, outDir)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(outDir, "acme-opentabs-plugin-chat-1.2.3-beta.1.tgz"); packResult.Path != want {
		t.Errorf("Pack wrote the package to %s, want %s", packResult.Path, want)
	}
	archive, err := os.ReadFile(packResult.Path)
	if err != nil {
		t.Fatal(err)
	}
	checksum := sha512.Sum512(archive)
	if want := "sha512-" + base64.StdEncoding.EncodeToString(checksum[:]); packResult.Integrity != want || packResult.Bytes != len(archive) {
		t.Errorf("package: integrity %s, %d bytes; want integrity %s, %d bytes", packResult.Integrity, packResult.Bytes, want, len(archive))
	}
	names := []string{}
	for name, text := range unpackFiles(t, packResult.Path) {
		names = append(names, name)
		if text != readPluginFile(t, dir, strings.TrimPrefix(name, "package/")) {
			t.Errorf("the packed file %s contains %q; want the content of the plugin's file", name, text)
		}
	}
	slices.Sort(names)
	want := []string{"package/LICENSE", "package/README.md", "package/dist/adapter.iife.js", "package/dist/deep/x.js", "package/dist/tools.json", "package/licence.txt", "package/package.json"}
	if !slices.Equal(names, want) {
		t.Errorf("the package contains %q, want %q", names, want)
	}
}

func unpackFiles(t testing.TB, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() {
		t.Errorf("modification time in the gzip header = %v; want the zero time", z.ModTime)
	}
	files := map[string]string{}
	lastName := ""
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg || h.Mode != 0o644 || !h.ModTime.Equal(packTime) || h.Uid != 0 || h.Uname != "" || h.Name < lastName {
			t.Errorf("tar header %+v; want a regular file with mode 0644, a fixed time and no owner, sorted by name", h)
		}
		lastName = h.Name
		readBytes, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(readBytes)
	}
}

func TestPackIsReproducible(t *testing.T) {
	firstPack, err := Pack(createPluginToPack(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secondDir := createPluginToPack(t)
	oldTime := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes(filepath.Join(secondDir, "LICENSE"), oldTime, oldTime), os.Chmod(filepath.Join(secondDir, "LICENSE"), 0o755)); err != nil {
		t.Fatal(err)
	}
	secondPack, err := Pack(secondDir, filepath.Join(t.TempDir(), "other.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	if firstPack.Integrity != secondPack.Integrity || firstPack.Shasum != secondPack.Shasum || filepath.Base(secondPack.Path) != "other.tgz" {
		t.Errorf("first package %+v\nsecond package %+v\nwant the same hashes, and the name other.tgz for the second", firstPack, secondPack)
	}
}

func TestPackRejectsInvalidPlugins(t *testing.T) {
	for _, c := range []struct {
		description, want string
		breakPlugin       func(dir string) error
	}{
		{"no dist", "build the plugin first", func(dir string) error { return os.RemoveAll(filepath.Join(dir, "dist")) }},
		{"a link", "not a regular file", func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "dist", "x")) }},
		{"dist is a link", "dist", func(dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, "dist")), os.Symlink("/etc", filepath.Join(dir, "dist")))
		}},
		{"a version", `"1.0"`, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"name": "x", "version": "1.0"}`), 0o644)
		}},
		{"a large file", "200 MB", func(dir string) error {
			f, err := os.Create(filepath.Join(dir, "dist", "sparse"))
			if err != nil {
				return err
			}
			return errors.Join(f.Truncate(maxPackBytes+1), f.Close())
		}},
	} {
		dir, outDir := createPluginToPack(t), t.TempDir()
		if err := c.breakPlugin(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Pack(dir, outDir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Pack returned the error %v; want an error that contains %q", c.description, err, c.want)
		}
		if dirEntries, _ := os.ReadDir(outDir); len(dirEntries) > 0 {
			t.Errorf("%s: the failed Pack left the files %v; want none", c.description, dirEntries)
		}
	}
	if _, err := Pack(createPluginToPack(t), filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("Pack into a missing directory returned the error %v; want an error that contains %q", err, "does not exist")
	}
}
