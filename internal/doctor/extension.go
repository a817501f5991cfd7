package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
	"opentabs/internal/jsbuild"
	"opentabs/internal/version"
)

const updateExtensionText = "run `opentabs extension install`, then press the extension's reload button in chrome://extensions"

// extensionCheck checks the folder of the unpacked extension.
type extensionCheck struct{ *healthCheck }

func (c extensionCheck) checkExtension() {
	dir, ok := extensiondir.Find(c.dirs)
	if recordedDir, isRecorded := extensiondir.RecordedInstallDir(c.dirs); !ok && isRecorded {
		c.reportFailure("extension", fmt.Sprintf("its folder %s is missing or empty, so Chrome cannot load it at the next start", recordedDir), updateExtensionText)
		c.offerInstall(recordedDir)
		return
	}
	if c.isExtensionMissing = !ok; !ok && c.status != nil && len(c.status.Browsers) > 0 {
		c.reportOK("extension", "no folder is recorded; the connected browser has the extension from another place, such as the Chrome Web Store")
		return
	}
	if !ok {
		findingText := "not installed yet"
		if c.status != nil {
			findingText += ", so no browser is connected"
		}
		c.reportWarning("extension", findingText, "run `opentabs setup`, which installs the extension and shows how to load it")
		c.markLastNotSetUp()
		return
	}
	storedConnection, err := extensiondir.ReadConnection(dir)
	if err != nil {
		c.reportFailure("extension", fmt.Sprintf("%s in %s is unreadable: %v", extensiondir.ConnectionFile, dir, err), updateExtensionText)
		c.offerInstall(dir)
		return
	}
	port := c.serverPort()
	token, tokenErr := c.dirs.ExistingToken()
	switch {
	case port != 0 && storedConnection.Port != port:
		c.reportFailure("extension", fmt.Sprintf("the one in %s connects to port %d, but the server uses port %d", dir, storedConnection.Port, port), updateExtensionText)
		c.offerInstall(dir)
	case tokenErr == nil && token != "" && storedConnection.Key != config.BrowserKey(token):
		c.reportFailure("extension", fmt.Sprintf("the one in %s has the key of another installation", dir), updateExtensionText)
		c.offerInstall(dir)
	default:
		c.compareExtension(dir)
	}
}

// The extension's files contain the server's port, so offerInstall does nothing if the port is unknown.
func (c extensionCheck) offerInstall(dir string) {
	if !c.areSettingsValid || c.serverPort() == 0 || c.isPortTaken {
		return
	}
	c.offerRepair(func(ctx context.Context) (string, error) {
		if _, err := extensiondir.Setup(ctx, c.findHome(), extensiondir.Options{Dir: dir}, func(string, ...any) {}); err != nil {
			return "", err
		}
		return fmt.Sprintf("wrote the extension of %s into %s; now press the extension's reload button in chrome://extensions", version.Version, dir), nil
	})
}

func (c extensionCheck) compareExtension(dir string) {
	files, err := jsbuild.ExtensionFiles(jsbuild.ManifestOptions{Version: version.Version, WithDebugger: extensiondir.HasDebugger(c.dirs)})
	if err != nil {
		c.reportFailure("extension", err.Error(), "report this as a bug of opentabs")
		return
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			c.reportWarning("extension", fmt.Sprintf("the one in %s differs from that of this program (%s)", dir, version.Version), updateExtensionText)
			c.offerInstall(dir)
			return
		}
	}
	c.isExtensionCurrent = true
	debugger := ""
	if extensiondir.HasDebugger(c.dirs) {
		debugger = ", with the debugger"
	}
	c.reportOK("extension", "%s, in %s%s", version.Version, dir, debugger)
}
