package plugincmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/httpapi"
	"opentabs/internal/jsbuild"
	"opentabs/internal/permissions"
	"opentabs/internal/pluginview"
	"opentabs/internal/terminal"
	"opentabs/plugin"
)

// DevelopGroup is the help title of the commands for authors of plugins.
const DevelopGroup = "Develop plugins:"

// New returns the command `opentabs plugin` with its subcommands.
func New(p *cli.Program) *cobra.Command {
	cmd := cli.GroupCommands(&cobra.Command{
		Use:     "plugin",
		Short:   "Install, review, list, remove and make plugins",
		Example: "  opentabs plugin install slack\n  opentabs plugin review slack\n  opentabs plugin create my-site",
	})
	cli.AddCommandGroup(cmd, "Use plugins:",
		newPluginSearchCmd(p), newPluginInfoCmd(p), newPluginInstallCmd(p), newPluginReviewCmd(p), newPluginEnableCmd(p), newPluginDisableCmd(p), newPluginListCmd(p), newPluginPermissionCmd(p), newPluginLimitCmd(p), newPluginConfigureCmd(p), newPluginInspectCmd(p), newPluginUpdateCmd(p), newPluginRemoveCmd(p),
	)
	cli.AddCommandGroup(cmd, DevelopGroup,
		newPluginCreateCmd(p), newPluginBuildCmd(p), newPluginDevCmd(p), newPluginTestCmd(p), newPluginCheckCmd(p), newPluginReadmeCmd(p), newPluginPackCmd(p),
	)
	return cmd
}

type extractOptions struct{ program *cli.Program }

// NewExtractCmd returns the hidden command that runs a plugin's modules to read the
// tools. `opentabs plugin build` starts this hidden command, `opentabs __extract`, as a
// child process.
func NewExtractCmd(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:    "__extract",
		Short:  "Read a plugin's tools (started by plugin build)",
		Hidden: true,
		Args:   cli.LimitArgs(0),
		RunE:   func(*cobra.Command, []string) error { return runExtract(extractOptions{program: p}) },
	}
}

func runExtract(opts extractOptions) error {
	if jsbuild.Extract(opts.program.In, opts.program.Out.Stdout()) != cli.ExitOK {
		return cli.NewUsageError("the plugin's modules could not be run: this command is started by opentabs plugin build")
	}
	return nil
}

type pluginListOptions struct {
	program *cli.Program
	json    bool
}

func newPluginListCmd(p *cli.Program) *cobra.Command {
	opts := pluginListOptions{program: p}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the plugins and their tools",
		Example: "  opentabs plugin list\n  opentabs plugin list --json",
		Args:    cli.LimitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runPluginList(opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// `plugin list` reads the plugins from disk, so that it works without a server.
func runPluginList(opts pluginListOptions) error {
	p := opts.program
	h, registry, err := p.OpenPlugins()
	if err != nil {
		return err
	}
	pluginSet, api := registry.Set(), h.Permissions(registry)
	if opts.json {
		return p.Out.PrintValue(installedPlugins(pluginSet, api))
	}
	if len(pluginSet.Plugins())+len(pluginSet.Failed()) == 0 {
		p.Out.Notef("there are no plugins yet; install one with `opentabs plugin install NAME` or `opentabs plugin install PATH`")
	}
	for _, loadedPlugin := range pluginSet.Plugins() {
		terminal.PrintWrapped(p.Out, "    ", pluginview.Line(loadedPlugin, api.Status(loadedPlugin)))
		p.Out.PrintTable("  ", pluginview.ToolRows(loadedPlugin))
	}
	for _, f := range pluginSet.Failed() {
		terminal.PrintWrapped(p.Out, "    ", pluginview.FailedLine(permissions.NewFailedPlugin(f)))
	}
	return nil
}

// The output of `opentabs plugin list` has the same JSON field names as the response of GET /status.
func installedPlugins(pluginSet *plugin.Set, api permissions.LocalPolicy) any {
	installedList := struct {
		Plugins []httpapi.Plugin       `json:"plugins"`
		Failed  []httpapi.FailedPlugin `json:"failed"`
	}{[]httpapi.Plugin{}, []httpapi.FailedPlugin{}}
	for _, loadedPlugin := range pluginSet.Plugins() {
		installedList.Plugins = append(installedList.Plugins, api.Status(loadedPlugin))
	}
	for _, f := range pluginSet.Failed() {
		installedList.Failed = append(installedList.Failed, permissions.NewFailedPlugin(f))
	}
	return installedList
}

type inspectOptions struct {
	program     *cli.Program
	name        string
	sectionName string
	json        bool
}

// inspectedPlugin is the output of `opentabs plugin inspect --json`.
type inspectedPlugin struct {
	Name    string `json:"name"`
	Section string `json:"section"`
	Text    string `json:"text"`
}

func newPluginInspectCmd(p *cli.Program) *cobra.Command {
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
		Args: cli.RequireArgs(1, "the name of a plugin"),
		RunE: cli.ActionWithArg(&opts.name, func(_ context.Context) error { return runInspect(opts) }),
	}
	cmd.Flags().StringVar(&opts.sectionName, "section", "overview", "the `SECTION` to print: overview, tools, code, pre-script, changes or libraries")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runInspect(opts inspectOptions) error {
	p := opts.program
	h, registry, err := p.OpenPlugins()
	if err != nil {
		return err
	}
	if namedPlugin, err := registry.Set().Find(opts.name); err == nil && namedPlugin.IsBuiltin() {
		return cli.NewUsageError("%s is part of opentabs, not a plugin: list its tools with `opentabs tools %[1]s`", opts.name)
	}
	inspection, err := h.Permissions(registry).Inspect(opts.name)
	if err != nil {
		return cli.AsUsageError(err)
	}
	var pageTexts []string
	for sectionName := opts.sectionName; sectionName != ""; {
		pageText, nextPage, err := inspection.Page(sectionName)
		if err != nil {
			return cli.NewUsageError("%v", err)
		}
		pageTexts = append(pageTexts, strings.TrimSuffix(pageText, "\n"))
		sectionName = nextPage
	}
	reviewText := strings.Join(pageTexts, "\n")
	if opts.json {
		return p.Out.PrintValue(inspectedPlugin{opts.name, opts.sectionName, reviewText})
	}
	if opts.sectionName == "overview" || opts.sectionName == "tools" { // the other sections are code, which is not wrapped
		terminal.PrintWrapped(p.Out, "  ", reviewText)
	} else {
		p.Out.PrintText(reviewText)
	}
	return nil
}
