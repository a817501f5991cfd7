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

const maxTarballBytes = 50 << 20

// Tarball is the .tgz file of a package on the local disk.
type Tarball struct {
	Path string
	// Integrity is the sha512 hash of the file in npm's notation.
	Integrity string
}

// Download downloads the .tgz file of a version into a new file in dir and verifies the
// file's integrity. After an error, Download removes the partial file.
func (c *Client) Download(ctx context.Context, p *Package, v *Version, dir string) (Tarball, error) {
	packageLabel := v.Name + " " + v.Version
	expectedHashes, err := parseIntegrity(v.Dist)
	if err != nil {
		return Tarball{}, fmt.Errorf("%s is refused: %w", packageLabel, err)
	}
	address, err := tarballAddress(p.Registry, v.Dist.Tarball)
	if err != nil {
		return Tarball{}, fmt.Errorf("%s is refused: %w", packageLabel, err)
	}
	f, err := os.CreateTemp(dir, "download-*.tgz")
	if err != nil {
		return Tarball{}, fmt.Errorf("fetch %s: %w", packageLabel, err)
	}
	defer f.Close()
	t := Tarball{Path: f.Name()}
	err = c.getWithRetries(ctx, address, "*/*", func(response *http.Response) error {
		if err := truncateFile(f); err != nil {
			return err
		}
		checksum, err := saveBody(f, response)
		if err != nil {
			return err
		}
		if !expectedHashes.contains(checksum) {
			return &invalidContentError{fmt.Sprintf("the file does not match its integrity hash: it has %s, the registry lists %s; nothing was installed: try again, and report a repeated failure to the registry", integrityText(checksum), v.Dist.Integrity)}
		}
		t.Integrity = integrityText(checksum)
		return nil
	})
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return Tarball{}, fmt.Errorf("fetch %s: %w", packageLabel, errors.Join(err, os.Remove(f.Name())))
	}
	return t, nil
}

// A registry behind a proxy often lists its own files with http addresses, so tarballAddress replaces http with https.
func tarballAddress(registry, registryTarballURL string) (string, error) {
	registryURL, err := url.Parse(registry)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(registryTarballURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return "", fmt.Errorf("the registry lists an invalid address for its file (%q); report this to the registry", registryTarballURL)
	}
	if registryURL.Scheme == "https" && u.Scheme == "http" {
		if u.Hostname() != registryURL.Hostname() {
			return "", fmt.Errorf("the registry lists an unencrypted http address for its file (%s); report this to the registry", u.Redacted())
		}
		u.Scheme, u.Host = registryURL.Scheme, registryURL.Host
	}
	return u.String(), nil
}

func truncateFile(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return f.Truncate(0)
}

func saveBody(f *os.File, response *http.Response) ([]byte, error) {
	tooLargeErr := &invalidContentError{fmt.Sprintf("the file has more than the %d MB allowed; ask its author to make it smaller", maxTarballBytes>>20)}
	if response.ContentLength > maxTarballBytes {
		return nil, tooLargeErr
	}
	h := sha512.New()
	n, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(response.Body, maxTarballBytes+1))
	if err != nil {
		return nil, err
	}
	if n > maxTarballBytes {
		return nil, tooLargeErr
	}
	return h.Sum(nil), nil
}

// OpenTarball checks a .tgz file whose path the user has given, and computes the file's
// integrity hash.
func OpenTarball(path string) (Tarball, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Tarball{}, fmt.Errorf("there is no file %s: name the file that npm pack or opentabs plugin pack wrote", path)
	case err != nil:
		return Tarball{}, fmt.Errorf("read the package: %w", err)
	}
	defer f.Close()
	fileInfo, err := f.Stat()
	switch {
	case err != nil:
		return Tarball{}, fmt.Errorf("read the package: %w", err)
	case !fileInfo.Mode().IsRegular():
		return Tarball{}, fmt.Errorf("%s is not a file; name the file that npm pack or opentabs plugin pack wrote", path)
	case fileInfo.Size() > maxTarballBytes:
		return Tarball{}, fmt.Errorf("%s has %d MB, more than the %d MB allowed; make it smaller", path, fileInfo.Size()>>20, maxTarballBytes>>20)
	}
	h := sha512.New()
	if _, err := io.Copy(h, f); err != nil {
		return Tarball{}, fmt.Errorf("read the package: %w", err)
	}
	return Tarball{Path: path, Integrity: integrityText(h.Sum(nil))}, nil
}
