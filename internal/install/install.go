// Package install installs plugins from npm registries, package files and folders.
//
// Each version of a package has a separate folder in the state directory, whose files
// never change. Install scripts of packages, such as postinstall, never run. A package is
// used only after it is completely unpacked and checked.
package install

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
	"opentabs/internal/terminal"
	"opentabs/internal/usererr"
	"opentabs/internal/version"
	"opentabs/plugin"
	"opentabs/plugin/catalog"
)

const (
	// packagesFolder is the folder of installed packages in the state directory.
	packagesFolder   = "packages"
	tempFolderPrefix = ".new-"
	// lockTimeout limits how long an installation waits for another process that installs
	// packages.
	lockTimeout = time.Minute
	// officialPackages and communityPackages are prefixes that turn a plugin's short name
	// into a package name. opentabs tries officialPackages first.
	officialPackages  = "@opentabs-dev/opentabs-plugin-"
	communityPackages = "opentabs-plugin-"
)

// Installer downloads packages of plugins and adds the plugins to an installation.
type Installer struct {
	Home *home.Home
	// The field Plugins contains the installed plugins at the time when New was called.
	Plugins *catalog.Catalog

	client     *npm.Client
	registries *npm.Config
	notef      func(format string, args ...any)
}

// New returns an Installer that uses npm's settings. The argument projectDir is the
// project directory whose .npmrc is read, or empty for no project. The function notef
// receives notices for the user.
func New(h *home.Home, getenv func(string) string, projectDir string, notef func(format string, args ...any)) (*Installer, error) {
	plugins, err := h.Plugins()
	if err != nil {
		return nil, err
	}
	registries, err := home.ReadNPMConfig(getenv, projectDir)
	if err != nil {
		return nil, err
	}
	client, err := npm.New(registries, npm.Options{UserAgent: "opentabs/" + version.Version})
	return &Installer{Home: h, Plugins: plugins, client: client, registries: registries, notef: notef}, err
}

// packageSpec is a package name with an optional version or range, such as
// "@acme/opentabs-plugin-slack@^1.2.0".
type packageSpec struct{ name, requestedVersion string }

func parseSpec(spec string) packageSpec {
	if i := strings.LastIndexByte(spec, '@'); i > 0 {
		return packageSpec{spec[:i], spec[i+1:]}
	}
	return packageSpec{name: spec}
}

func possiblePackageNames(name string) []string {
	if scope, unscopedName, ok := strings.Cut(name, "/"); ok {
		if strings.HasPrefix(unscopedName, communityPackages) {
			return []string{name}
		}
		return []string{scope + "/" + communityPackages + unscopedName}
	}
	if strings.HasPrefix(name, communityPackages) {
		return []string{name}
	}
	return []string{officialPackages + name, communityPackages + name}
}

func (i *Installer) findPackage(ctx context.Context, name string) (*npm.Package, error) {
	names := possiblePackageNames(name)
	for _, candidate := range names {
		if _, err := plugin.NameOf(candidate); err != nil {
			return nil, usererr.Errorf("%v", err)
		}
		foundPackage, err := i.client.Package(ctx, candidate)
		if errors.Is(err, npm.ErrNotFound) && len(names) > 1 {
			continue
		}
		return foundPackage, err
	}
	return nil, fmt.Errorf("there is no plugin %q: the registry has neither %s (HTTP 404 Not Found); check the name, or find plugins with `opentabs plugin search WORD`", name, strings.Join(names, " nor "))
}

// RegistryURLFor returns a line with the URL of the registry for a package, and with the
// setting that selected the registry.
func (i *Installer) RegistryURLFor(packageName string) string {
	registry, registrySource, err := i.registries.Registry(packageName)
	if err != nil {
		return ""
	}
	if registrySource != "" {
		registry += ", set by " + registrySource
	}
	return terminal.SafeLine(registry)
}

// fetchAndInstall stores a hash of the package's content, so that opentabs detects later changes to the files.
func (i *Installer) fetchAndInstall(ctx context.Context, packageInfo *npm.Package, v *npm.Version, requestedVersion string) (*plugin.Plugin, error) {
	i.notef("getting %s %s from %s", packageInfo.Name, terminal.SafeLine(v.Version), i.RegistryURLFor(packageInfo.Name))
	if warning := v.Warning(); warning != "" {
		i.notef("warning: this version is deprecated by its author: %s", terminal.SafeLine(warning))
	}
	if err := os.MkdirAll(i.folder(), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the packages: %w", err)
	}
	file, err := i.client.Download(ctx, packageInfo, v, i.folder())
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Path)
	return i.installPackage(file, plugin.Entry{Package: packageInfo.Name, RequestedVersion: requestedVersion}, v.Version)
}

