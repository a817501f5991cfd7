package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"opentabs/internal/home"
	"opentabs/internal/npm"
	"opentabs/internal/usererr"
	"opentabs/plugin"
)

// Source is what a user installs: a folder, a package file, or a package of a registry.
type Source struct {
	spec             string
	isFolder, isFile bool
}

// ParseSource parses the argument of `opentabs plugin install`. For a URL, ParseSource
// returns a [usererr.Error].
func ParseSource(spec string) (Source, error) {
	isFile := strings.HasSuffix(spec, ".tgz") || strings.HasSuffix(spec, ".tar.gz")
	fileInfo, err := os.Stat(spec)
	isFolder := isPath(spec) && !isFile || err == nil && fileInfo.IsDir() && strings.ContainsAny(spec, `/\`) && !strings.HasPrefix(spec, "@")
	if !isFolder && strings.Contains(spec, "://") {
		return Source{}, usererr.Errorf("%q is a URL, whose content cannot be verified: download the file and install that, or name a package", spec)
	}
	return Source{spec: spec, isFolder: isFolder, isFile: isFile}, nil
}

// IsFolder reports whether the source is a folder. Plugins in folders are used in place,
// without a copy.
func (s Source) IsFolder() bool { return s.isFolder }

// IsLocal reports whether the source is a folder or a package file.
func (s Source) IsLocal() bool { return s.isFolder || s.isFile }

// AddFolder adds a built plugin to the installation, without copying the plugin's folder.
// If the plugin is not built, the error contains the command that builds it.
func AddFolder(h *home.Home, folder string) (*plugin.Plugin, error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", folder, err)
	}
	newPlugin, err := h.PluginStore().Add(path)
	if err != nil {
		return nil, addBuildHint(err, path, folder)
	}
	return newPlugin, nil
}

func addBuildHint(err error, path, givenPath string) error {
	_, packageErr := os.Stat(filepath.Join(path, "package.json"))
	_, distErr := os.Stat(filepath.Join(path, "dist"))
	if packageErr == nil && distErr != nil {
		return fmt.Errorf("%w; build it first with `opentabs plugin build %s`", err, givenPath)
	}
	return err
}

func isPath(spec string) bool {
	if filepath.IsAbs(spec) || spec == "." || spec == ".." {
		return true
	}
	for _, prefix := range []string{"./", "../", `.\`, `..\`, "~"} {
		if strings.HasPrefix(spec, prefix) {
			return true
		}
	}
	return false
}

// Get installs a plugin from a registry or a package file. The result oldPlugin is the plugin that was replaced, or
// nil.
func (i *Installer) Get(ctx context.Context, s Source) (newPlugin, oldPlugin *plugin.Plugin, err error) {
	if s.isFile {
		var file npm.Tarball
		if file, err = npm.OpenTarball(s.spec); err == nil {
			newPlugin, err = i.installPackage(file, plugin.Entry{}, "")
		}
	} else {
		newPlugin, err = i.getPackage(ctx, s.spec)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, loadedPlugin := range i.Plugins.Set().Plugins() {
		if loadedPlugin.Source == plugin.SourceNPM && loadedPlugin.Package == newPlugin.Package {
			oldPlugin = loadedPlugin
		}
	}
	return newPlugin, oldPlugin, nil
}

func (i *Installer) getPackage(ctx context.Context, sourceText string) (*plugin.Plugin, error) {
	spec := parseSpec(sourceText)
	packageInfo, err := i.findPackage(ctx, spec.name)
	if err != nil {
		return nil, addFolderHint(err, sourceText)
	}
	version, err := packageInfo.ChooseVersion(spec.requestedVersion)
	if err != nil {
		return nil, err
	}
	return i.fetchAndInstall(ctx, packageInfo, version, spec.requestedVersion)
}

func addFolderHint(err error, spec string) error {
	if _, statErr := os.Stat(filepath.Join(spec, "package.json")); statErr == nil {
		return fmt.Errorf("%w; there is a folder with that name: install the folder with `opentabs plugin install .%c%s`", err, filepath.Separator, spec)
	}
	return err
}
