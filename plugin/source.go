package plugin

import (
	"os"
	"path/filepath"
	"strings"
)

// Source is how a package came to its folder.
type Source string

const (
	// SourceFolder is a folder that a person has named.
	SourceFolder Source = "folder"
	// SourceNPM is a package that opentabs has installed from a registry or a file.
	SourceNPM Source = "npm"
	// SourceGlobal is a package that somebody has installed with npm for the whole
	// machine; nobody has added it.
	SourceGlobal Source = "global"
)

// found returns the packages in folders of npm packages that are plugins by their
// names, in the order of the folders. A package that is in several of them, as
// with several versions of Node, counts once. A folder that can't be read holds
// none.
func found(folders []string) []Entry {
	var entries []Entry
	seen := map[string]bool{}
	for _, folder := range folders {
		for _, name := range packagesIn(folder) {
			if seen[name] {
				continue
			}
			seen[name] = true
			plugin, err := NameOf(name)
			if err != nil {
				continue
			}
			entries = append(entries, Entry{
				Path: filepath.Join(folder, filepath.FromSlash(name)), Name: plugin, Source: SourceGlobal, Package: name,
			})
		}
	}
	return entries
}

// resolved returns the path without links; as it is if nothing is there.
func resolved(path string) string {
	if own, err := filepath.EvalSymlinks(path); err == nil {
		return own
	}
	return path
}

// packagesIn returns the npm names of the packages in a folder, sorted.
func packagesIn(folder string) []string {
	var names []string
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "@") {
			names = append(names, e.Name())
			continue
		}
		scoped, err := os.ReadDir(filepath.Join(folder, e.Name()))
		if err != nil {
			continue
		}
		for _, s := range scoped {
			names = append(names, e.Name()+"/"+s.Name())
		}
	}
	return names
}
