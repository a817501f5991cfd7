package npm

import (
	"context"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
)

// maxTarballBytes is the largest file of a package.
const maxTarballBytes = 50 << 20

// Tarball is the file of a package on this machine.
type Tarball struct {
	Path string
	// Bytes is its size.
	Bytes int64
	// Integrity is its sha512 sum as npm writes it.
	Integrity string
}

// Download fetches the file of a version into dir, under a name of its own. It
// fails, and leaves nothing behind, if the file is not what the registry says it
// has to be.
func (c *Client) Download(ctx context.Context, p *Package, v *Version, dir string) (Tarball, error) {
	what := v.Name + " " + v.Version
	sums, err := parseIntegrity(v.Dist)
	if err != nil {
		return Tarball{}, fmt.Errorf("%s is refused: %w", what, err)
	}
	address, err := tarballAddress(p.Registry, v.Dist.Tarball)
	if err != nil {
		return Tarball{}, fmt.Errorf("%s is refused: %w", what, err)
	}
	f, err := os.CreateTemp(dir, "download-*.tgz")
	if err != nil {
		return Tarball{}, fmt.Errorf("fetch %s: %w", what, err)
	}
	defer f.Close()
	t := Tarball{Path: f.Name()}
	err = c.get(ctx, address, "*/*", func(answer *http.Response) error {
		if err := restart(f); err != nil {
			return err
		}
		sum, n, err := save(f, answer)
		if err != nil {
			return err
		}
		if !sums.fits(sum) {
			return &errContent{fmt.Sprintf("the file is not what the registry says it has to be: its integrity is %s, but it should be %s; nothing was installed: try again, and if that does not help tell the registry", integrityText(sum), v.Dist.Integrity)}
		}
		t.Bytes, t.Integrity = n, integrityText(sum)
		return nil
	})
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return Tarball{}, fmt.Errorf("fetch %s: %w", what, errors.Join(err, os.Remove(f.Name())))
	}
	return t, nil
}

// tarballAddress returns where a file is to be fetched. A registry behind a proxy
// often tells a plain address of itself.
func tarballAddress(registry, told string) (string, error) {
	own, err := url.Parse(registry)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(told)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return "", fmt.Errorf("the registry names no usable address of its file (%q); report this to the registry", told)
	}
	if own.Scheme == "https" && u.Scheme == "http" {
		if u.Hostname() != own.Hostname() {
			return "", fmt.Errorf("the registry names a plain http address of its file (%s), which is not safe; report this to the registry", u.Redacted())
		}
		u.Scheme, u.Host = own.Scheme, own.Host
	}
	return u.String(), nil
}

// restart makes a file empty, for a new try.
func restart(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return f.Truncate(0)
}

// save writes an answer to f.
func save(f *os.File, answer *http.Response) (sum []byte, n int64, err error) {
	tooLarge := &errContent{fmt.Sprintf("the file has more than the %d MB allowed; ask its author to make it smaller", maxTarballBytes>>20)}
	if answer.ContentLength > maxTarballBytes {
		return nil, 0, tooLarge
	}
	h := sha512.New()
	n, err = io.Copy(io.MultiWriter(f, h), io.LimitReader(answer.Body, maxTarballBytes+1))
	if err != nil {
		return nil, 0, err
	}
	if n > maxTarballBytes {
		return nil, 0, tooLarge
	}
	return h.Sum(nil), n, nil
}

// OpenTarball takes a file that the person has, and computes its integrity.
func OpenTarball(path string) (Tarball, error) {
	f, err := os.Open(path)
	if err != nil {
		return Tarball{}, fmt.Errorf("read the package: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return Tarball{}, fmt.Errorf("read the package: %w", err)
	case !info.Mode().IsRegular():
		return Tarball{}, fmt.Errorf("%s is not a file; name the file that npm pack or opentabs plugin pack wrote", path)
	case info.Size() > maxTarballBytes:
		return Tarball{}, fmt.Errorf("%s has %d bytes, more than the %d MB allowed; make it smaller", path, info.Size(), maxTarballBytes>>20)
	}
	h := sha512.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return Tarball{}, fmt.Errorf("read the package: %w", err)
	}
	return Tarball{Path: path, Bytes: n, Integrity: integrityText(h.Sum(nil))}, nil
}
