package jsbuild

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// fence says which files the build of one plugin may read: what is in the
// plugin's directory, and packages that are installed for it. A plugin may be a
// stranger's; building it must not carry other files of the person into the
// adapter or show them in an error.
type fence struct {
	// dir is the plugin's directory, absolute and without links.
	dir string
}

// maxSourceBytes is the largest file that goes into a bundle: far more than an
// adapter may have, and far less than the memory of the machine.
const maxSourceBytes = 32 << 20

// allowed is the end of every refusal.
const allowed = "a plugin may only use files in its own directory, and in node_modules there or in the directories above"

// inside reports whether path is root or below it.
func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// check returns the path of a file without links, and an error if it may not be
// read. A node_modules that is itself a link elsewhere does not count, since a
// plugin's repository can hold such a link.
func (f fence) check(path string) (real string, err error) {
	real, err = filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if inside(f.dir, real) {
		return real, nil
	}
	for at := filepath.Dir(f.dir); ; at = filepath.Dir(at) {
		if inside(filepath.Join(at, "node_modules"), real) {
			return real, nil
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if real != path {
		return real, fmt.Errorf("%s is a link to %s, outside of the plugin", path, real)
	}
	return real, fmt.Errorf("%s is outside of the plugin", path)
}

// plugin returns the esbuild plugin that refuses files beyond the fence. It
// goes before all others; the place of an error is that of the import.
func (f fence) plugin() api.Plugin {
	return api.Plugin{Name: "opentabs-fence", Setup: func(build api.PluginBuild) {
		// esbuild leaves these to whoever runs the code, and a page that is asked refuses.
		build.OnResolve(api.OnResolveOptions{Filter: `^(https?:)?//`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{}, fmt.Errorf("%q is an address, and a build loads nothing from the network; install the package with npm, or copy the file into the plugin", a.Path)
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "file"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			if _, err := f.check(a.Path); err != nil {
				return api.OnLoadResult{}, fmt.Errorf("%w; %s: copy it into the plugin, or install it as a package", err, allowed)
			}
			// What is no file, such as a pipe, could keep its reader waiting for ever.
			return api.OnLoadResult{}, plainFile(a.Path) // without an error the next one loads it
		})
	}}
}

// plainFile returns an error unless path is a regular file of a size that can be
// read.
func plainFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file; replace it by one", path)
	case info.Size() > maxSourceBytes:
		return fmt.Errorf("%s has %d MB; keep it below %d MB, or fetch its data at run time", path, info.Size()>>20, maxSourceBytes>>20)
	}
	return nil
}

// fromEsbuild is like the function of this name, but shows nothing of files
// beyond the fence, which esbuild itself reads as configuration.
func (f fence) fromEsbuild(messages []api.Message) []Problem {
	for i, m := range messages {
		if f.hides(m.Location) {
			messages[i].Text = "this file can't be used as it is; " + allowed
			messages[i].Location = &api.Location{File: m.Location.File, Line: m.Location.Line, Column: m.Location.Column}
			messages[i].Notes = nil
		}
		for _, note := range m.Notes {
			if f.hides(note.Location) {
				messages[i].Notes = nil
			}
		}
	}
	return fromEsbuild(messages)
}

// hides reports whether a message is about a file beyond the fence.
func (f fence) hides(at *api.Location) bool {
	if at == nil || at.Namespace != "" && at.Namespace != "file" {
		return false
	}
	path := at.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	if _, err := os.Lstat(path); err != nil {
		return false // no file, as our own entry
	}
	_, err := f.check(path)
	return err != nil
}

// checkOwn says why a file or directory that the plugin itself must have, or
// that is written, is not in its directory; nil if it is, or is not there.
func (f fence) checkOwn(name string) *Problem {
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	if err != nil && os.IsNotExist(err) {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case err != nil && info != nil && info.Mode()&os.ModeSymlink != 0:
		return &Problem{Where: name, Text: "it is a link that leads nowhere; replace it by what it should be"}
	case err != nil:
		return &Problem{Where: name, Text: "it can't be read: " + err.Error() + "; correct that"}
	case !inside(f.dir, real):
		return &Problem{Where: name, Text: fmt.Sprintf("it is a link to %s, outside of the plugin's directory; replace it by what it should be", real)}
	}
	return nil
}
