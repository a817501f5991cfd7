package extensiondir

import (
	"path/filepath"
	"strings"
)

// WindowsInstallCommand is the command for users whose opentabs runs in the Windows
// Subsystem for Linux and whose Chrome runs in Windows. The command writes the extension
// to a Windows folder, from which Chrome in Windows can load it. Before running the
// command, the user replaces YOU with the name of the Windows user.
const WindowsInstallCommand = "opentabs extension install --dir /mnt/c/Users/YOU/opentabs-extension"

// WindowsPath converts a path in the Windows Subsystem for Linux, such as /mnt/c/a, to
// the Windows path, such as C:\a. If the path is not on a Windows drive, ok is false.
func WindowsPath(dir string) (path string, ok bool) {
	pathOnDrive, ok := strings.CutPrefix(filepath.ToSlash(dir), "/mnt/")
	if !ok || len(pathOnDrive) < 2 || pathOnDrive[1] != '/' {
		return "", false
	}
	return strings.ToUpper(pathOnDrive[:1]) + ":" + strings.ReplaceAll(pathOnDrive[1:], "/", `\`), true
}
