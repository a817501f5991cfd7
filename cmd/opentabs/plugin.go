package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/jsbuild"
	"opentabs/internal/permissions"
	"opentabs/internal/pluginview"
	"opentabs/internal/statusview"
	"opentabs/plugin"
)

func newPluginCmd(p *program) *cobra.Command {
	return group(&cobra.Command{
		Use:     "plugin",
		Short:   "Install, review, list, remove and make plugins",
		Example: "  opentabs plugin install slack\n  opentabs plugin review slack\n  opentabs plugin create my-site",
	}, newPluginCreateCmd(p), newPluginBuildCmd(p), newPluginDevCmd(p), newPluginTestCmd(p), newPluginCheckCmd(p), newPluginReadmeCmd(p), newPluginPackCmd(p), newPluginInstallCmd(p), newPluginUpdateCmd(p), newPluginSearchCmd(p), newPluginInfoCmd(p), newPluginAddCmd(p), newPluginInspectCmd(p), newPluginReviewCmd(p), newPluginConfigureCmd(p), newPluginPermissionCmd(p), newPluginLimitCmd(p), newPluginListCmd(p), newPluginRemoveCmd(p))
}

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

None of its tools run before you review it (opentabs plugin review), and again
after each new build. --permission reviews it at once.`,
		Example: `  opentabs plugin add plugins/messages
  opentabs plugin add plugins/messages --permission ask`,
		Args: requireArgs(1, "the path of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.path = args[0]
			return runPluginAdd(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.permission, "permission", "", "also review it, and set how its tools run: `off, ask or auto`")
	return cmd
}

func runPluginAdd(ctx context.Context, opts pluginAddOptions) error {
	p := opts.program
	permission, err := permissionFlag(opts.permission)
	if err != nil {
		return err
	}
	h, err := p.open(nil)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(opts.path)
	if err != nil {
		return fmt.Errorf("find %s: %w", opts.path, err)
	}
	added, err := h.Store().Add(path)
	if err != nil {
		return withBuildHint(err, path, opts.path)
	}
	for _, w := range added.Warnings {
		p.out.Notef("warning: %s", w)
	}
	p.out.PrintLine("added %s %s", added.Name, pluginview.Version(added))
	p.out.PrintTable("  ", pluginview.ToolRows(added))
	client, err := reloadPlugins(ctx, h)
	if err != nil {
		return err
	}
	if err := p.review(ctx, h, client, added, permission); err != nil || client == nil {
		return err
	}
	return p.reportTabs(ctx, client)
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

// reloadPlugins makes a running server reload the plugins, and returns a client of
// it. It returns nil if no server runs.
func reloadPlugins(ctx context.Context, h *home.Home) (*httpapi.Client, error) {
	client, err := h.RunningClient(ctx)
	if client == nil || err != nil {
		return nil, err
	}
	if err := client.Plugins.Reload(ctx); err != nil {
		return nil, fmt.Errorf("reload the plugins of the server: %w", err)
	}
	return client, nil
}

// reportTabs prints that the server has a change, and which tabs need a reload.
func (p *program) reportTabs(ctx context.Context, client *httpapi.Client) error {
	status, err := client.Status(ctx)
	if err != nil {
		return fmt.Errorf("get the status of the server: %w", err)
	}
	statusview.PrintReloads(p.out, status)
	return nil
}

type extractOptions struct{ program *program }

// newExtractCmd returns the command that `plugin build` starts as a child process to
// run a plugin's modules. Users do not run it.
func newExtractCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:    "__extract",
		Short:  "Read a plugin's tools (started by plugin build)",
		Hidden: true,
		Args:   atMost(0),
		RunE:   func(*cobra.Command, []string) error { return runExtract(extractOptions{program: p}) },
	}
}

func runExtract(opts extractOptions) error {
	if code := jsbuild.Extract(opts.program.in, opts.program.out.Stdout()); code != exitOK {
		return &failure{code: code, err: errors.New("the plugin's modules could not be run: this command is started by opentabs plugin build")}
	}
	return nil
}

type pluginListOptions struct {
	program *program
	json    bool
}

func newPluginListCmd(p *program) *cobra.Command {
	opts := pluginListOptions{program: p}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the plugins and their tools",
		Example: "  opentabs plugin list\n  opentabs plugin list --json",
		Args:    atMost(0),
		RunE:    func(*cobra.Command, []string) error { return runPluginList(opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// runPluginList prints the plugins. It reads their folders, so it works without a server.
func runPluginList(opts pluginListOptions) error {
	p := opts.program
	h, registry, err := p.openPlugins()
	if err != nil {
		return err
	}
	set, api := registry.Set(), h.Permissions(registry)
	if opts.json {
		return p.out.PrintValue(pluginList(set, api))
	}
	if len(set.Plugins())+len(set.Failed()) == 0 {
		p.out.Notef("there are no plugins yet; install one with `opentabs plugin install NAME`, or add one with `opentabs plugin add PATH`")
	}
	for _, one := range set.Plugins() {
		p.out.PrintLine("%s", pluginview.Line(one, api.Status(one)))
		p.out.PrintTable("  ", pluginview.ToolRows(one))
	}
	for _, f := range set.Failed() {
		p.out.PrintLine("%s", pluginview.FailedLine(permissions.FailedStatus(f)))
	}
	return nil
}

// pluginList returns what --json prints, with the field names of /status.
func pluginList(set *plugin.Set, api permissions.Local) any {
	list := struct {
		Plugins []httpapi.Plugin       `json:"plugins"`
		Failed  []httpapi.FailedPlugin `json:"failed"`
	}{[]httpapi.Plugin{}, []httpapi.FailedPlugin{}}
	for _, one := range set.Plugins() {
		list.Plugins = append(list.Plugins, api.Status(one))
	}
	for _, f := range set.Failed() {
		list.Failed = append(list.Failed, permissions.FailedStatus(f))
	}
	return list
}

type inspectOptions struct {
	program *program
	name    string
	section string
}

func newPluginInspectCmd(p *program) *cobra.Command {
	opts := inspectOptions{program: p}
	cmd := &cobra.Command{
		Use:   "inspect NAME",
		Short: "Print the description and the code of a plugin",
		Long: `Print what agents get when they inspect a plugin (plugin_inspect): its
description, its sites and its tools. --section prints the author's code, or
what has changed since the last review. All pages of a section are printed. The
command changes nothing; opentabs plugin review enables a plugin.`,
		Example: `  opentabs plugin inspect messages
  opentabs plugin inspect messages --section code`,
		Args: requireArgs(1, "the name of a plugin"),
		RunE: func(_ *cobra.Command, args []string) error {
			opts.name = args[0]
			return runInspect(opts)
		},
	}
	cmd.Flags().StringVar(&opts.section, "section", "overview", "the `SECTION` to print: overview, tools, code, pre-script, changes or libraries")
	return cmd
}

func runInspect(opts inspectOptions) error {
	p := opts.program
	h, registry, err := p.openPlugins()
	if err != nil {
		return err
	}
	in, err := h.Permissions(registry).Inspect(opts.name)
	if err != nil {
		return asUsage(err)
	}
	for section := opts.section; section != ""; {
		text, next, err := in.Page(section)
		if err != nil {
			return usage("%v", err)
		}
		p.out.PrintText(text)
		section = next
	}
	return nil
}
