package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"opentabs/internal/home"
	"opentabs/internal/npm"
	"opentabs/internal/statefile"
	"opentabs/internal/version"
	"opentabs/plugin"
	"opentabs/plugin/catalog"
)

const (
	// packagesFolder holds the packages that were installed, below the state
	// directory: one folder for each package, in it one for each content.
	packagesFolder = "packages"
	// unpackedFolder begins the names of folders that are not in use yet.
	unpackedFolder = ".new-"
	// installWait is how long another process that installs is waited for.
	installWait = time.Minute
	// officialPackages and otherPackages begin the names of packages that a short
	// name stands for, in this order.
	officialPackages = "@opentabs-dev/opentabs-plugin-"
	otherPackages    = "opentabs-plugin-"
)

// installer gets packages from registries and files into the state directory.
type installer struct {
	p      *program
	home   *home.Home
	client *npm.Client
	config *npm.Config
}

func (p *program) installer(h *home.Home) (*installer, error) {
	settings, err := home.NPMConfig(p.getenv)
	if err != nil {
		return nil, err
	}
	client, err := npm.New(settings, npm.Options{UserAgent: "opentabs/" + version.Version})
	if err != nil {
		return nil, err
	}
	return &installer{p: p, home: h, client: client, config: settings}, nil
}

// installing is what commands begin with that ask registries: an installer, and
// the plugins that are there.
func (p *program) installing() (*installer, *catalog.Catalog, error) {
	h, err := p.open(nil)
	if err != nil {
		return nil, nil, err
	}
	i, err := p.installer(h)
	if err != nil {
		return nil, nil, err
	}
	registry, err := h.Plugins()
	return i, registry, err
}

// spec is what a person names: slack, @acme/opentabs-plugin-slack@^1.2.0.
type spec struct{ name, want string }

func parseSpec(text string) spec {
	if i := strings.LastIndexByte(text, '@'); i > 0 {
		return spec{text[:i], text[i+1:]}
	}
	return spec{name: text}
}

// candidates are the npm names that a name may stand for.
func candidates(name string) []string {
	if scope, rest, ok := strings.Cut(name, "/"); ok {
		if strings.HasPrefix(rest, otherPackages) {
			return []string{name}
		}
		return []string{scope + "/" + otherPackages + rest}
	}
	if strings.HasPrefix(name, otherPackages) {
		return []string{name}
	}
	return []string{officialPackages + name, otherPackages + name}
}

// find asks the registry for the package that a name stands for.
func (i *installer) find(ctx context.Context, name string) (*npm.Package, error) {
	names := candidates(name)
	for _, candidate := range names {
		if _, err := plugin.NameOf(candidate); err != nil {
			return nil, usage("%v", err)
		}
		found, err := i.client.Package(ctx, candidate)
		if errors.Is(err, npm.ErrNotFound) && len(names) > 1 {
			continue
		}
		return found, err
	}
	return nil, fmt.Errorf("there is no plugin %q: the registry knows neither %s; check the name, or find plugins with `opentabs plugin search WORD`", name, strings.Join(names, " nor "))
}

// fetch installs a version of a package, which is pinned to what it holds.
func (i *installer) fetch(ctx context.Context, from *npm.Package, v *npm.Version, want string) (*plugin.Plugin, error) {
	if err := os.MkdirAll(i.folder(), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the packages: %w", err)
	}
	file, err := i.client.Download(ctx, from, v, i.folder())
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Path)
	return i.install(file, plugin.Entry{Package: from.Name, Want: want}, v.Version)
}

