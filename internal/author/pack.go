package author

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha1" // npm prints the SHA-1 beside the SHA-512, which installers verify
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"opentabs/internal/lazyregexp"
)

// `opentabs plugin install` rejects packages that are larger than maxPackBytes, before compression.
const maxPackBytes = 200 << 20

// packTime is fixed, as in npm, so that packages with the same content have the same bytes.
var packTime = time.Date(1985, time.October, 26, 8, 15, 0, 0, time.UTC)

// Like npm, Pack packs a README or a license even if package.json does not list the file.
var alwaysPackedPattern = lazyregexp.New(`(?i)^(package\.json|readme(\.[^/]*)?|licen[cs]e(\.[^/]*)?)$`)

// PackResult describes the package that [Pack] wrote.
type PackResult struct {
	// Path is the path of the .tgz file. Path is relative if the user gave a relative
	// output path.
	Path string `json:"path"`
	// Package and Version are the name and version in package.json.
	Package string `json:"name"`
	Version string `json:"version"`
	// Bytes is the size of the .tgz file, and UnpackedBytes is the size of its contents.
	Bytes         int `json:"size"`
	UnpackedBytes int `json:"unpackedSize"`
	// Integrity is the SHA-512 of the .tgz file in the notation of npm's lock files.
	// Shasum is the SHA-1 of the .tgz file in hex.
	Integrity string `json:"integrity"`
	Shasum    string `json:"shasum"`
	// The field Files contains the packed files, sorted by path.
	Files []PackedFile `json:"files"`
}

// PackedFile is one file in an npm package.
type PackedFile struct {
	Path  string `json:"path"`
	Bytes int    `json:"size"`
}

// Pack writes the npm package of the built plugin in dir, with package.json, the README,
// the license and dist. The parameter archivePath is the path of the .tgz file, or a directory
// for a file named NAME-VERSION.tgz. Pack writes the same bytes for the same content.
func Pack(dir, archivePath string) (*PackResult, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the plugin's directory: %w", err)
	}
	defer root.Close()
	p := &PackResult{}
	if err := p.readName(root); err != nil {
		return nil, err
	}
	if p.Path, err = packPath(archivePath, p.Package, p.Version); err != nil {
		return nil, err
	}
	names, err := listFilesToPack(root)
	if err != nil {
		return nil, err
	}
	archive, err := p.writeArchive(root, names)
	if err != nil {
		return nil, err
	}
	sha512Sum, sha1Sum := sha512.Sum512(archive), sha1.Sum(archive)
	p.Integrity = "sha512-" + base64.StdEncoding.EncodeToString(sha512Sum[:])
	p.Shasum, p.Bytes = hex.EncodeToString(sha1Sum[:]), len(archive)
	if err := os.WriteFile(p.Path, archive, 0o644); err != nil {
		return nil, fmt.Errorf("write the package: %w", err)
	}
	return p, nil
}

func (p *PackResult) readName(root *os.Root) error {
	fileContent, err := root.ReadFile("package.json")
	if err != nil {
		return fmt.Errorf("read the plugin's package.json: %w", err)
	}
	var pkg struct{ Name, Version string }
	if err := json.Unmarshal(fileContent, &pkg); err != nil {
		return fmt.Errorf("read the plugin's package.json: %w", err)
	}
	if !versionPattern().MatchString(pkg.Version) {
		return fmt.Errorf(`the version in package.json is %q; use three numbers, such as "1.0.0"`, pkg.Version)
	}
	p.Package, p.Version = pkg.Name, pkg.Version
	return nil
}

var versionPattern = lazyregexp.New(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// By default, the .tgz file has the name that npm pack uses.
func packPath(archivePath, name, version string) (string, error) {
	file := strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-" + version + ".tgz"
	if archivePath == "" {
		return file, nil
	}
	fileInfo, err := os.Stat(archivePath)
	switch {
	case err == nil && fileInfo.IsDir():
		return filepath.Join(archivePath, file), nil
	case err == nil, errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(archivePath, ".tgz"):
		return archivePath, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s does not exist; name an existing directory, or a file that ends in .tgz", archivePath)
	}
	return "", fmt.Errorf("check %s: %w", archivePath, err)
}

func listFilesToPack(root *os.Root) ([]string, error) {
	rootEntries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list the plugin's files: %w", err)
	}
	var names []string
	for _, entry := range rootEntries {
		if alwaysPackedPattern().MatchString(entry.Name()) && entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	err = fs.WalkDir(root.FS(), "dist", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return errors.New("there is no dist; build the plugin first with `opentabs plugin build`")
		case err != nil || d.IsDir():
			return err
		case strings.HasPrefix(d.Name(), "."):
			return nil // hidden files of editors and of the operating system are not packed
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file and can't be packed; remove it", name)
		}
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return names, err
}

func (p *PackResult) writeArchive(root *os.Root, names []string) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress the package: %w", err)
	}
	w := tar.NewWriter(z)
	for _, name := range names {
		fileInfo, err := root.Stat(name)
		if err == nil && int64(p.UnpackedBytes)+fileInfo.Size() > maxPackBytes {
			return nil, fmt.Errorf("the package would be larger than %d MB; remove unneeded files from dist", maxPackBytes>>20)
		}
		var archiveData []byte
		if err == nil {
			archiveData, err = root.ReadFile(name)
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
		p.UnpackedBytes += len(archiveData)
		p.Files = append(p.Files, PackedFile{name, len(archiveData)})
		h := &tar.Header{Typeflag: tar.TypeReg, Name: "package/" + name, Size: int64(len(archiveData)), Mode: 0o644, ModTime: packTime, Format: tar.FormatPAX}
		err = w.WriteHeader(h)
		if err == nil {
			_, err = w.Write(archiveData)
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return nil, fmt.Errorf("compress the package: %w", err)
	}
	return b.Bytes(), nil
}
