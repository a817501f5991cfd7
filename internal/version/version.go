// Package version has the version of opentabs, which the binary, the extension and the
// npm packages share. To change the version, edit the file VERSION; a test names the
// other files that contain the version.
package version

import (
	_ "embed"
	"strings"
)

//go:embed VERSION
var versionFile string

// Version is the version without a "v", such as "0.1.0".
var Version = strings.TrimSpace(versionFile)

// The linker sets these variables when a release is built; see internal/release.
var (
	// Commit is the commit from which a released program was built.
	Commit string
	// ReleaseURL is the address of the folder with the newest release. ReleaseURL is
	// empty in a program that was built from source.
	ReleaseURL string
	// StoreExtensions are the IDs of the extension in the stores, in the form of the
	// setting storeExtensions; empty if no store has the extension.
	StoreExtensions string
)
