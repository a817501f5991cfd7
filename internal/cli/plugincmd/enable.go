package plugincmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/pluginview"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/wire"
)

type enableOptions struct {
	program    *cli.Program
	names      []string
	all        bool
	permission string
	yes, json  bool
}

func newPluginEnableCmd(p *cli.Program) *cobra.Command {
	opts := enableOptions{program: p}
	cmd := &cobra.Command{
		Use:   "enable NAME... | --all",
		Short: "Review and enable plugins, many at once",
		Long: `Print a table of plugins with their sites, tools and warnings, and enable all of
them after one confirmation. A plugin that was off is turned on again; a plugin
that is on does not change without --permission, and --all does not list it.
"opentabs plugin review" also shows the code of one plugin and its changes.

--permission sets how the tools run: with ask each call waits for approval, with
auto tools run without approval. Tools that you turned off stay off.

The code of a plugin can do anything on its sites that you can do there. Do not
let an agent run this command: the review is your decision.`,
		Example: `  opentabs plugin enable messages tickets
  opentabs plugin enable --all
  opentabs plugin enable --all --permission auto --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.names = args
			return runEnable(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.all, "all", false, "enable all plugins")
	cmd.Flags().StringVar(&opts.permission, "permission", "", "the `PERMISSION` of the plugins' tools: ask (the default) or auto")
	cmd.Flags().BoolVar(&opts.yes, "yes", false, "enable the plugins without asking")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON; without --yes nothing is enabled")
	return cmd
}

func runEnable(ctx context.Context, opts enableOptions) error {
	p := opts.program
	permission, err := permissionFlag(opts.permission)
	if err != nil {
		return err
	}
	if permission == wire.PermissionOff {
		return cli.NewUsageError("--permission: off enables nothing; turn plugins off with `opentabs plugin disable`")
	}
	policyAccess, err := p.OpenPolicy(ctx)
	if err != nil {
		return err
	}
	plugins, err := selectPlugins(policyAccess.Plugins, opts.names, opts.all)
	if err != nil {
		return err
	}
	var candidates []pluginview.Candidate
	for _, candidate := range plugins {
		candidates = append(candidates, newCandidate(policyAccess, candidate, permission))
	}
	if opts.all {
		for _, f := range policyAccess.Plugins.Failed() {
			candidates = append(candidates, pluginview.FailedCandidate(f))
		}
	}
	return enableCandidates(ctx, opts, policyAccess, candidates)
}

// If permission is empty, a new plugin gets "ask", and an enabled plugin keeps its permission.
func newCandidate(policyAccess home.PolicyAccess, candidate *plugin.Plugin, permission wire.Permission) pluginview.Candidate {
	currentPermissions, err := policyAccess.LocalPermissions.Permissions(candidate.Name)
	c := pluginview.NewCandidate(candidate, currentPermissions)
	if err != nil {
		c.SetError(err)
	}
	if c.State != pluginview.StateEnabled || permission != "" && permission != currentPermissions.Permission {
		c.Permission = permission
		if permission == "" {
			c.Permission = wire.PermissionAsk
		}
		c.IsPending = true
	}
	return c
}

func enableCandidates(ctx context.Context, opts enableOptions, policyAccess home.PolicyAccess, candidates []pluginview.Candidate) error {
	p := opts.program
	pendingCount := 0
	for _, c := range candidates {
		if c.IsPending && c.Error == "" {
			pendingCount++
		}
	}
	if !opts.json {
		pluginview.PrintCandidates(p.Out, selectShownCandidates(candidates, opts.all))
	}
	if pendingCount > 0 && !opts.yes && !opts.json {
		isConfirmed, err := confirmEnable(ctx, p, pendingCount, pendingPermissions(candidates))
		if err != nil {
			return err
		}
		if !isConfirmed {
			return fmt.Errorf("no plugin was enabled; nothing has changed")
		}
	}
	if opts.yes || !opts.json {
		reviewPending(policyAccess, candidates)
	}
	if opts.json {
		if err := p.Out.PrintValue(pluginList[pluginview.Candidate]{candidates}); err != nil {
			return err
		}
	}
	return reportEnabled(ctx, opts, policyAccess, candidates)
}

func selectShownCandidates(candidates []pluginview.Candidate, all bool) []pluginview.Candidate {
	if !all {
		return candidates
	}
	var shownCandidates []pluginview.Candidate
	for _, c := range candidates {
		if c.IsPending || c.Error != "" {
			shownCandidates = append(shownCandidates, c)
		}
	}
	return shownCandidates
}

// pluginList is the JSON output of commands that change several plugins.
type pluginList[T any] struct {
	Plugins []T `json:"plugins"`
}

func pendingPermissions(candidates []pluginview.Candidate) string {
	for _, c := range candidates {
		if c.IsPending {
			return string(c.Permission)
		}
	}
	return ""
}

func confirmEnable(ctx context.Context, p *cli.Program, n int, permission string) (bool, error) {
	answer, err := ask(ctx, p, fmt.Sprintf("Review and enable %s with the permission %q? [y/N] ", terminal.CountNoun(n, "plugin"), permission), "table")
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", err
}

func reviewPending(policyAccess home.PolicyAccess, candidates []pluginview.Candidate) {
	var reviews []wire.ConfigReviewParams
	var indexes []int
	for i, c := range candidates {
		if c.IsPending && c.Error == "" {
			reviews = append(reviews, wire.ConfigReviewParams{Plugin: c.Name, Hash: c.Hash, Permission: c.Permission})
			indexes = append(indexes, i)
		}
	}
	if len(reviews) == 0 {
		return
	}
	for i, err := range policyAccess.ReviewAll(reviews, httpapi.CommandLine) {
		c := &candidates[indexes[i]]
		if err != nil {
			c.SetError(err)
			continue
		}
		c.IsPending, c.Change = false, pluginview.ChangeEnabled
	}
}

func reportEnabled(ctx context.Context, opts enableOptions, policyAccess home.PolicyAccess, candidates []pluginview.Candidate) error {
	p := opts.program
	enabledCount, failedCount := 0, 0
	for _, c := range candidates {
		switch {
		case c.Error != "":
			failedCount++
			if !opts.json {
				p.Out.Notef("%s: %s", c.Name, terminal.SafeLine(c.Error))
			}
		case c.Change == pluginview.ChangeEnabled:
			enabledCount++
		}
	}
	if !opts.json {
		switch {
		case enabledCount > 0:
			p.Out.Notef("%s enabled with the permission %s", terminal.CountNoun(enabledCount, "plugin"), enabledPermission(candidates))
		case len(candidates) == 0:
			p.Out.Notef("there are no plugins yet; install one with `opentabs plugin install NAME`")
		case failedCount == 0:
			p.Out.Notef("nothing to do: the plugins are already enabled")
		}
	}
	if enabledCount > 0 && !opts.json {
		if err := reportTabs(ctx, p, policyAccess.Client, ""); err != nil {
			return err
		}
	}
	if failedCount > 0 {
		return fmt.Errorf("%d of %s could not be enabled; nothing changes for %s", failedCount, terminal.CountNoun(len(candidates), "plugin"), itOrThem(failedCount))
	}
	return nil
}

func itOrThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

func enabledPermission(candidates []pluginview.Candidate) wire.Permission {
	i := slices.IndexFunc(candidates, func(c pluginview.Candidate) bool { return c.Change == pluginview.ChangeEnabled })
	return candidates[i].Permission
}

// If a name is unknown, selectPlugins returns an error, so that a typing mistake changes no plugin.
func selectPlugins(pluginSet *plugin.Set, names []string, all bool) ([]*plugin.Plugin, error) {
	switch {
	case all && len(names) > 0:
		return nil, cli.NewUsageError("--all is for all plugins: leave out the names, or leave out --all")
	case all:
		return pluginSet.Plugins(), nil
	case len(names) == 0:
		return nil, cli.NewUsageError("no plugin is named: name plugins, or use --all for all of them")
	}
	var plugins []*plugin.Plugin
	for _, name := range names {
		namedPlugin, err := pluginSet.Find(name)
		if err != nil {
			return nil, cli.AsUsageError(err)
		}
		if namedPlugin.IsBuiltin() {
			return nil, cli.NewUsageError("%s is part of opentabs, not a plugin: switch its tools with `opentabs browser tools`", name)
		}
		if !slices.Contains(plugins, namedPlugin) {
			plugins = append(plugins, namedPlugin)
		}
	}
	return plugins, nil
}

type disableOptions struct {
	program *cli.Program
	names   []string
	all     bool
	json    bool
}

// disabledPlugin is one plugin in the output of `opentabs plugin disable --json`.
type disabledPlugin struct {
	Name   string            `json:"name"`
	Change pluginview.Change `json:"change"`
	Error  string            `json:"error,omitempty"`
}

func newPluginDisableCmd(p *cli.Program) *cobra.Command {
	opts := disableOptions{program: p}
	cmd := &cobra.Command{
		Use:   "disable NAME... | --all",
		Short: "Turn plugins off, many at once",
		Long: `Turn plugins off: none of their tools runs, and pages get no code of them. The
plugins stay installed and keep their reviews, settings and limits. Permissions
of single tools other than off are removed. opentabs plugin enable turns plugins
on again.`,
		Example: "  opentabs plugin disable messages tickets\n  opentabs plugin disable --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.names = args
			return runDisable(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.all, "all", false, "turn all plugins off")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runDisable(ctx context.Context, opts disableOptions) error {
	p := opts.program
	policyAccess, err := p.OpenPolicy(ctx)
	if err != nil {
		return err
	}
	plugins, err := selectPlugins(policyAccess.Plugins, opts.names, opts.all)
	if err != nil {
		return err
	}
	results := []disabledPlugin{}
	var names []string
	for _, namedPlugin := range plugins {
		result := disabledPlugin{namedPlugin.Name, pluginview.ChangeNone, ""}
		if policyAccess.LocalPermissions.MayRunAnyTool(namedPlugin) {
			result.Change = pluginview.ChangeDisabled
			names = append(names, namedPlugin.Name)
		}
		results = append(results, result)
	}
	failedCount := storeDisabled(policyAccess, results, names)
	if opts.json {
		if err := p.Out.PrintValue(pluginList[disabledPlugin]{results}); err != nil {
			return err
		}
	} else {
		printDisabled(p, results)
	}
	if failedCount > 0 {
		return fmt.Errorf("%d of %s could not be turned off", failedCount, terminal.CountNoun(len(names), "plugin"))
	}
	return nil
}

func storeDisabled(policyAccess home.PolicyAccess, results []disabledPlugin, names []string) (failedCount int) {
	if len(names) == 0 {
		return 0
	}
	for i, err := range policyAccess.DisableAll(names, httpapi.CommandLine) {
		if err != nil {
			failedCount++
			index := slices.IndexFunc(results, func(r disabledPlugin) bool { return r.Name == names[i] })
			results[index].Change, results[index].Error = pluginview.ChangeNone, err.Error()
		}
	}
	return failedCount
}

func printDisabled(p *cli.Program, results []disabledPlugin) {
	var disabledNames []string
	for _, r := range results {
		switch {
		case r.Error != "":
			p.Out.Notef("%s: %s", r.Name, terminal.SafeLine(r.Error))
		case r.Change == pluginview.ChangeDisabled:
			disabledNames = append(disabledNames, r.Name)
		}
	}
	switch len(disabledNames) {
	case 0:
		p.Out.Notef("nothing to do: the plugins are already off")
	case 1:
		p.Out.Notef("%s is off; turn it on with `opentabs plugin enable %[1]s`", disabledNames[0])
	default:
		p.Out.Notef("%d plugins are off", len(disabledNames))
	}
}
