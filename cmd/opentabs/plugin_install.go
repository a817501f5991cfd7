package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/install"
	"opentabs/internal/pluginview"
	"opentabs/internal/statusview"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

type pluginAddOptions struct {
	program *program
	path    string
	// permission is the value of --permission, empty without the flag.
	permission string
}

func newPluginAddCmd(p *program) *cobra.Command {
	opts := pluginAddOptions{program: p}
	cmd := &cobra.Command{
		Use:   "add PATH",
		Short: "Add a built plugin",
		Long: `Add the built plugin in PATH. The plugin stays in that folder: a running server
loads each new build from it.

The plugin's tools run only after you review the plugin (opentabs plugin
review). Each new build needs another review. --permission reviews the plugin at
once.`,
		Example: `  opentabs plugin add ./messages
  opentabs plugin add ./messages --permission ask`,
		Args: requireArgs(1, "the path of a plugin"),
		RunE: actionWithArg(&opts.path, func(ctx context.Context) error { return runPluginAdd(ctx, opts) }),
	}
	cmd.Flags().StringVar(&opts.permission, "permission", "", "also review the plugin, and set how its tools run: `off, ask or auto`")
	return cmd
}

func runPluginAdd(ctx context.Context, opts pluginAddOptions) error {
	p := opts.program
	permission, err := permissionFlag(opts.permission)
	if err != nil {
		return err
	}
	h, err := p.openHome(nil)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(opts.path)
	if err != nil {
		return fmt.Errorf("find %s: %w", opts.path, err)
	}
	newPlugin, err := h.PluginStore().Add(path)
	if err != nil {
		return withBuildHint(err, path, opts.path)
	}
	for _, w := range newPlugin.Warnings {
		p.out.Notef("warning: %s", w)
	}
	p.out.PrintLine("added %s %s", newPlugin.Name, pluginview.Version(newPlugin))
	p.out.PrintTable("  ", pluginview.ToolRows(newPlugin))
	return p.activate(ctx, h, newPlugin, permission)
}

// withBuildHint adds the build command to err if path is the source of a plugin that was
// not built.
func withBuildHint(err error, path, given string) error {
	_, hasPackage := os.Stat(filepath.Join(path, "package.json"))
	_, hasDist := os.Stat(filepath.Join(path, "dist"))
	if hasPackage == nil && hasDist != nil {
		return fmt.Errorf("%w; build it first with `opentabs plugin build %s`", err, given)
	}
	return err
}

