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

// The limits of what a package may unpack to.
const (
	maxUnpackedBytes = 200 << 20
	maxFiles         = 20000
	maxPathBytes     = 512
	maxDepth         = 32
	// maxStreamBytes is what the archive may have in all, with its headers.
	maxStreamBytes = maxUnpackedBytes + maxFiles*4<<10
)

// Unpack writes the files of a package to dir, which has to be empty or absent.
// It refuses links, devices, paths that lead elsewhere, two files of one name,
// also where only case differs, and more than the limits allow, all before it
// writes anything. Files get mode 0600, whatever the package says: nothing in it
// is to be run.
func Unpack(t Tarball, dir string) error {
	f, err := os.Open(t.Path)
	if err != nil {
		return fmt.Errorf("read the package: %w", err)
	}
	defer f.Close()
	checked := &unpacking{seen: map[string]string{}}
	if err := checked.all(f); err != nil {
		return fmt.Errorf("unpack the package: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the package: %w", err)
	}
	root, err := emptyRoot(dir)
	if err != nil {
		return fmt.Errorf("unpack the package: %w", err)
	}
	u := &unpacking{root: root, seen: map[string]string{}}
	err = u.all(f)
	if closeErr := root.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("unpack the package: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	return nil
}

// unpacking is one package that is being unpacked.
type unpacking struct {
	root  *os.Root          // nil while the package is only checked
	seen  map[string]string // what was written, by its name without case
	files int
	bytes int64
}

// emptyRoot opens a folder that is empty, and makes it if it is not there.
func emptyRoot(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(there) > 0 {
		return nil, refuse("%s is not empty; name another folder", dir)
	}
	return os.OpenRoot(dir)
}

// all goes through an archive.
func (u *unpacking) all(file io.Reader) error {
	zip, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return fmt.Errorf("it is no .tgz file (%w); name the file that npm pack or opentabs plugin pack wrote", err)
	}
	limited := &io.LimitedReader{R: zip, N: maxStreamBytes}
	archive := tar.NewReader(limited)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = u.entry(header, archive)
		}
		switch {
		case limited.N <= 0:
			return tooMuch()
		case err != nil && !isOurs(err):
			return fmt.Errorf("it is damaged (%w); fetch or pack it again", err)
		case err != nil:
			return err
		}
	}
	if u.files == 0 {
		return refuse("it holds no files; pack it again")
	}
	return nil
}

// refused is why a package is not unpacked.
type refused struct{ text string }

func (r *refused) Error() string { return r.text }

func refuse(format string, args ...any) error { return &refused{fmt.Sprintf(format, args...)} }

// isOurs reports whether an error says itself what is wrong.
func isOurs(err error) bool {
	var r *refused
	var p *fs.PathError
	return errors.As(err, &r) || errors.As(err, &p)
}

func tooMuch() error {
	return refuse("it unpacks to more than the %d MB allowed; ask its author to make it smaller", maxUnpackedBytes>>20)
}

// entry checks one entry of an archive, and writes it.
func (u *unpacking) entry(h *tar.Header, content io.Reader) error {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir:
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeSymlink, tar.TypeLink:
		return refuse("it holds the link %q to %q, and links are not allowed; pack it again without", h.Name, h.Linkname)
	default:
		return refuse("it holds %q, which is neither a file nor a folder; pack it again without", h.Name)
	}
	name, err := ownPath(h.Name)
	if err != nil || name == "" {
		return err
	}
	if h.Typeflag == tar.TypeDir {
		return u.folder(name, h.Name)
	}
	if u.files++; u.files > maxFiles {
		return refuse("it holds more than %d files; ask its author to make it smaller", maxFiles)
	}
	if u.bytes += h.Size; h.Size < 0 || u.bytes > maxUnpackedBytes {
		return tooMuch()
	}
	if dir := path.Dir(name); dir != "." {
		if err := u.folder(dir, h.Name); err != nil {
			return err
		}
	}
	if err := u.claim(name, false, h.Name); err != nil {
		return err
	}
	return u.write(name, content)
}

// ownPath returns where an entry goes: its path without the first folder, which
// is "package" most often. It is empty for that folder itself.
func ownPath(name string) (string, error) {
	bad := func(why string) (string, error) {
		return "", refuse("it holds the path %q, which %s; nothing was installed", name, why)
	}
	switch {
	case len(name) > maxPathBytes:
		return bad("is longer than allowed")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return bad("has characters that no name of a file should have")
	case strings.ContainsAny(name, `\:`):
		return bad(`has a \ or : in it, which leads elsewhere on Windows`)
	case strings.HasPrefix(name, "/"):
		return bad("is absolute")
	}
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/"), "/")
	for _, part := range parts {
		switch {
		case part == "..":
			return bad("leads out of its folder")
		case part == "" || part == ".":
			return bad("has an empty part")
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
			return bad("ends in a dot or a space, which Windows takes away")
		}
	}
	if len(parts) > maxDepth {
		return bad("is deeper than allowed")
	}
	own := path.Join(parts[1:]...)
	if own != "" && !filepath.IsLocal(filepath.FromSlash(own)) {
		return bad("leads out of its folder")
	}
	return own, nil
}

// folder makes a folder and those above it.
func (u *unpacking) folder(name, as string) error {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		if err := u.claim(name[:i], true, as); err != nil {
			return err
		}
	}
	if u.root == nil {
		return nil
	}
	return u.root.MkdirAll(filepath.FromSlash(name), 0o700)
}

// claim notes that name is taken, and refuses it if another one is there that
// some systems take for the same.
func (u *unpacking) claim(name string, folder bool, as string) error {
	mine := name
	if folder {
		mine += "/"
	}
	key := strings.ToLower(name)
	if other, taken := u.seen[key]; taken && (!folder || other != mine) {
		return refuse("it holds both %q and %q, which are one on some systems; pack it again", strings.TrimSuffix(other, "/"), as)
	}
	u.seen[key] = mine
	return nil
}

func (u *unpacking) write(name string, content io.Reader) error {
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
