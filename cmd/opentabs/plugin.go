package main

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/httpapi"
	"opentabs/internal/jsbuild"
	"opentabs/internal/permissions"
	"opentabs/internal/pluginview"
	"opentabs/plugin"
)

func newPluginCmd(p *program) *cobra.Command {
	return groupCommands(&cobra.Command{
		Use:     "plugin",
		Short:   "Install, review, list, remove and make plugins",
		Example: "  opentabs plugin install slack\n  opentabs plugin review slack\n  opentabs plugin create my-site",
	}, newPluginCreateCmd(p), newPluginBuildCmd(p), newPluginDevCmd(p), newPluginTestCmd(p), newPluginCheckCmd(p), newPluginReadmeCmd(p), newPluginPackCmd(p), newPluginInstallCmd(p), newPluginUpdateCmd(p), newPluginSearchCmd(p), newPluginInfoCmd(p), newPluginAddCmd(p), newPluginInspectCmd(p), newPluginReviewCmd(p), newPluginConfigureCmd(p), newPluginPermissionCmd(p), newPluginLimitCmd(p), newPluginListCmd(p), newPluginRemoveCmd(p))
}

type extractOptions struct{ program *program }

// newExtractCmd returns the hidden command that `plugin build` starts as a child
// process to run a plugin's modules.
func newExtractCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:    "__extract",
		Short:  "Read a plugin's tools (started by plugin build)",
		Hidden: true,
		Args:   limitArgs(0),
		RunE:   func(*cobra.Command, []string) error { return runExtract(extractOptions{program: p}) },
	}
}

func runExtract(opts extractOptions) error {
	if jsbuild.Extract(opts.program.in, opts.program.out.Stdout()) != exitOK {
		return newUsageError("the plugin's modules could not be run: this command is started by opentabs plugin build")
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
		Args:    limitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runPluginList(opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// runPluginList prints the plugins. runPluginList reads the folders of the plugins, so
// `plugin list` works without a server.
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
	for _, loadedPlugin := range set.Plugins() {
		p.out.PrintLine("%s", pluginview.Line(loadedPlugin, api.Status(loadedPlugin)))
		p.out.PrintTable("  ", pluginview.ToolRows(loadedPlugin))
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
	for _, loadedPlugin := range set.Plugins() {
		list.Plugins = append(list.Plugins, api.Status(loadedPlugin))
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
		RunE: actionWithArg(&opts.name, func(_ context.Context) error { return runInspect(opts) }),
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
	inspected, err := h.Permissions(registry).Inspect(opts.name)
	if err != nil {
		return asUsageError(err)
	}
	for section := opts.section; section != ""; {
		text, nextPage, err := inspected.Page(section)
		if err != nil {
			return newUsageError("%v", err)
		}
		p.out.PrintText(text)
		section = nextPage
	}
	return nil
}