type pluginInstallOptions struct {
	program *program
	source  string
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

The plugin's tools run only after you review the plugin (opentabs plugin
review). --permission reviews the plugin at once.`,
		Example: `  opentabs plugin install slack
  opentabs plugin install @acme/opentabs-plugin-wiki@^2.1.0
  opentabs plugin install ./opentabs-plugin-wiki-2.1.0.tgz --permission ask`,
		Args: requireArgs(1, "the name of a plugin"),
		RunE: actionWithArg(&opts.source, func(ctx context.Context) error { return runPluginInstall(ctx, opts) }),
	}
	cmd.Flags().StringVar(&opts.permission, "permission", "", "also review the plugin, and set how its tools run: `off, ask or auto`")
	return cmd
}

func runPluginInstall(ctx context.Context, opts pluginInstallOptions) error {
	p := opts.program
	source, err := install.ParseSource(opts.source)
	if err != nil {
		return err
	}
	if source.IsFolder() {
		return runPluginAdd(ctx, pluginAddOptions{program: p, path: opts.source, permission: opts.permission})
	}
	permission, err := permissionFlag(opts.permission)
	if err != nil {
		return err
	}
	i, err := p.openInstaller()
	if err != nil {
		return err
	}
	newPlugin, oldPlugin, err := i.Get(ctx, source)
	if err != nil {
		return err
	}
	return p.finishInstall(ctx, i, newPlugin, oldPlugin, permission)
}

// openInstaller returns the installer of packages.
func (p *program) openInstaller() (*install.Installer, error) {
	h, err := p.openHome(nil)
	if err != nil {
		return nil, err
	}
	return install.New(h, p.getenv, p.out.Notef)
}

func permissionFlag(text string) (wire.Permission, error) {
	if text == "" {
		return "", nil
	}
	permission, err := policy.ParsePermission(text)
	if err != nil {
		return "", newUsageError("--permission: %v", err)
	}
	return permission, nil
}

// finishInstall prints what was installed and reloads the plugins of a running server.
func (p *program) finishInstall(ctx context.Context, i *install.Installer, newPlugin, oldPlugin *plugin.Plugin, permission wire.Permission) error {
	for _, w := range newPlugin.Warnings {
		p.out.Notef("warning: %s", w)
	}
	switch {
	case oldPlugin == nil:
		p.out.PrintLine("installed %s %s", newPlugin.Name, pluginview.Version(newPlugin))
		p.out.PrintTable("  ", pluginview.ToolRows(newPlugin))
	case oldPlugin.ContentHash() == newPlugin.ContentHash():
		p.out.PrintLine("%s %s is already installed", newPlugin.Name, pluginview.Version(newPlugin))
	default:
		p.out.PrintLine("updated %s from %s to %s", newPlugin.Name, terminal.SafeLine(oldPlugin.Version), pluginview.Version(newPlugin))
		for _, change := range pluginview.Changes(oldPlugin, newPlugin) {
			p.out.PrintLine("  %s", change)
		}
	}
	return p.activate(ctx, i.Home, newPlugin, permission)
}

// activate makes a running server load a new plugin. With --permission, activate
// reviews the plugin; without --permission, activate prints how to review the plugin.
func (p *program) activate(ctx context.Context, h *home.Home, newPlugin *plugin.Plugin, permission wire.Permission) error {
	client, err := h.ReloadPlugins(ctx)
	if err != nil {
		return err
	}
	if newPlugin.Source == plugin.SourceNPM {
		install.RemoveUnused(h, p.out.Notef, newPlugin.Package)
	}
	book, err := h.PolicyOf(ctx, client)
	if err != nil {
		return err
	}
	if permission != "" {
		if err := book.Review(newPlugin.Name, newPlugin.ContentHash(), permission, httpapi.CommandLine); err != nil {
			return asUsageError(err)
		}
		p.out.Notef("%s is reviewed; its permission is %s", newPlugin.Name, permission)
		return p.reportTabs(ctx, client)
	}
	now, err := book.Permissions(newPlugin.Name)
	if err != nil {
		return asUsageError(err)
	}
	p.out.Notef("%s", pluginview.ReviewHint(now))
	return p.reportTabs(ctx, client)
}

// reportTabs prints that the running server has loaded the change, and which tabs need
// a reload. client is nil if no server runs.
func (p *program) reportTabs(ctx context.Context, client *httpapi.Client) error {
	if client == nil {
		return nil
	}
	status, err := client.Status(ctx)
	if err != nil {
		return fmt.Errorf("get the status of the server: %w", err)
	}
	statusview.PrintReloads(p.out, status)
	return nil
}

type pluginRemoveOptions struct {
	program *program
	name    string
}

func newPluginRemoveCmd(p *program) *cobra.Command {
	opts := pluginRemoveOptions{program: p}
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a plugin",
		Long: `Remove a plugin with its review, permissions and settings. The files of an
installed plugin are deleted; a folder that was added is kept.`,
		Example: "  opentabs plugin remove messages",
		Args:    requireArgs(1, "the name of a plugin"),
		RunE:    actionWithArg(&opts.name, func(ctx context.Context) error { return runPluginRemove(ctx, opts) }),
	}
}

func runPluginRemove(ctx context.Context, opts pluginRemoveOptions) error {
	p := opts.program
	h, err := p.openHome(nil)
	if err != nil {
		return err
	}
	entry, err := install.Remove(h, opts.name)
	if err != nil {
		return err
	}
	p.out.PrintLine("removed %s", entry.Name)
	client, err := h.ReloadPlugins(ctx)
	if err != nil {
		return err
	}
	if entry.Source == plugin.SourceNPM {
		install.RemoveUnused(h, p.out.Notef, entry.Package)
	}
	book, err := h.PolicyOf(ctx, client)
	if err != nil {
		return err
	}
	if err := book.Forget(entry.Name, httpapi.CommandLine); err != nil {
		return err
	}
	return p.reportTabs(ctx, client)
}
