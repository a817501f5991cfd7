package npm

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// GlobalFolders returns the node_modules folders of globally installed packages that
// exist. GlobalFolders runs no program to find them: it tries the prefix in npm's
// settings, the folder of Node, and the usual places.
func (c *Config) GlobalFolders() []string {
	get, home := c.env.Getenv, c.env.Home
	under := func(parts ...string) string {
		if parts[0] == "" {
			return ""
		}
		return filepath.Join(parts...)
	}
	prefixes := []string{c.settingText("prefix"), get("PREFIX"), under(get("NVM_BIN"), "..")}
	if node, err := exec.LookPath("node"); err == nil {
		prefixes = append(prefixes, filepath.Dir(filepath.Dir(node)))
		if resolved, err := filepath.EvalSymlinks(node); err == nil {
			prefixes = append(prefixes, filepath.Dir(filepath.Dir(resolved)))
		}
	}
	var folders []string
	if c.env.GOOS == "windows" {
		for _, prefix := range append(prefixes, under(get("APPDATA"), "npm"), under(get("ProgramFiles"), "nodejs")) {
			folders = append(folders, under(prefix, "node_modules"))
		}
	} else {
		prefixes = append(prefixes, under(home, ".npm-global"), under(home, ".npm-packages"), "/usr/local", "/usr", "/opt/homebrew")
		for _, prefix := range prefixes {
			folders = append(folders, under(prefix, "lib", "node_modules"))
		}
	}
	volta := get("VOLTA_HOME")
	if volta == "" {
		volta = under(home, ".volta")
	}
	nvm := get("NVM_DIR")
	if nvm == "" {
		nvm = under(home, ".nvm")
	}
	// Volta has a folder for each package, nvm one for each version of Node.
	for _, pattern := range []string{
		under(volta, "tools", "image", "packages", "*", "lib", "node_modules"),
		under(volta, "tools", "image", "packages", "@*", "*", "lib", "node_modules"),
		under(nvm, "versions", "node", "*", "lib", "node_modules"),
	} {
		found, err := filepath.Glob(pattern)
		if err == nil {
			slices.SortFunc(found, func(a, b string) int { return Compare(versionIn(b), versionIn(a)) })
			folders = append(folders, found...)
		}
	}
	return existingFolders(folders)
}

// versionIn returns the version of Node in the path of one of nvm's folders.
func versionIn(path string) string { return filepath.Base(filepath.Dir(filepath.Dir(path))) }

// existingFolders returns the folders that exist, without links and duplicates.
func existingFolders(folders []string) []string {
	var result []string
	seen := map[string]bool{}
	for _, folder := range folders {
		resolved, err := filepath.EvalSymlinks(folder)
		if folder == "" || err != nil || seen[resolved] {
			continue
		}
		if info, err := os.Stat(resolved); err == nil && info.IsDir() {
			seen[resolved] = true
			result = append(result, resolved)
		}
	}
	return result
}
