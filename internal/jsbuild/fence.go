package jsbuild

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// sourceBoundary restricts a plugin's build to files in the plugin's directory and its
// installed packages. An untrusted plugin must not copy other files of the user into its
// adapter or into an error text.
type sourceBoundary struct {
	// The field dir is the plugin's directory, as an absolute path without symbolic
	// links.
	dir string
}

// maxSourceBytes limits the size of each file in a bundle, so that a huge file does not
// use up the memory.
const maxSourceBytes = 32 << 20

const sourceBoundaryHint = "a plugin may only use files in its own directory, and in node_modules there or in the directories above"

func isInside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// The method check does not follow a link named node_modules, because a plugin's repository can contain a link with
// this name.
func (f sourceBoundary) check(path string) error {
	realPath, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if isInside(f.dir, realPath) {
		return nil
	}
	for ancestor := filepath.Dir(f.dir); ; ancestor = filepath.Dir(ancestor) {
		if isInside(filepath.Join(ancestor, "node_modules"), realPath) {
			return nil
		}
		if ancestor == filepath.Dir(ancestor) {
			break
		}
	}
	if realPath != path {
		return fmt.Errorf("%s is a link to %s, outside of the plugin", path, realPath)
	}
	return fmt.Errorf("%s is outside of the plugin", path)
}

// The esbuild plugin opentabs-fence must run before all other esbuild plugins.
func (f sourceBoundary) esbuildPlugin() api.Plugin {
	return api.Plugin{Name: "opentabs-fence", Setup: func(build api.PluginBuild) {
		// Imports of URLs are rejected, because esbuild would leave URL imports in the
		// bundle, where they fail in a page.
		build.OnResolve(api.OnResolveOptions{Filter: `^(https?:)?//`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{}, fmt.Errorf("%q is a URL, and a build loads nothing from the network; install the package with npm, or copy the file into the plugin", a.Path)
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "file"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			if err := f.check(a.Path); err != nil {
				return api.OnLoadResult{}, fmt.Errorf("%w; %s: copy it into the plugin, or install it as a package", err, sourceBoundaryHint)
			}
			// Only regular files are read, because reading a named pipe could block forever.
			return api.OnLoadResult{}, checkPlainFile(a.Path) // another esbuild plugin loads the file
		})
	}}
}

func checkPlainFile(path string) error {
	fileInfo, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !fileInfo.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file; replace it with one", path)
	case fileInfo.Size() > maxSourceBytes:
		return fmt.Errorf("%s has %d MB; keep it below %d MB, or fetch its data at run time", path, fileInfo.Size()>>20, maxSourceBytes>>20)
	}
	return nil
}

// esbuild also reads configuration files outside of the plugin, so problemsFromEsbuild removes their content from the messages.
func (f sourceBoundary) problemsFromEsbuild(messages []api.Message) []Problem {
	for i, m := range messages {
		if f.isOutside(m.Location) {
			messages[i].Text = "this file is invalid or outside of the plugin; " + sourceBoundaryHint
			messages[i].Location = &api.Location{File: m.Location.File, Line: m.Location.Line, Column: m.Location.Column}
			messages[i].Notes = nil
		}
		for _, note := range m.Notes {
			if f.isOutside(note.Location) {
				messages[i].Notes = nil
			}
		}
	}
	return problemsFromEsbuild(messages)
}

func (f sourceBoundary) isOutside(location *api.Location) bool {
	if location == nil || location.Namespace != "" && location.Namespace != "file" {
		return false
	}
	path := location.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	if _, err := os.Lstat(path); err != nil {
		return false
	}
	return f.check(path) != nil
}

// checkPluginLink returns nil for a missing file.
func (f sourceBoundary) checkPluginLink(name string) *Problem {
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	fileInfo, err := os.Lstat(path)
	if err != nil && os.IsNotExist(err) {
		return nil
	}
	realPath, err := filepath.EvalSymlinks(path)
	switch {
	case err != nil && fileInfo != nil && fileInfo.Mode()&os.ModeSymlink != 0:
		return &Problem{Location: name, Text: "the path is a link without a target; replace the link with the file or directory itself"}
	case err != nil:
		return &Problem{Location: name, Text: "it can't be read: " + err.Error() + "; check its permissions"}
	case !isInside(f.dir, realPath):
		return &Problem{Location: name, Text: fmt.Sprintf("the path is a link to %s, outside of the plugin's directory; replace the link with the file or directory itself", realPath)}
	}
	return nil
}
