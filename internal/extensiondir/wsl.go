package extensiondir

import (
	"path/filepath"
	"strings"
)

// WindowsInstallCommand is the command that writes the extension to a Windows folder if
// opentabs runs in the Windows Subsystem for Linux and Chrome runs in Windows. The user
// replaces YOU by the name of the Windows user.
const WindowsInstallCommand = "opentabs extension install --dir /mnt/c/Users/YOU/opentabs-extension"

// WindowsPath returns the Windows path of a folder in the Windows Subsystem for Linux. ok
// is false for a folder that is not on a Windows drive.
func WindowsPath(dir string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(filepath.ToSlash(dir), "/mnt/")
	if !ok || len(rest) < 2 || rest[1] != '/' {
		return "", false
	}
	return strings.ToUpper(rest[:1]) + ":" + strings.ReplaceAll(rest[1:], "/", `\`), true
}
