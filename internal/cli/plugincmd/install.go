package plugincmd

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
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

// installedPlugin is the output of `opentabs plugin install --json`.
type installedPlugin struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Change describes what the command did to the plugin.
	Change          pluginChange    `json:"change"`
	PreviousVersion string          `json:"previous_version,omitempty"`
	Dir             string          `json:"dir"`
	Tools           []string        `json:"tools"`
	Warnings        []string        `json:"warnings,omitempty"`
	IsReviewed      bool            `json:"reviewed"`
	Permission      wire.Permission `json:"permission"`
}

// pluginChange describes what an install command did to a plugin.
type pluginChange string

const (
	changeInstalled pluginChange = "installed"
	changeUpdated   pluginChange = "updated"
	changeNone      pluginChange = "none"
)

func newInstalledPlugin(newPlugin *plugin.Plugin, change pluginChange) installedPlugin {
	output := installedPlugin{Name: newPlugin.Name, Version: newPlugin.Version, Change: change, Dir: newPlugin.Dir, Tools: []string{}, Warnings: newPlugin.Warnings}
	for _, t := range newPlugin.Tools {
		output.Tools = append(output.Tools, t.FullName())
	}
	return output
}

func addFolder(ctx context.Context, opts pluginInstallOptions) error {
	p := opts.program
	permission, err := permissionFlag(opts.permission)
	if err != nil {
		return err
	}
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	newPlugin, err := install.AddFolder(h, opts.source)
	if err != nil {
		return err
	}
	result := newInstalledPlugin(newPlugin, changeInstalled)
	if !opts.json {
		printWarnings(p, newPlugin)
		p.Out.PrintLine("installed %s %s", newPlugin.Name, pluginview.Version(newPlugin))
		p.Out.PrintTable("  ", pluginview.ToolRows(newPlugin))
	}
	if err := activatePlugin(ctx, p, h, newPlugin, permission, &result); err != nil || !opts.json {
		return err
	}
	return p.Out.PrintValue(result)
}

func printWarnings(p *cli.Program, newPlugin *plugin.Plugin) {
	for _, w := range newPlugin.Warnings {
		p.Out.Notef("warning: %s", w)
	}
}

type pluginInstallOptions struct {
	program *cli.Program
	source  string
	// For `plugin add`, source can also be the name of a folder in the current directory, without "./".
	acceptsFolderName bool
	permission        string
	json              bool
}

