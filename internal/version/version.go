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
