package doctor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
	"opentabs/internal/jsbuild"
	"opentabs/internal/version"
)

const updateExtensionText = "run `opentabs extension install`, then press the extension's reload button in chrome://extensions"

func (c *checkup) checkExtension() {
	dir, ok := extensiondir.Find(c.dirs)
	if !ok {
		c.warn("extension", "not installed yet", "run `opentabs extension install`, which prints how to load it")
		return
	}
	storedConnection, err := extensiondir.ReadConnection(dir)
	if err != nil {
		c.fail("extension", fmt.Sprintf("%s in %s is unreadable: %v", extensiondir.ConnectionFile, dir, err), updateExtensionText)
		return
	}
	port := c.serverPort()
	token, tokenErr := c.dirs.ExistingToken()
	switch {
	case port != 0 && storedConnection.Port != port:
		c.fail("extension", fmt.Sprintf("the one in %s connects to port %d, but the server uses port %d", dir, storedConnection.Port, port), updateExtensionText)
	case tokenErr == nil && storedConnection.Key != config.BrowserKey(token):
		c.fail("extension", fmt.Sprintf("the one in %s has the key of another installation", dir), updateExtensionText)
	default:
		c.compareExtension(dir)
	}
}

// compareExtension compares the extension files in dir with the extension files
// embedded in the program.
func (c *checkup) compareExtension(dir string) {
	files, err := jsbuild.ExtensionFiles(jsbuild.ManifestOptions{Version: version.Version, WithDebugger: extensiondir.HasDebugger(c.dirs)})
	if err != nil {
		c.fail("extension", err.Error(), "report this as a bug of opentabs")
		return
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			c.warn("extension", fmt.Sprintf("the one in %s differs from that of this program (%s)", dir, version.Version), updateExtensionText)
			return
		}
	}
	debugger := ""
	if extensiondir.HasDebugger(c.dirs) {
		debugger = ", with the debugger"
	}
	c.ok("extension", "%s, in %s%s", version.Version, dir, debugger)
}