// install unpacks a file, checks that it is the plugin it should be, and adds it.
// Nothing of it is run, and until it is whole nothing of it is in use. Of a file
// that a person names the package's name and version are what it says.
func (i *installer) install(file npm.Tarball, e plugin.Entry, number string) (*plugin.Plugin, error) {
	unlock, err := i.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	i.tidy()
	fresh, err := os.MkdirTemp(i.folder(), unpackedFolder)
	if err != nil {
		return nil, fmt.Errorf("make a folder for the package: %w", err)
	}
	defer os.RemoveAll(fresh)
	if err := npm.Unpack(file, fresh); err != nil {
		return nil, err
	}
	loaded, err := plugin.Load(fresh)
	if err != nil {
		return nil, fmt.Errorf("the package is not a plugin that can be used; nothing was installed: %w", err)
	}
	if e.Package == "" {
		e.Package, number = loaded.Package, loaded.Version
	}
	if loaded.Package != e.Package || loaded.Version != number {
		return nil, fmt.Errorf("the package says that it is %s %s, but it should be %s %s; nothing was installed: tell its author", loaded.Package, loaded.Version, e.Package, number)
	}
	if e.Path, err = i.place(fresh, file, e.Package, number); err != nil {
		return nil, err
	}
	added, err := i.home.Store().AddInstalled(e)
	if err != nil {
		i.clear(e.Package)
	}
	return added, err
}

// lock keeps other processes from changing the packages.
func (i *installer) lock() (unlock func(), err error) {
	if err := os.MkdirAll(i.folder(), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the packages: %w", err)
	}
	unlock, err = statefile.Lock(filepath.Join(i.folder(), "lock"), installWait)
	if errors.Is(err, statefile.ErrLocked) {
		return nil, fmt.Errorf("another opentabs is installing: %w; wait for it to end and try again", err)
	}
	return unlock, err
}

func (i *installer) folder() string { return filepath.Join(i.home.State, packagesFolder) }

// place moves an unpacked package to where it stays: a folder whose name tells the
// content, so that nothing which is in use is ever written to.
func (i *installer) place(fresh string, file npm.Tarball, name, number string) (string, error) {
	if err := npm.CheckName(name); err != nil {
		return "", err
	}
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(file.Integrity, "sha512-"))
	if err != nil {
		return "", fmt.Errorf("read the integrity of the package: %w", err)
	}
	parent := filepath.Join(i.folder(), filepath.FromSlash(name))
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("make the package's folder: %w", err)
	}
	place := filepath.Join(parent, safeName(number)+"-"+hex.EncodeToString(sum[:4]))
	// The same content may be there already, and may have been damaged since.
	aside := fresh + ".old"
	if err := os.Rename(place, aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("replace the package: %w", err)
	}
	defer os.RemoveAll(aside)
	if err := os.Rename(fresh, place); err != nil {
		_ = os.Rename(aside, place) // what was there stays in use
		return "", fmt.Errorf("put the package in its place: %w", err)
	}
	return place, nil
}

// safeName makes a version fit for the name of a folder.
func safeName(number string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, number[:min(len(number), 64)])
}

// tidy removes what processes that were killed have left. The caller holds the
// lock.
func (i *installer) tidy() {
	left, err := os.ReadDir(i.folder())
	if err != nil {
		return
	}
	for _, e := range left {
		if !strings.HasPrefix(e.Name(), unpackedFolder) && !strings.HasPrefix(e.Name(), "download-") {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(filepath.Join(i.folder(), e.Name()))
		}
	}
}

// sweep removes the folders of a package that no plugin of the list uses any more.
// A server that runs has been told before.
func (i *installer) sweep(name string) {
	unlock, err := i.lock()
	if err != nil {
		i.p.out.Notef("warning: the old files of %s are still there: %v", name, err)
		return
	}
	defer unlock()
	i.clear(name)
}

// clear is sweep for one who holds the lock.
func (i *installer) clear(name string) {
	entries, err := i.home.Store().Entries()
	if err != nil {
		return
	}
	if npm.CheckName(name) != nil {
		return // a list that was changed by hand: it would be the folder of others
	}
	parent := filepath.Join(i.folder(), filepath.FromSlash(name))
	folders, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range folders {
		folder := filepath.Join(parent, e.Name())
		used := slices.ContainsFunc(entries, func(e plugin.Entry) bool { return e.Path == folder })
		if !used {
			if err := os.RemoveAll(folder); err != nil {
				i.p.out.Notef("warning: could not remove %s: %v", folder, err)
			}
		}
	}
	_ = os.Remove(parent) // only if it is empty
	if scope := filepath.Dir(parent); scope != i.folder() {
		_ = os.Remove(scope)
	}
}
