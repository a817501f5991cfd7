package npm

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxUnpackedBytes = 200 << 20
	maxFiles         = 20000
	maxPathBytes     = 512
	maxDepth         = 32
	// maxStreamBytes is the maximum size of the decompressed archive with its headers, in
	// bytes.
	maxStreamBytes = maxUnpackedBytes + maxFiles*4<<10
)

// Unpack writes the files of a package to dir, which must be empty or absent. Unpack
// checks the whole archive before it writes the first file. Unpack rejects links,
// devices, paths outside of dir, names that differ only in case, and packages that exceed
// a limit. Each unpacked file has mode 0600, so that no file is executable.
func Unpack(t Tarball, dir string) error {
	f, err := os.Open(t.Path)
	if err != nil {
		return fmt.Errorf("read the package: %w", err)
	}
	defer f.Close()
	checker := &unpacker{reservedPaths: map[string]string{}}
	if err := checker.readArchive(f); err != nil {
		return fmt.Errorf("unpack the package: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the package: %w", err)
	}
	root, err := openEmptyRoot(dir)
	if err != nil {
		return fmt.Errorf("unpack the package: %w", err)
	}
	u := &unpacker{root: root, reservedPaths: map[string]string{}}
	err = u.readArchive(f)
	if closeErr := root.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("unpack the package: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	return nil
}

// The type unpacker checks one package, and writes its files if root is not nil.
type unpacker struct {
	root          *os.Root          // the field root is nil in the pass that only checks the package
	reservedPaths map[string]string // reservedPaths maps lower-case paths to paths; a folder's path ends in a slash
	files         int
	bytes         int64
}

func openEmptyRoot(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	dirEntries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(dirEntries) > 0 {
		return nil, newRefusedError("%s is not empty; name another folder", dir)
	}
	return os.OpenRoot(dir)
}

func (u *unpacker) readArchive(file io.Reader) error {
	zip, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return fmt.Errorf("the file is not a .tgz file (%w); name the file that npm pack or opentabs plugin pack wrote", err)
	}
	limitedReader := &io.LimitedReader{R: zip, N: maxStreamBytes}
	archive := tar.NewReader(limitedReader)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = u.unpackEntry(header, archive)
		}
		switch {
		case limitedReader.N <= 0:
			return errTooLarge()
		case err != nil && !hasUserReadableCause(err):
			return fmt.Errorf("the file is damaged (%w); fetch or pack it again", err)
		case err != nil:
			return err
		}
	}
	if u.files == 0 {
		return newRefusedError("the package contains no files; pack it again")
	}
	return nil
}

// refusedError is the reason why Unpack rejects a package.
type refusedError struct{ errorMessage string }

func (e *refusedError) Error() string { return e.errorMessage }

func newRefusedError(format string, args ...any) error {
	return &refusedError{fmt.Sprintf(format, args...)}
}

// hasUserReadableCause returns false for the archive reader's errors about a damaged archive, which state no cause that users
// understand.
func hasUserReadableCause(err error) bool {
	var r *refusedError
	var p *fs.PathError
	return errors.As(err, &r) || errors.As(err, &p)
}

func errTooLarge() error {
	return newRefusedError("the package unpacks to more than the %d MB allowed; ask its author to make it smaller", maxUnpackedBytes>>20)
}

func (u *unpacker) unpackEntry(h *tar.Header, content io.Reader) error {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir:
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeSymlink, tar.TypeLink:
		return newRefusedError("the package contains the link %q to %q, and links are not allowed; pack it again without the link", h.Name, h.Linkname)
	default:
		return newRefusedError("the package contains %q, which is neither a file nor a folder; pack it again without this entry", h.Name)
	}
	name, err := targetPath(h.Name)
	if err != nil || name == "" {
		return err
	}
	if h.Typeflag == tar.TypeDir {
		return u.makeFolder(name, h.Name)
	}
	if u.files++; u.files > maxFiles {
		return newRefusedError("the package contains more than %d files; ask its author to make it smaller", maxFiles)
	}
	if u.bytes += h.Size; h.Size < 0 || u.bytes > maxUnpackedBytes {
		return errTooLarge()
	}
	if dir := path.Dir(name); dir != "." {
		if err := u.makeFolder(dir, h.Name); err != nil {
			return err
		}
	}
	if err := u.reservePath(name, false, h.Name); err != nil {
		return err
	}
	return u.write(name, content)
}

// targetPath removes the first folder, which is usually "package", from the path of an archive entry.
func targetPath(name string) (string, error) {
	newPathError := func(why string) (string, error) {
		return "", newRefusedError("the package contains the path %q, which %s; nothing was installed", name, why)
	}
	switch {
	case len(name) > maxPathBytes:
		return newPathError("is longer than allowed")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return newPathError("has control characters or is not valid UTF-8")
	case strings.ContainsAny(name, `\:`):
		return newPathError(`contains \ or :, which changes the folder on Windows`)
	case strings.HasPrefix(name, "/"):
		return newPathError("is absolute")
	}
	textParts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/"), "/")
	for _, textPart := range textParts {
		switch {
		case textPart == "..":
			return newPathError("leads outside of its folder")
		case textPart == "" || textPart == ".":
			return newPathError("has an empty part")
		case strings.HasSuffix(textPart, ".") || strings.HasSuffix(textPart, " "):
			return newPathError("has a part that ends in a dot or a space, which Windows removes")
		}
	}
	if len(textParts) > maxDepth {
		return newPathError("is deeper than allowed")
	}
	target := path.Join(textParts[1:]...)
	if target != "" && !filepath.IsLocal(filepath.FromSlash(target)) {
		return newPathError("leads outside of its folder")
	}
	return target, nil
}

func (u *unpacker) makeFolder(name, entryName string) error {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		if err := u.reservePath(name[:i], true, entryName); err != nil {
			return err
		}
	}
	if u.root == nil {
		return nil
	}
	return u.root.MkdirAll(filepath.FromSlash(name), 0o700)
}

// Because some file systems do not distinguish case, reservePath rejects paths that differ only in case.
func (u *unpacker) reservePath(name string, isFolder bool, entryName string) error {
	takenPath := name
	if isFolder {
		takenPath += "/"
	}
	key := strings.ToLower(name)
	if otherPath, isReserved := u.reservedPaths[key]; isReserved && (!isFolder || otherPath != takenPath) {
		return newRefusedError("the package contains both %q and %q, which are the same path on some systems; pack it again", strings.TrimSuffix(otherPath, "/"), entryName)
	}
	u.reservedPaths[key] = takenPath
	return nil
}

// If root is nil, write only reads the content to its end.
func (u *unpacker) write(name string, content io.Reader) error {
	if u.root == nil {
		_, err := io.Copy(io.Discard, content)
		return err
	}
	f, err := u.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, content); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
