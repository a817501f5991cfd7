// Package version contains the version of opentabs, which the program, the extension and
// the npm packages share. To change the version, edit the file VERSION; a test then lists
// the other files to change.
package version

import (
	_ "embed"
	"strings"
)

//go:embed VERSION
var versionFile string

// Version is the version of opentabs without a "v", such as "0.1.0".
var Version = strings.TrimSpace(versionFile)

// When internal/release builds a release, it sets the following variables with linker
// flags.
var (
	// Commit is the short hash of the commit from which a release was built.
	Commit string
	// ReleaseURL is the address of the folder with the newest release. ReleaseURL is
	// empty in a program that was built from source.
	ReleaseURL string
	// StoreExtensions are the IDs of the extension in the stores of Chrome and Edge, such
	// as chrome=ID,edge=ID. StoreExtensions is empty if no store has the extension.
	StoreExtensions string
)
