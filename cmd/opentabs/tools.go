package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/nearest"
	"opentabs/internal/terminal"
	"opentabs/internal/toolpins"
	"opentabs/internal/toolview"
	"opentabs/plugin"
	"opentabs/wire"
)

type toolsOptions struct {
	program *cli.Program
	plugin  string
	json    bool
}

func newToolsCmd(p *cli.Program) *cobra.Command {
	opts := toolsOptions{program: p}
	cmd := &cobra.Command{
		Use:   "tools [PLUGIN]",
		Short: "List the tools, show one, or choose which ones agents list",
		Long: `List the tools of all plugins or of one PLUGIN, with their permissions. The
browser tools are the tools of the plugin "browser".

"opentabs tools show" shows the arguments of a tool, and how to call it.`,
		Example: "  opentabs tools\n  opentabs tools messages\n  opentabs tools show messages__countdown\n  opentabs tools pin messages",
		Args:    cli.LimitArgs(1),
		RunE:    cli.ActionWithArg(&opts.plugin, func(ctx context.Context) error { return runTools(ctx, opts) }),
		// A word after `opentabs tools` that is not a subcommand is the name of a
		// plugin.
		Annotations: map[string]string{cli.TakesArgument: "PLUGIN"},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	cmd.AddCommand(newToolsShowCmd(p), newToolsPinCmd(p), newToolsUnpinCmd(p))
	return cmd
}

// listedTool is one tool in the output of `opentabs tools --json` and `opentabs tools
// show --json`.
type listedTool struct {
	Name        string          `json:"name"`
	Plugin      string          `json:"plugin"`
	Permission  wire.Permission `json:"permission"`
	Description string          `json:"description"`
	// InputSchema is set only in the output of `opentabs tools show`.
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	Example     string          `json:"example,omitempty"`
	// The field Undo is the full name of the tool that can undo a call of the listed
	// tool.
	Undo string `json:"undo,omitempty"`
}

func runTools(ctx context.Context, opts toolsOptions) error {
	p := opts.program
	policyAccess, err := p.OpenPolicy(ctx)
	if err != nil {
		return err
	}
	plugins := policyAccess.Plugins.All()
	if opts.plugin != "" {
		one, err := policyAccess.Plugins.Find(opts.plugin)
		if err != nil {
			return cli.AsUsageError(err)
		}
		plugins = []*plugin.Plugin{one}
	}
	tools := []listedTool{}
	tableRows := [][]string{{"TOOL", "PERMISSION", "DESCRIPTION"}}
	for _, one := range plugins {
		permissions, err := policyAccess.Permissions(one.Name)
		if err != nil {
			return cli.AsUsageError(err)
		}
		for _, t := range one.Tools {
			toolEntry := listedTool{Name: t.FullName(), Plugin: one.Name, Permission: findPermission(permissions, t.Name), Description: t.Description}
			tools = append(tools, toolEntry)
			tableRows = append(tableRows, []string{toolEntry.Name, string(toolEntry.Permission), toolEntry.Description})
		}
	}
	if opts.json {
		return p.Out.PrintValue(tools)
	}
	p.Out.PrintTable("", tableRows, "DESCRIPTION")
	return nil
}

func findPermission(permissions httpapi.PluginPermissions, tool string) wire.Permission {
	for _, t := range permissions.Tools {
		if t.Name == tool {
			return t.Permission
		}
	}
	return wire.PermissionOff
}

type toolsShowOptions struct {
	program *cli.Program
	tool    string
	json    bool
}

func newToolsShowCmd(p *cli.Program) *cobra.Command {
	opts := toolsShowOptions{program: p}
	cmd := &cobra.Command{
		Use:     "show TOOL",
		Short:   "Show the arguments of a tool, its permission and an example",
		Example: "  opentabs tools show messages__countdown\n  opentabs tools show browser_click",
		Args:    cli.RequireArgs(1, "the name of the tool"),
		RunE:    cli.ActionWithArg(&opts.tool, func(ctx context.Context) error { return runToolsShow(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runToolsShow(ctx context.Context, opts toolsShowOptions) error {
	p := opts.program
	policyAccess, err := p.OpenPolicy(ctx)
	if err != nil {
		return err
	}
	t, ok := policyAccess.Plugins.Tool(opts.tool)
	if !ok {
		var names []string
		for _, otherTool := range policyAccess.Plugins.Tools() {
			names = append(names, otherTool.FullName())
		}
		return cli.NewUsageError("there is no tool %q%s: list the tools with `opentabs tools`", opts.tool, nearest.Suggestion(opts.tool, names))
	}
	permissions, err := policyAccess.Permissions(t.Plugin.Name)
	if err != nil {
		return cli.AsUsageError(err)
	}
	shownTool := listedTool{
		Name: t.FullName(), Plugin: t.Plugin.Name, Permission: findPermission(permissions, t.Name), Description: t.Description,
		InputSchema: t.InputSchema, Example: toolview.Example(t.FullName(), t.InputSchema),
	}
	tableRows := [][]string{{"plugin", t.Plugin.DisplayName}, {"permission", string(shownTool.Permission)}}
	if undoTool := t.UndoTool(); undoTool != nil {
		shownTool.Undo = undoTool.FullName()
		tableRows = append(tableRows, []string{"undone by", t.Undo.String()})
	}
	if opts.json {
		return p.Out.PrintValue(shownTool)
	}
	p.Out.PrintParagraph("", "", shownTool.Description)
	p.Out.PrintLine("")
	p.Out.PrintTable("", tableRows)
	p.Out.PrintLine("")
	printArguments(p.Out, toolview.Arguments(t.InputSchema))
	p.Out.PrintLine("")
	p.Out.PrintLine("%s", shownTool.Example)
	return nil
}

func printArguments(terminalOut *terminal.Output, arguments []toolview.Argument) {
	if len(arguments) == 0 {
		terminalOut.PrintLine("The tool has no arguments.")
	}
	for _, a := range arguments {
		requiredMark := ""
		if a.IsRequired {
			requiredMark = " (required)"
		}
		terminalOut.PrintLine("  %s: %s%s", a.Name, a.Value, requiredMark)
		if a.Description != "" {
			terminalOut.PrintParagraph("      ", "      ", a.Description)
		}
	}
}

type pinOptions struct {
	program *cli.Program
	names   []string
	json    bool
}

func newToolsPinCmd(p *cli.Program) *cobra.Command {
	opts := pinOptions{program: p}
	cmd := &cobra.Command{
		Use:   "pin [NAME...]",
		Short: "Pin tools, or show the pinned tools",
		Long: `Pin tools, so that each agent lists them even if there are more tools than its
client can use. Such a client lists only tools that search and call all others,
and the pinned tools. A pin changes what is listed, not what may run.

NAME is a tool, or a plugin for all its tools. Without a NAME, the command shows
the pinned tools. The change applies at once.`,
		Example: "  opentabs tools pin\n  opentabs tools pin messages\n  opentabs tools pin messages__send mail__search",
		Args:    requireNames(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.names = args
			return runToolsPin(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func newToolsUnpinCmd(p *cli.Program) *cobra.Command {
	opts := pinOptions{program: p}
	cmd := &cobra.Command{
		Use:     "unpin NAME...",
		Short:   "Undo tools pin",
		Example: "  opentabs tools unpin messages",
		Args:    requireNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.names = args
			return runToolsUnpin(cmd.Context(), opts)
		},
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func requireNames(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return cli.NewUsageError("the name of a tool or plugin is missing: run `%s`", cli.UsageOf(cmd))
		}
		if slices.Contains(args, "") {
			return cli.NewUsageError("a name is empty: run `%s`", cli.UsageOf(cmd))
		}
		return nil
	}
}

func openPins(p *cli.Program, dirs config.Dirs) *toolpins.PinnedTools {
	return toolpins.Open(dirs.State, func(warning string) { p.Out.Notef("%s", warning) }, zerolog.Nop())
}

func runToolsPin(_ context.Context, opts pinOptions) error {
	p := opts.program
	h, registry, err := p.OpenPlugins()
	if err != nil {
		return err
	}
	toolPins := openPins(p, h.Dirs)
	if len(opts.names) == 0 {
		return showPins(p, toolPins, opts.json)
	}
	for _, name := range opts.names {
		pluginName, tool, hasTool := strings.Cut(name, "__")
		if hasTool && tool == "" {
			return cli.NewUsageError("%q is not the name of a tool: write messages for a plugin, or messages__send for a tool", name)
		}
		if _, err := registry.Set().FindPluginWithTool(pluginName, tool); err != nil {
			return cli.AsUsageError(err)
		}
	}
	addedPins, err := toolPins.Pin(opts.names)
	if err != nil {
		return err
	}
	if opts.json {
		return showPins(p, toolPins, true)
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(opts.names))) {
		if slices.Contains(addedPins, name) {
			p.Out.Notef("%s is pinned", name)
		} else {
			p.Out.Notef("%s was pinned already", name)
		}
	}
	return nil
}

func runToolsUnpin(_ context.Context, opts pinOptions) error {
	p := opts.program
	dirs, err := p.MakeDirs()
	if err != nil {
		return err
	}
	toolPins := openPins(p, dirs)
	for _, name := range opts.names {
		if pinnedNames := toolPins.Names(); !slices.Contains(pinnedNames, name) {
			return cli.NewUsageError("%q is not pinned%s: list the pinned tools with `opentabs tools pin`", name, nearest.Suggestion(name, pinnedNames))
		}
	}
	removedPins, err := toolPins.Unpin(opts.names)
	if err == nil && opts.json {
		return showPins(p, toolPins, true)
	}
	for _, name := range removedPins {
		p.Out.Notef("%s is no longer pinned", name)
	}
	return err
}

func showPins(p *cli.Program, toolPins *toolpins.PinnedTools, asJSON bool) error {
	if err := toolPins.Problem(); err != nil {
		return err
	}
	if asJSON {
		return p.Out.PrintValue(append([]string{}, toolPins.Names()...))
	}
	if len(toolPins.Names()) == 0 {
		p.Out.Notef("no tool is pinned; pin one with `opentabs tools pin NAME`")
		return nil
	}
	for _, name := range toolPins.Names() {
		p.Out.PrintLine("%s", name)
	}
	return nil
}