func (i *Installer) installPackage(file npm.Tarball, e plugin.Entry, version string) (*plugin.Plugin, error) {
	unlock, err := i.lockPackages()
	if err != nil {
		return nil, err
	}
	defer unlock()
	i.removeLeftovers()
	newFolder, err := os.MkdirTemp(i.folder(), tempFolderPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a folder for the package: %w", err)
	}
	defer os.RemoveAll(newFolder)
	if err := npm.Unpack(file, newFolder); err != nil {
		return nil, err
	}
	loadedPlugin, err := plugin.Load(newFolder)
	if err != nil {
		return nil, fmt.Errorf("the package is not a plugin that can be used; nothing was installed: %w", err)
	}
	if e.Package == "" {
		e.Package, version = loadedPlugin.Package, loadedPlugin.Version
	}
	if loadedPlugin.Package != e.Package || loadedPlugin.Version != version {
		return nil, fmt.Errorf("the package is %s %s, but it should be %s %s; nothing was installed: report this to its author", loadedPlugin.Package, loadedPlugin.Version, e.Package, version)
	}
	if e.Path, err = i.movePackage(newFolder, file, e.Package, version); err != nil {
		return nil, err
	}
	newPlugin, err := i.Home.PluginStore().AddInstalled(e)
	if err != nil {
		i.removeUnused(e.Package)
	}
	return newPlugin, err
}

func (i *Installer) lockPackages() (unlock func(), err error) {
	if err := os.MkdirAll(i.folder(), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the packages: %w", err)
	}
	unlock, err = statefile.Lock(filepath.Join(i.folder(), "lock"), lockTimeout)
	if errors.Is(err, statefile.ErrLocked) {
		return nil, fmt.Errorf("another opentabs is installing: %w; wait for it to end and try again", err)
	}
	return unlock, err
}

func (i *Installer) folder() string { return filepath.Join(i.Home.State, packagesFolder) }

// The name of a package's final folder depends on the package's content, so that files in use are never overwritten.
func (i *Installer) movePackage(newFolder string, file npm.Tarball, name, version string) (string, error) {
	if err := npm.CheckName(name); err != nil {
		return "", err
	}
	checksum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(file.Integrity, "sha512-"))
	if err != nil {
		return "", fmt.Errorf("read the integrity of the package: %w", err)
	}
	parentDir := filepath.Join(i.folder(), filepath.FromSlash(name))
	if err := os.MkdirAll(parentDir, 0o700); err != nil {
		return "", fmt.Errorf("make the package's folder: %w", err)
	}
	target := filepath.Join(parentDir, escapeVersion(version)+"-"+hex.EncodeToString(checksum[:4]))
	// The target folder can already exist with damaged files.
	oldFolder := newFolder + ".old"
	if err := os.Rename(target, oldFolder); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("replace the package: %w", err)
	}
	defer os.RemoveAll(oldFolder)
	if err := os.Rename(newFolder, target); err != nil {
		_ = os.Rename(oldFolder, target)
		return "", fmt.Errorf("move the package into its folder: %w", err)
	}
	return target, nil
}

func escapeVersion(version string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, version[:min(len(version), 64)])
}

// The caller of removeLeftovers must have locked the packages with lockPackages.
func (i *Installer) removeLeftovers() {
	dirEntries, err := os.ReadDir(i.folder())
	if err != nil {
		return
	}
	for _, e := range dirEntries {
		if !strings.HasPrefix(e.Name(), tempFolderPrefix) && !strings.HasPrefix(e.Name(), "download-") {
			continue
		}
		if fileInfo, err := e.Info(); err == nil && time.Since(fileInfo.ModTime()) > time.Hour {
			_ = os.RemoveAll(filepath.Join(i.folder(), e.Name()))
		}
	}
}

// RemoveUnused removes the folders of a package that no plugin uses. A running daemon
// must have reloaded its plugins before RemoveUnused is called. The function notef
// receives warnings for the user.
func RemoveUnused(h *home.Home, notef func(format string, args ...any), name string) {
	i := &Installer{Home: h, notef: notef}
	unlock, err := i.lockPackages()
	if err != nil {
		i.notef("warning: the old files of %s are still there: %v", name, err)
		return
	}
	defer unlock()
	i.removeUnused(name)
}

// The caller of removeUnused must have locked the packages with lockPackages.
func (i *Installer) removeUnused(name string) {
	storeEntries, err := i.Home.PluginStore().Entries()
	if err != nil {
		return
	}
	if npm.CheckName(name) != nil {
		return // if the user has edited the list of plugins, an invalid name could lead to another package's folder
	}
	parentDir := filepath.Join(i.folder(), filepath.FromSlash(name))
	folders, err := os.ReadDir(parentDir)
	if err != nil {
		return
	}
	for _, e := range folders {
		folder := filepath.Join(parentDir, e.Name())
		isUsed := slices.ContainsFunc(storeEntries, func(e plugin.Entry) bool { return e.Path == folder })
		if !isUsed {
			if err := os.RemoveAll(folder); err != nil {
				i.notef("warning: could not remove %s: %v", folder, err)
			}
		}
	}
	_ = os.Remove(parentDir)
	if scope := filepath.Dir(parentDir); scope != i.folder() {
		_ = os.Remove(scope)
	}
}
