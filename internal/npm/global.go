package npm

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// GlobalFolders returns the folders of globally installed npm packages. GlobalFolders
// runs neither npm nor any other program. GlobalFolders checks the prefix in npm's
// settings, the folder of Node, and the default folders of npm, Homebrew, Volta and nvm.
func (c *Config) GlobalFolders() []string {
	getenv, home := c.env.Getenv, c.env.Home
	joinPath := func(textParts ...string) string {
		if textParts[0] == "" {
			return ""
		}
		return filepath.Join(textParts...)
	}
	prefixes := []string{c.settingText("prefix"), getenv("PREFIX"), joinPath(getenv("NVM_BIN"), "..")}
	if node, err := exec.LookPath("node"); err == nil {
		prefixes = append(prefixes, filepath.Dir(filepath.Dir(node)))
		if resolvedPath, err := filepath.EvalSymlinks(node); err == nil {
			prefixes = append(prefixes, filepath.Dir(filepath.Dir(resolvedPath)))
		}
	}
	var folders []string
	if c.env.GOOS == "windows" {
		for _, prefix := range append(prefixes, joinPath(getenv("APPDATA"), "npm"), joinPath(getenv("ProgramFiles"), "nodejs")) {
			folders = append(folders, joinPath(prefix, "node_modules"))
		}
	} else {
		prefixes = append(prefixes, joinPath(home, ".npm-global"), joinPath(home, ".npm-packages"), "/usr/local", "/usr", "/opt/homebrew")
		for _, prefix := range prefixes {
			folders = append(folders, joinPath(prefix, "lib", "node_modules"))
		}
	}
	voltaHome := getenv("VOLTA_HOME")
	if voltaHome == "" {
		voltaHome = joinPath(home, ".volta")
	}
	nvmDir := getenv("NVM_DIR")
	if nvmDir == "" {
		nvmDir = joinPath(home, ".nvm")
	}
	// Volta stores each global package in a separate folder, and nvm has one folder of
	// packages for each version of Node.
	for _, pattern := range []string{
		joinPath(voltaHome, "tools", "image", "packages", "*", "lib", "node_modules"),
		joinPath(voltaHome, "tools", "image", "packages", "@*", "*", "lib", "node_modules"),
		joinPath(nvmDir, "versions", "node", "*", "lib", "node_modules"),
	} {
		matches, err := filepath.Glob(pattern)
		if err == nil {
			slices.SortFunc(matches, func(a, b string) int { return Compare(versionOfNodeFolder(b), versionOfNodeFolder(a)) })
			folders = append(folders, matches...)
		}
	}
	return filterExistingFolders(folders)
}

func versionOfNodeFolder(path string) string { return filepath.Base(filepath.Dir(filepath.Dir(path))) }

func filterExistingFolders(folders []string) []string {
	var result []string
	seenNames := map[string]bool{}
	for _, folder := range folders {
		resolvedPath, err := filepath.EvalSymlinks(folder)
		if folder == "" || err != nil || seenNames[resolvedPath] {
			continue
		}
		if fileInfo, err := os.Stat(resolvedPath); err == nil && fileInfo.IsDir() {
			seenNames[resolvedPath] = true
			result = append(result, resolvedPath)
		}
	}
	return result
}
