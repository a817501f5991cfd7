package plugincmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/browser"
	"opentabs/internal/cli"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/permissions"
	"opentabs/internal/pluginview"
	"opentabs/plugin/policy"
)

type permissionOptions struct {
	program *cli.Program
	changes permissions.Changes
	json    bool
}

func newPluginPermissionCmd(p *cli.Program) *cobra.Command {
	opts := permissionOptions{program: p}
	cmd := &cobra.Command{
		Use:   "permission [NAME[__TOOL] [off|ask|auto|default]]",
		Short: "Show or set how a plugin's tools run",
		Long: `Show how the tools of plugins run, or set it for one plugin or one tool:

  off      the tools do not run
  ask      each call waits for approval
  auto     the tools run without approval
  default  (for a tool) the permission of its plugin applies

The change applies at once and ends approvals for a session or for some time.

An approval applies to the caller: the MCP client, or the plugin whose tool
makes the call.

The tools of a plugin call tools of another plugin only if you allow that with
--allow-calls-to OTHER. The permission of the called tool applies too.

A plugin that starts after the page's scripts gets no secret settings and cannot
call other plugins, because the page can act in its name. --late-access on
allows both.

--open-tabs on lets a call that finds no tab of the plugin open its page, in the
background. It applies to that page only: if a new version of the plugin names
another page, opentabs opens no tabs until you allow it again.`,
		Example: `  opentabs plugin permission
  opentabs plugin permission messages auto
  opentabs plugin permission messages__export_messages off
  opentabs plugin permission messages --open-tabs on
  opentabs plugin permission tickets --allow-calls-to messages`,
		Args: cli.LimitArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.changes.Plugin, opts.changes.Tool = splitToolName(args[0])
			}
			if len(args) > 1 {
				opts.changes.Permission = args[1]
			}
			return runPermission(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.changes.OpenTabs, "open-tabs", "", "whether calls may open a tab of the plugin: `on|off`")
	cmd.Flags().StringSliceVar(&opts.changes.AllowCalls, "allow-calls-to", nil, "allow the plugin's tools to call the tools of the plugin `OTHER`")
	cmd.Flags().StringSliceVar(&opts.changes.ForbidCalls, "forbid-calls-to", nil, "do not allow the plugin's tools to call the tools of the plugin `OTHER`")
	cmd.Flags().StringVar(&opts.changes.LateAccess, "late-access", "", "whether a plugin that starts late gets secret settings and may call other plugins: `on|off`")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func splitToolName(name string) (plugin, tool string) {
	if strings.HasPrefix(name, browser.Name+"_") {
		return browser.Name, name
	}
	plugin, tool, _ = strings.Cut(name, "__")
	return plugin, tool
}

func runPermission(ctx context.Context, opts permissionOptions) error {
	p := opts.program
	policyAccess, err := p.OpenPolicy(ctx)
	if err != nil {
		return err
	}
	if opts.changes.IsEmpty() {
		return showPermissions(p, policyAccess, opts)
	}
	if err := opts.changes.Apply(policyAccess, p.Out.Notef); err != nil || !opts.json {
		return cli.AsUsageError(err)
	}
	return showPermissions(p, policyAccess, opts)
}

func showPermissions(p *cli.Program, policyAccess home.PolicyAccess, opts permissionOptions) error {
	names := []string{opts.changes.Plugin}
	if opts.changes.Plugin == "" {
		names = names[:0]
		for _, loadedPlugin := range policyAccess.Plugins.Plugins() {
			names = append(names, loadedPlugin.Name)
		}
	}
	views := []httpapi.PluginPermissions{}
	for _, name := range names {
		view, err := policyAccess.Permissions(name)
		if err != nil {
			return cli.AsUsageError(err)
		}
		views = append(views, view)
	}
	if opts.json {
		return p.Out.PrintValue(views)
	}
	if len(views) == 0 {
		p.Out.Notef("there are no plugins yet; install one with `opentabs plugin install NAME` or `opentabs plugin install PATH`")
		return nil
	}
	for _, problemText := range views[0].Problems {
		p.Out.Notef("%s", problemText)
	}
	p.Out.PrintTable("", pluginview.PermissionRows(views, opts.changes.Tool))
	return nil
}

type limitOptions struct {
	program      *cli.Program
	plugin, tool string
	limit        policy.Limit
	json         bool
}

// limitedTool is the output of `opentabs plugin limit --json`. Limit is empty if the user
// has set no limit for the tool.
type limitedTool struct {
	Tool  string `json:"tool"`
	Limit string `json:"limit,omitempty"`
}

func newPluginLimitCmd(p *cli.Program) *cobra.Command {
	opts := limitOptions{program: p}
	cmd := &cobra.Command{
		Use:   "limit TOOL 10/1m|none",
		Short: "Limit how often a tool may run",
		Long: `Limit how often a tool may run, for all callers together: 10/1m is ten times a
minute. A call above the limit fails with rate_limited, without a request for
approval.`,
		Example: "  opentabs plugin limit messages__export_messages 10/1m\n  opentabs plugin limit messages__export_messages none",
		Args:    cli.RequireArgs(2, "the name of a tool or the limit"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opts.plugin, opts.tool = splitToolName(args[0]); opts.tool == "" {
				return cli.NewUsageError("%q is not the name of a tool: write it with its plugin, as in messages__export_messages", args[0])
			}
			if args[1] != "none" {
				var err error
				if opts.limit, err = policy.ParseLimit(args[1]); err != nil {
					return cli.NewUsageError("%v", err)
				}
			}
			return runLimit(cmd.Context(), opts)
		},
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runLimit(ctx context.Context, opts limitOptions) error {
	p := opts.program
	policyAccess, err := p.OpenPolicy(ctx)
	if err != nil {
		return err
	}
	if err := policyAccess.SetLimit(opts.plugin, opts.tool, opts.limit.String(), httpapi.CommandLine); err != nil {
		return cli.AsUsageError(err)
	}
	limited := limitedTool{browser.FullName(opts.plugin, opts.tool), opts.limit.String()}
	if opts.limit == (policy.Limit{}) {
		return p.Report(opts.json, limited, "%s has no limit", limited.Tool)
	}
	return p.Report(opts.json, limited, "%s may run %s", limited.Tool, opts.limit)
}
