// Package installed detects how opentabs was installed: from an archive, by npm, by a
// package manager, or from source.
//
// Each installation method has its own command for upgrading and for removing opentabs.
// Package managers install each version in a new folder, so [Program.StablePath] returns
// a path that stays valid after an upgrade.
package installed

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"opentabs/internal/lazyregexp"
)

// Method is a way to install opentabs, such as [NPM] or [Deb].
type Method string

const (
	Archive  Method = "archive" // installed from a release archive, or with install.sh
	NPM      Method = "npm"
	NPX      Method = "npx" // run by npx from the cache of npx, which npm may empty
	homebrew Method = "Homebrew"
	scoop    Method = "Scoop"
	Deb      Method = "deb"
	RPM      Method = "rpm"
	Source   Method = "source" // built from source in a checkout of the repository
)

// PackageName is the name of the opentabs package in npm and all other package managers.
const PackageName = "opentabs"

// Program describes the running executable. Create a Program with [Find].
type Program struct {
	// Path is the path of the executable, with all symbolic links resolved.
	Path   string
	Method Method
}

const packageQueryTimeout = 10 * time.Second

// Find detects how the running program was installed. To find the package that contains
// the program, Find can run dpkg-query and rpm.
func Find(ctx context.Context) (Program, error) {
	path, err := os.Executable()
	if err != nil {
		return Program{}, err
	}
	if resolvedPath, err := filepath.EvalSymlinks(path); err == nil {
		path = resolvedPath
	}
	return Program{Path: path, Method: findMethod(ctx, path)}, nil
}

// The first capture group of cellarPath and scoopAppPattern matches the part of the path that an upgrade does not change.
var (
	cellarPath      = lazyregexp.New(`^(.*)/Cellar/(opentabs)/[^/]+/bin/[^/]+$`)
	scoopAppPattern = lazyregexp.New(`(?i)^(.*/scoop/apps/opentabs)/[^/]+/([^/]+)$`)
)

func findMethod(ctx context.Context, path string) Method {
	slashPath := filepath.ToSlash(path)
	switch {
	case strings.Contains(slashPath, "/_npx/"):
		return NPX
	case strings.Contains(slashPath, "/node_modules/"):
		return NPM
	case matches(cellarPath, slashPath):
		return homebrew
	case matches(scoopAppPattern, slashPath):
		return scoop
	case isInCheckout(path):
		return Source
	case isOwnedByPackage(ctx, "dpkg-query", "--search", path):
		return Deb
	case isOwnedByPackage(ctx, "rpm", "--query", "--queryformat", "%{NAME}: ", "--file", path):
		return RPM
	}
	return Archive
}

func matches(pattern func() *regexp.Regexp, path string) bool { return pattern().MatchString(path) }

func isInCheckout(path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		fileContent, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(fileContent), "module opentabs\n") {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func isOwnedByPackage(ctx context.Context, query string, args ...string) bool {
	program, err := exec.LookPath(query)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, packageQueryTimeout)
	defer cancel()
	output, err := exec.CommandContext(ctx, program, args...).Output()
	owner, _, _ := strings.Cut(string(output), ":")
	return err == nil && strings.TrimSpace(owner) == PackageName
}

// UpgradeCommand returns the shell command with which the user upgrades opentabs. For an
// installation from an archive, UpgradeCommand returns "", because opentabs can replace
// its own files. The parameter releaseURL is the URL of the folder that contains the
// packages of the new version.
func (p Program) UpgradeCommand(releaseURL, version string) string {
	switch p.Method {
	case NPM:
		return "npm install -g opentabs@latest"
	case NPX:
		return "npx opentabs@latest setup"
	case homebrew:
		return "brew upgrade opentabs"
	case scoop:
		return "scoop update opentabs"
	case Deb:
		file := "opentabs_" + version + "_" + runtime.GOARCH + ".deb"
		return "curl -fLO " + releaseURL + "/" + file + " && sudo apt install ./" + file
	case RPM:
		return "sudo rpm --upgrade " + releaseURL + "/opentabs_" + version + "_" + runtime.GOARCH + ".rpm"
	case Source:
		return "git pull && make build"
	}
	return ""
}

// RemoveCommand returns the shell command with which the user can remove opentabs. For an
// installation from an archive, RemoveCommand returns "", because opentabs can remove its
// own files. For npx, RemoveCommand returns "", because npm empties the npx cache.
func (p Program) RemoveCommand() string {
	switch p.Method {
	case NPM:
		return "npm uninstall -g opentabs"
	case homebrew:
		return "brew uninstall opentabs"
	case scoop:
		return "scoop uninstall opentabs"
	case Deb:
		return "sudo apt remove opentabs"
	case RPM:
		return "sudo rpm --erase opentabs"
	case Source:
		return "rm " + p.Path
	}
	return ""
}

// StablePath returns a path of the program that stays valid after an upgrade. The
// configuration files of MCP clients contain the path that StablePath returns.
func (p Program) StablePath() string {
	slashPath := filepath.ToSlash(p.Path)
	var stablePath string
	switch p.Method {
	case homebrew:
		stablePath = cellarPath().ReplaceAllString(slashPath, "$1/opt/$2/bin/opentabs")
	case scoop:
		stablePath = scoopAppPattern().ReplaceAllString(slashPath, "$1/current/$2")
	default:
		return p.Path
	}
	if stablePath = filepath.FromSlash(stablePath); isFile(stablePath) {
		return stablePath
	}
	return p.Path
}

func isFile(path string) bool {
	fileInfo, err := os.Stat(path)
	return err == nil && fileInfo.Mode().IsRegular()
}
