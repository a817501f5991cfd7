package plugin

import (
	"os"
	"path/filepath"
	"strings"
)

// Source is the way a plugin package was installed.
type Source string

const (
	// SourceFolder is a folder that the user added.
	SourceFolder Source = "folder"
	// SourceNPM is a package that opentabs installed from a registry or a file.
	SourceNPM Source = "npm"
	// SourceGlobal is a package that npm installed globally, and that the user did not
	// add to opentabs.
	SourceGlobal Source = "global"
)

// If a package is in several folders, as with several versions of Node, findGlobal returns the first. findGlobal skips
// unreadable folders.
func findGlobal(folders []string) []Entry {
	var storeEntries []Entry
	seenTargets := map[string]bool{}
	for _, folder := range folders {
		for _, name := range listPackages(folder) {
			if seenTargets[name] {
				continue
			}
			seenTargets[name] = true
			plugin, err := NameOf(name)
			if err != nil {
				continue
			}
			storeEntries = append(storeEntries, Entry{
				Path: filepath.Join(folder, filepath.FromSlash(name)), Name: plugin, Source: SourceGlobal, Package: name,
			})
		}
	}
	return storeEntries
}

func resolveLinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

func listPackages(folder string) []string {
	var entryNames []string
	dirEntries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range dirEntries {
		if !strings.HasPrefix(e.Name(), "@") {
			entryNames = append(entryNames, e.Name())
			continue
		}
		scopedEntries, err := os.ReadDir(filepath.Join(folder, e.Name()))
		if err != nil {
			continue
		}
		for _, s := range scopedEntries {
			entryNames = append(entryNames, e.Name()+"/"+s.Name())
		}
	}
	return entryNames
}
