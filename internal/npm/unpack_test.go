package npm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/internal/npm"
	"opentabs/internal/npm/npmtest"
)

func writeTarball(t *testing.T, file []byte) npm.Tarball {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.tgz")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	openedTarball, err := npm.OpenTarball(path)
	if err != nil {
		t.Fatal(err)
	}
	return openedTarball
}

func linkFile(name, target string, kind byte) npmtest.File {
	return npmtest.File{Header: tar.Header{Name: name, Linkname: target, Typeflag: kind}}
}

func newDecompressionBomb(t *testing.T, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	if err := tar.NewWriter(zip).WriteHeader(&tar.Header{Name: "package/bomb", Typeflag: tar.TypeReg, Size: size}); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUnpackRejectsInvalidArchives(t *testing.T) {
	validFile := npmtest.NewFile("package/package.json", "{}")
	regularFile := npmtest.NewFile
	tooManyFiles := make([]npmtest.File, 20001)
	for i := range tooManyFiles {
		tooManyFiles[i] = regularFile(fmt.Sprintf("package/f%d", i), "")
	}
	for _, c := range []struct {
		description string
		file        []byte
		want        string
	}{
		{"no gzip", []byte("PK\x03\x04 a zip"), "the file is not a .tgz file"},
		{"truncated", npmtest.Pack(validFile, regularFile("package/b", strings.Repeat("b", 9000)))[:90], "the file is damaged"},
		{"an empty archive", npmtest.Pack(), "the package contains no files"},
		{"zip slip", npmtest.Pack(validFile, regularFile("package/../../evil", "x")), `"package/../../evil", which leads outside of its folder`},
		{"zip slip in the first part", npmtest.Pack(regularFile("../evil", "x")), "leads outside of its folder"},
		{"absolute", npmtest.Pack(regularFile("/etc/evil", "x")), "is absolute"},
		{"a drive", npmtest.Pack(regularFile("package/C:evil", "x")), "changes the folder on Windows"},
		{"backslashes", npmtest.Pack(regularFile(`package\..\evil`, "x")), "changes the folder on Windows"},
		{"a link", npmtest.Pack(validFile, linkFile("package/dist", "/etc", tar.TypeSymlink)), `the link "package/dist" to "/etc", and links are not allowed`},
		{"a hard link", npmtest.Pack(validFile, linkFile("package/a", "/etc/passwd", tar.TypeLink)), "links are not allowed"},
		{"a device", npmtest.Pack(linkFile("package/null", "", tar.TypeChar)), "neither a file nor a folder"},
		{"a pipe", npmtest.Pack(linkFile("package/pipe", "", tar.TypeFifo)), "neither a file nor a folder"},
		{"a file twice", npmtest.Pack(validFile, regularFile("package/package.json", "[]")), `the package contains both "package.json" and "package/package.json"`},
		{"a file twice in two first folders", npmtest.Pack(validFile, regularFile("other/package.json", "[]")), "the package contains both"},
		{"names that differ in case", npmtest.Pack(validFile, regularFile("package/a", ""), regularFile("package/A", "")), "which are the same path on some systems"},
		{"folders that differ in case", npmtest.Pack(regularFile("package/d/a", ""), regularFile("package/D/b", "")), "which are the same path on some systems"},
		{"a file where a folder is", npmtest.Pack(regularFile("package/d", ""), regularFile("package/d/b", "")), "which are the same path on some systems"},
		{"a folder where a file is", npmtest.Pack(regularFile("package/d/b", ""), regularFile("package/d", "")), "which are the same path on some systems"},
		{"a dot at the end", npmtest.Pack(regularFile("package/a.", "")), "which Windows removes"},
		{"control characters", npmtest.Pack(regularFile("package/a\x1b[31m", "")), "has control characters"},
		{"a long path", npmtest.Pack(regularFile("package/"+strings.Repeat("a/", 300)+"b", "")), "is longer than allowed"},
		{"a deep path", npmtest.Pack(regularFile("package/"+strings.Repeat("a/", 40)+"b", "")), "is deeper than allowed"},
		{"too many files", npmtest.Pack(tooManyFiles...), "more than 20000 files"},
		{"a bomb", newDecompressionBomb(t, 201<<20), "more than the 200 MB allowed"},
	} {
		t.Run(c.description, func(t *testing.T) {
			parentDir := t.TempDir()
			dir := filepath.Join(parentDir, "a", "b")
			err := npm.Unpack(writeTarball(t, c.file), dir)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("Unpack returned the error %v, want %q", err, c.want)
			}
			leftoverFiles, err := filepath.Glob(filepath.Join(parentDir, "*"))
			if err != nil || len(leftoverFiles) != 0 {
				t.Errorf("files after a failed Unpack = %q, error %v; want none", leftoverFiles, err)
			}
			if _, err := os.Stat(filepath.Join(parentDir, "evil")); err == nil {
				t.Error("Unpack wrote the file evil outside of the target folder, want no such file")
			}
		})
	}
}

func TestUnpack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	err := npm.Unpack(writeTarball(t, npmtest.Pack(
		npmtest.File{Header: tar.Header{Name: "package/", Typeflag: tar.TypeDir}},
		npmtest.NewFile("package/package.json", "{}"),
		npmtest.File{Header: tar.Header{Name: "package/dist/", Typeflag: tar.TypeDir}},
		npmtest.NewFile("./package/dist/adapter.iife.js", "run()"),
		npmtest.NewFile("package/install.sh", "#!/bin/sh\nrm -rf /"),
	)), dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"package.json": "{}", "dist/adapter.iife.js": "run()", "install.sh": "#!/bin/sh\nrm -rf /"} {
		fileContent, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(fileContent) != want {
			t.Errorf("unpacked file %s contains %q, error %v; want %v", name, fileContent, err, want)
		}
		if fileInfo, err := os.Stat(filepath.Join(dir, name)); err != nil || fileInfo.Mode().Perm() != 0o600 {
			t.Errorf("unpacked file %s: %v, error %v; want mode 0600", name, fileInfo, err)
		}
	}
	if err := npm.Unpack(writeTarball(t, npmtest.Pack(npmtest.NewFile("package/x", ""))), dir); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("Unpack into a folder with files: error %v; want an error that contains %q", err, "is not empty")
	}
	if _, err := os.Stat(filepath.Join(dir, "package.json")); err != nil {
		t.Error("Unpack removed package.json from the folder, want it kept")
	}
}

// After each call of Unpack, the target folder must either contain the whole package or not exist.
func FuzzUnpack(f *testing.F) {
	f.Add(npmtest.Pack(npmtest.NewFile("package/package.json", "{}")))
	f.Add(npmtest.Pack(npmtest.NewFile("package/../../x", "{}"), linkFile("package/a", "/", tar.TypeSymlink)))
	f.Fuzz(func(t *testing.T, file []byte) {
		parentDir := t.TempDir()
		if len(file) == 0 {
			return
		}
		err := npm.Unpack(writeTarball(t, file), filepath.Join(parentDir, "in", "here"))
		leftoverFiles, globErr := filepath.Glob(filepath.Join(parentDir, "*"))
		unpackedFiles, innerGlobErr := filepath.Glob(filepath.Join(parentDir, "in", "*"))
		if globErr != nil || innerGlobErr != nil || len(leftoverFiles) > 1 || err != nil && len(unpackedFiles) != 0 || err == nil && len(unpackedFiles) != 1 {
			t.Fatalf("Unpack returned the error %v; files in the parent folder %q, unpacked folders %q, error %v; want the whole package or no folder", err, leftoverFiles, unpackedFiles, errors.Join(globErr, innerGlobErr))
		}
	})
}
