package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/home"
	"opentabs/internal/install"
	"opentabs/internal/npm"
	"opentabs/internal/pluginview"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/plugin/catalog"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

type pluginInstallOptions struct {
	program *program
	what    string
	// permission is the value of --permission, empty without the flag.
	permission string
}

func newPluginInstallCmd(p *program) *cobra.Command {
	opts := pluginInstallOptions{program: p}
	cmd := &cobra.Command{
		Use:   "install NAME[@RANGE] | FILE.tgz | PATH",
		Short: "Install a plugin from an npm registry, a file or a folder",
		Long: `Install a plugin without npm. No script of the package is run, and its
dependencies are not installed. NAME is the name of an npm package, or a short
name: slack is @opentabs-dev/opentabs-plugin-slack or, if that does not exist,
opentabs-plugin-slack. RANGE is a version, a tag or a range such as ^1.2.0;
opentabs plugin update stays in that range. The registry and its logins come
from npm's settings (.npmrc, npm_config_*). The folder of a built plugin is
added without a copy, as opentabs plugin add does.

None of its tools run before you review it (opentabs plugin review).
--permission reviews it at once.`,
		Example: `  opentabs plugin install slack
  opentabs plugin install @acme/opentabs-plugin-wiki@^2.1.0
  opentabs plugin install ./opentabs-plugin-wiki-2.1.0.tgz --permission ask`,
		Args: requireArgs(1, "the name of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.what = args[0]
			return runPluginInstall(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.permission, "permission", "", "also review it, and set how its tools run: `off, ask or auto`")
	return cmd
}

// installing is the installation and its installer, for commands that use registries.
type installing struct {
	*install.Installer
	home    *home.Home
	plugins *catalog.Catalog
}

func (p *program) openInstaller() (installing, error) {
	h, registry, err := p.openPlugins()
	if err != nil {
		return installing{}, err
	}
	i, err := install.New(h, p.getenv, p.out.Notef)
	return installing{i, h, registry}, err
}

func runPluginInstall(ctx context.Context, opts pluginInstallOptions) error {
	p := opts.program
	if isFolder(opts.what) {
		return runPluginAdd(ctx, pluginAddOptions{program: p, path: opts.what, permission: opts.permission})
	}
	if strings.Contains(opts.what, "://") {
		return usage("%q is a URL, whose content cannot be verified: download the file and install that, or name a package", opts.what)
	}
	permission, err := permissionFlag(opts.permission)
	if err != nil {
		return err
	}
	i, err := p.openInstaller()
	if err != nil {
		return err
	}
	before := installedPlugins(i.plugins)
	var added *plugin.Plugin
	if isTarball(opts.what) {
		file, err := npm.OpenTarball(opts.what)
		if err != nil {
			return err
		}
		added, err = i.Install(file, plugin.Entry{}, "")
		if err != nil {
			return err
		}
	} else {
		wanted := install.ParseSpec(opts.what)
		from, err := i.Find(ctx, wanted.Name)
		if err != nil {
			return withFolderHint(err, opts.what)
		}
		version, err := from.Pick(wanted.Want)
		if err != nil {
			return err
		}
		if added, err = p.fetchPackage(ctx, i.Installer, from, version, wanted.Want); err != nil {
			return err
		}
	}
	return p.finishInstall(ctx, i, added, before[added.Package], permission)
}

// isFolder reports whether what names a folder of this machine.
func isFolder(what string) bool {
	info, err := os.Stat(what)
	return isPath(what) && !isTarball(what) || err == nil && info.IsDir() && strings.ContainsAny(what, `/\`) && !strings.HasPrefix(what, "@")
}

// withFolderHint adds to err that there is a folder with the name of the package.
func withFolderHint(err error, what string) error {
	if _, statErr := os.Stat(filepath.Join(what, "package.json")); statErr == nil {
		return fmt.Errorf("%w; there is a folder with that name: add the folder with `opentabs plugin install .%c%s`", err, filepath.Separator, what)
	}
	return err
}

// isPath reports whether what is a path, which cannot be the name of a package.
func isPath(what string) bool {
	return filepath.IsAbs(what) || what == "." || what == ".." || strings.HasPrefix(what, "./") || strings.HasPrefix(what, "../") ||
		strings.HasPrefix(what, `.\`) || strings.HasPrefix(what, `..\`) || strings.HasPrefix(what, "~")
}

func isTarball(what string) bool {
	return strings.HasSuffix(what, ".tgz") || strings.HasSuffix(what, ".tar.gz")
}

func permissionFlag(text string) (wire.Permission, error) {
	if text == "" {
		return "", nil
	}
	permission, err := policy.ParsePermission(text)
	if err != nil {
		return "", usage("--permission: %v", err)
	}
	return permission, nil
}

// installedPlugins returns the plugins that opentabs has installed, by package.
func installedPlugins(registry *catalog.Catalog) map[string]*plugin.Plugin {
	list := map[string]*plugin.Plugin{}
	for _, one := range registry.Set().Plugins() {
		if one.Source == plugin.SourceNPM {
			list[one.Package] = one
		}
	}
	return list
}

// fetchPackage installs a version of a package and prints its registry.
func (p *program) fetchPackage(ctx context.Context, i *install.Installer, from *npm.Package, v *npm.Version, want string) (*plugin.Plugin, error) {
	where := from.Registry
	if _, set, err := i.Registries.Registry(from.Name); err == nil && set != "" {
		where += ", set by " + set
	}
	p.out.Notef("getting %s %s from %s", from.Name, terminal.SafeLine(v.Version), terminal.SafeLine(where))
	if warning := v.Warning(); warning != "" {
		p.out.Notef("warning: this version is deprecated by its author: %s", terminal.SafeLine(warning))
	}
	return i.Fetch(ctx, from, v, want)
}

// finishInstall prints what was installed and reloads the plugins of a running server.
func (p *program) finishInstall(ctx context.Context, i installing, added, before *plugin.Plugin, permission wire.Permission) error {
	for _, w := range added.Warnings {
		p.out.Notef("warning: %s", w)
	}
	switch {
	case before == nil:
		p.out.PrintLine("installed %s %s", added.Name, pluginview.Version(added))
		p.out.PrintTable("  ", pluginview.ToolRows(added))
	case before.ContentHash() == added.ContentHash():
		p.out.PrintLine("%s %s is already installed", added.Name, pluginview.Version(added))
	default:
		p.out.PrintLine("updated %s from %s to %s", added.Name, terminal.SafeLine(before.Version), pluginview.Version(added))
		for _, change := range pluginview.Changes(before, added) {
			p.out.PrintLine("  %s", change)
		}
	}
	client, err := reloadPlugins(ctx, i.home)
	if err != nil {
		return err
	}
	install.RemoveUnused(i.home, p.out.Notef, added.Package)
	if err := p.review(ctx, i.home, client, added, permission); err != nil || client == nil {
		return err
	}
	return p.reportTabs(ctx, client)
}

type pluginRemoveOptions struct {
	program *program
	name    string
}

func newPluginRemoveCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a plugin",
		Long: `Remove a plugin with its review, permissions and settings. The files of an
installed plugin are deleted; a folder that was added is kept.`,
		Example: "  opentabs plugin remove messages",
		Args:    requireArgs(1, "the name of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPluginRemove(cmd.Context(), pluginRemoveOptions{program: p, name: args[0]})
		},
	}
}

func runPluginRemove(ctx context.Context, opts pluginRemoveOptions) error {
	p := opts.program
	h, err := p.open(nil)
	if err != nil {
		return err
	}
	store := h.Store()
	entry := findEntry(store, opts.name)
	if entry.Name != "" {
		opts.name = entry.Name // the user may have given the name of the package
	} else if err := checkNotGlobal(h, opts.name); err != nil {
		return err
	}
	err = store.Remove(opts.name)
	if errors.Is(err, plugin.ErrUnknown) {
		return usage("%v", err)
	}
	if err != nil {
		return err
	}
	p.out.PrintLine("removed %s", opts.name)
	client, err := reloadPlugins(ctx, h)
	if err != nil {
		return err
	}
	if entry.Source == plugin.SourceNPM {
		install.RemoveUnused(h, p.out.Notef, entry.Package)
	}
	if err := forget(ctx, h, client, opts.name); err != nil || client == nil {
		return err
	}
	return p.reportTabs(ctx, client)
}

// findEntry returns the stored entry of the plugin or package with this name, or an empty
// entry.
func findEntry(store *plugin.Store, name string) plugin.Entry {
	entries, err := store.Entries()
	if err != nil {
		return plugin.Entry{} // Remove returns the error and repairs the file
	}
	at := slices.IndexFunc(entries, func(e plugin.Entry) bool { return e.Name == name || e.Package == name })
	if at < 0 {
		return plugin.Entry{}
	}
	return entries[at]
}

// checkNotGlobal returns an error if npm has installed the plugin, so that npm has to
// remove it.
func checkNotGlobal(h *home.Home, name string) error {
	registry, err := h.Plugins()
	if err != nil {
		return err
	}
	if one, ok := registry.Set().Plugin(name); ok && one.Source == plugin.SourceGlobal {
		return usage("%s was installed with npm: run `npm uninstall --global %s`, or turn such plugins off with the setting discoverGlobal (\"off\")", name, one.Package)
	}
	return nil
}
