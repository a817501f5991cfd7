// Package upgrade replaces the opentabs program with a newer release.
//
// A release of opentabs is a folder on a web server. In the folder of a release, the file checksums.txt lists the
// SHA-256 hash and the name of each archive. The command internal/release builds release folders.
//
//	release, err := upgrade.Fetch(ctx, url)
//	program, err := release.Download(ctx, dir)
//	kept, err := program.Install(path)
package upgrade

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"opentabs/internal/lazyregexp"
	"opentabs/internal/version"
)

// URLVariable is the name of the environment variable with the address of the release
// folder.
const URLVariable = "OPENTABS_RELEASE_URL"

const checksumsFile = "checksums.txt"

const (
	maxChecksumsBytes = 1 << 20
	maxArchiveBytes   = 200 << 20
	headerTimeout     = 30 * time.Second
	// fetchTimeout limits the download of an archive, and is long enough for slow connections.
	fetchTimeout = 15 * time.Minute
)

var (
	errNoArchive = errors.New("lists no archive for " + runtime.GOOS + " " + runtime.GOARCH + ": build opentabs from its source")
	errNoRelease = errors.New("lists no archive of opentabs: check the address in " + URLVariable)
)

// Release is the newest release of opentabs for this operating system and processor.
type Release struct {
	// URL is the address of the release folder.
	URL string
	// Version is the version of the release, such as "0.2.0".
	Version string

	archive string
	sha256  string
}

// archiveName matches the name of an archive and extracts the version, the operating
// system and the processor.
var archiveName = lazyregexp.New(`^opentabs_(\d+\.\d+\.\d+)_([a-z0-9]+)_([a-z0-9]+)\.(?:tar\.gz|zip)$`)

var checksumLine = lazyregexp.New(`^([0-9a-fA-F]{64}) [ *](\S+)$`)

// Fetch downloads checksums.txt from the release folder at address, and returns the
// release that the file describes.
func Fetch(ctx context.Context, address string) (Release, error) {
	address = strings.TrimRight(address, "/")
	if err := checkURL(address); err != nil {
		return Release{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, headerTimeout)
	defer cancel()
	body, err := fetchBody(ctx, address+"/"+checksumsFile)
	if err != nil {
		return Release{}, err
	}
	defer body.Close()
	r, err := parseChecksums(io.LimitReader(body, maxChecksumsBytes))
	if err != nil {
		return Release{}, explainError(address+"/"+checksumsFile, err)
	}
	r.URL = address
	return r, nil
}

// The caller of parseChecksums must set the field URL of the returned release.
func parseChecksums(file io.Reader) (Release, error) {
	lines := bufio.NewScanner(file)
	hasChecksum := false
	for lines.Scan() {
		fields := checksumLine().FindStringSubmatch(strings.TrimRight(lines.Text(), "\r"))
		if fields == nil {
			continue
		}
		name := archiveName().FindStringSubmatch(fields[2])
		if name == nil {
			continue
		}
		hasChecksum = true
		if name[2] == runtime.GOOS && name[3] == runtime.GOARCH {
			return Release{Version: name[1], archive: fields[2], sha256: strings.ToLower(fields[1])}, nil
		}
	}
	switch {
	case lines.Err() != nil:
		return Release{}, lines.Err()
	case !hasChecksum:
		return Release{}, errNoRelease
	}
	return Release{}, errNoArchive
}

// checkURL rejects unencrypted URLs: an attacker who controls the connection could replace an archive together with its
// checksum.
func checkURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%q is not an address of releases: use an address such as https://example.com/opentabs", address)
	}
	if u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%s is not encrypted: use an address that starts with https://", u.Redacted())
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

const maxRedirects = 5

var errRefusedRedirect = errors.New("the server sent a redirect that opentabs does not follow")

func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("%w: the redirect is number %d", errRefusedRedirect, len(via))
	}
	if err := checkURL(r.URL.String()); err != nil {
		return fmt.Errorf("%w: %w", errRefusedRedirect, err)
	}
	return nil
}

func fetchBody(ctx context.Context, address string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "opentabs/"+version.Version)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = headerTimeout
	transport.DisableKeepAlives = true
	client := &http.Client{Transport: transport, CheckRedirect: checkRedirect}
	response, err := client.Do(request)
	if err != nil {
		return nil, explainError(address, err)
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, explainStatus(address, response.StatusCode)
	}
	return response.Body, nil
}
