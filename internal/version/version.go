// Package version holds the one version of opentabs: that of the binary, the
// extension and the npm packages. To raise it, edit the file VERSION; its test
// names the other places.
package version

import (
	_ "embed"
	"strings"
)

//go:embed VERSION
var versionFile string

// Version is the version without a "v", such as "0.1.0".
var Version = strings.TrimSpace(versionFile)