func newPluginInstallCmd(p *cli.Program) *cobra.Command {
	opts := pluginInstallOptions{program: p}
	cmd := &cobra.Command{
		Use:     "install NAME[@RANGE] | FILE.tgz | PATH",
		Aliases: []string{"add"},
		Short:   "Install a plugin from an npm registry, a file or a folder",
		Long: `Install a plugin without npm. No script of the package is run, and its
dependencies are not installed. NAME is the name of an npm package, or a short
name: slack is @opentabs-dev/opentabs-plugin-slack or, if that does not exist,
opentabs-plugin-slack. RANGE is a version, a tag or a range such as ^1.2.0;
opentabs plugin update stays in that range. The registry and its logins come
from npm's settings (.npmrc, npm_config_*).

PATH is the folder of a built plugin, such as ./messages. The plugin stays in
that folder: a running server loads each new build from it.

The plugin's tools run only after you review the plugin (opentabs plugin
review). Each new version or build needs another review. --permission reviews
the plugin at once.`,
		Example: `  opentabs plugin install slack
  opentabs plugin install @acme/opentabs-plugin-wiki@^2.1.0
  opentabs plugin install ./opentabs-plugin-wiki-2.1.0.tgz --permission ask
  opentabs plugin install ./messages`,
		Args: cli.RequireArgs(1, "the name of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.source, opts.acceptsFolderName = args[0], cmd.CalledAs() == "add"
			return runPluginInstall(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.permission, "permission", "", "also review the plugin, and set the `PERMISSION` of its tools: off, ask or auto")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runPluginInstall(ctx context.Context, opts pluginInstallOptions) error {
	p := opts.program
	packageSource, err := install.ParseSource(opts.source)
	if err != nil {
		return err
	}
	if packageSource.IsFolder() || opts.acceptsFolderName && isFolder(opts.source) {
		return addFolder(ctx, opts)
	}
	permission, err := permissionFlag(opts.permission)
	if err != nil {
		return err
	}
	i, err := openInstaller(p)
	if err != nil {
		return err
	}
	newPlugin, oldPlugin, err := i.Get(ctx, packageSource)
	if err != nil {
		return err
	}
	result, err := finishInstall(ctx, p, i, newPlugin, oldPlugin, permission, opts.json)
	if err != nil || !opts.json {
		return err
	}
	return p.Out.PrintValue(result)
}

func isFolder(path string) bool {
	fileInfo, err := os.Stat(path)
	return err == nil && fileInfo.IsDir()
}

func openInstaller(p *cli.Program) (*install.Installer, error) {
	h, err := p.OpenHome(nil)
	if err != nil {
		return nil, err
	}
	return install.New(h, p.Getenv, ".", p.Out.Notef)
}

func permissionFlag(permissionName string) (wire.Permission, error) {
	if permissionName == "" {
		return "", nil
	}
	permission, err := policy.ParsePermission(permissionName)
	if err != nil {
		return "", cli.NewUsageError("--permission: %v", err)
	}
	return permission, nil
}

func finishInstall(ctx context.Context, p *cli.Program, i *install.Installer, newPlugin, oldPlugin *plugin.Plugin, permission wire.Permission, asJSON bool) (installedPlugin, error) {
	result := newInstalledPlugin(newPlugin, changeInstalled)
	if oldPlugin != nil {
		result.Change, result.PreviousVersion = changeUpdated, oldPlugin.Version
		if oldPlugin.ContentHash() == newPlugin.ContentHash() {
			result.Change = changeNone
		}
	}
	if !asJSON {
		printWarnings(p, newPlugin)
		switch result.Change {
		case changeInstalled:
			p.Out.PrintLine("installed %s %s", newPlugin.Name, pluginview.Version(newPlugin))
			p.Out.PrintTable("  ", pluginview.ToolRows(newPlugin))
		case changeNone:
			p.Out.PrintLine("%s %s is already installed", newPlugin.Name, pluginview.Version(newPlugin))
		default:
			p.Out.PrintLine("updated %s from %s to %s", newPlugin.Name, terminal.SafeLine(oldPlugin.Version), pluginview.Version(newPlugin))
			for _, change := range pluginview.DescribeChanges(oldPlugin, newPlugin) {
				p.Out.PrintLine("  %s", change)
			}
		}
	}
	return result, activatePlugin(ctx, p, i.Home, newPlugin, permission, &result)
}

func activatePlugin(ctx context.Context, p *cli.Program, h *home.Home, newPlugin *plugin.Plugin, permission wire.Permission, result *installedPlugin) error {
	client, err := h.ReloadPlugins(ctx)
	if err != nil {
		return err
	}
	if newPlugin.Source == plugin.SourceNPM {
		install.RemoveUnused(h, p.Out.Notef, newPlugin.Package)
	}
	policyAccess, err := h.OpenServerPolicy(ctx, client)
	if err != nil {
		return err
	}
	if permission != "" {
		if err := policyAccess.Review(newPlugin.Name, newPlugin.ContentHash(), permission, httpapi.CommandLine); err != nil {
			return cli.AsUsageError(err)
		}
		result.IsReviewed, result.Permission = true, permission
		p.Out.Notef("%s is reviewed; its permission is %s", newPlugin.Name, permission)
		return reportTabs(ctx, p, client, newPlugin.Name)
	}
	currentPermissions, err := policyAccess.Permissions(newPlugin.Name)
	if err != nil {
		return cli.AsUsageError(err)
	}
	result.IsReviewed, result.Permission = currentPermissions.Reviewed, currentPermissions.Permission
	p.Out.Notef("%s", pluginview.ReviewHint(currentPermissions))
	return reportTabs(ctx, p, client, newPlugin.Name)
}

// reportTabs does nothing if client is nil. The parameter plugin is empty after the removal of a plugin.
func reportTabs(ctx context.Context, p *cli.Program, client *httpapi.Client, plugin string) error {
	if client == nil {
		return nil
	}
	serverStatus, err := client.Status(ctx)
	if err != nil {
		return fmt.Errorf("get the status of the server: %w", err)
	}
	statusview.PrintTabsToReload(p.Out, serverStatus, plugin)
	return nil
}

type pluginRemoveOptions struct {
	program *cli.Program
	name    string
	json    bool
}

// removedPlugin is the output of `opentabs plugin remove --json`.
type removedPlugin struct {
	Name   string        `json:"name"`
	Source plugin.Source `json:"source"`
}

func newPluginRemoveCmd(p *cli.Program) *cobra.Command {
	opts := pluginRemoveOptions{program: p}
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a plugin",
		Long: `Remove a plugin with its review, permissions and settings. The files of an
installed package are deleted; the folder of a plugin that was installed from a
folder is kept.`,
		Example: "  opentabs plugin remove messages",
		Args:    cli.RequireArgs(1, "the name of a plugin"),
		RunE:    cli.ActionWithArg(&opts.name, func(ctx context.Context) error { return runPluginRemove(ctx, opts) }),
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runPluginRemove(ctx context.Context, opts pluginRemoveOptions) error {
	p := opts.program
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	storeEntry, err := install.Remove(h, opts.name)
	if err != nil {
		return err
	}
	if !opts.json {
		p.Out.PrintLine("removed %s", storeEntry.Name)
	}
	client, err := h.ReloadPlugins(ctx)
	if err != nil {
		return err
	}
	if storeEntry.Source == plugin.SourceNPM {
		install.RemoveUnused(h, p.Out.Notef, storeEntry.Package)
	}
	policyAccess, err := h.OpenServerPolicy(ctx, client)
	if err != nil {
		return err
	}
	if err := policyAccess.Forget(storeEntry.Name, httpapi.CommandLine); err != nil {
		return err
	}
	if opts.json {
		if err := p.Out.PrintValue(removedPlugin{storeEntry.Name, storeEntry.Source}); err != nil {
			return err
		}
	}
	return reportTabs(ctx, p, client, "")
}
