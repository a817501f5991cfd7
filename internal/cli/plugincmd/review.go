package plugincmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/pluginview"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

type reviewOptions struct {
	program    *cli.Program
	name       string
	yes        bool
	permission string
	// If neither --code nor --no-code is set, the review displays the code only on a terminal.
	code, omitCode bool
	json           bool
}

// reviewedPlugin is the output of `opentabs plugin review --json`. With --yes, the output
// describes the enabled plugin. Without --yes, the output describes a plugin that still
// needs a review.
type reviewedPlugin struct {
	httpapi.PluginPermissions
	// Text contains the changes of the plugin since the last review. With the flag
	// --code, Text also contains the plugin's code.
	Text string `json:"text,omitempty"`
}

func newPluginReviewCmd(p *cli.Program) *cobra.Command {
	opts := reviewOptions{program: p}
	cmd := &cobra.Command{
		Use:   "review NAME",
		Short: "Review and enable a plugin",
		Long: `Print what a plugin is and what it can do, then enable it. Before the review,
none of its tools run and no page gets its code. A change disables the plugin
until you review it again; the review then shows what has changed.

On a terminal the author's code is also shown, in $PAGER. Bundled libraries are
not shown (see opentabs plugin inspect).

--permission sets how the tools run: with ask each call waits for approval,
with auto tools run without approval, and with off they do not run. Do not let
an agent run this command: the review is your decision.`,
		Example: `  opentabs plugin review messages
  opentabs plugin review messages --yes --permission auto`,
		Args: cli.RequireArgs(1, "the name of a plugin"),
		RunE: cli.ActionWithArg(&opts.name, func(ctx context.Context) error { return runReview(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.code, "code", false, "print the code, also if stdout is not a terminal")
	cmd.Flags().BoolVar(&opts.omitCode, "no-code", false, "do not show the code")
	cmd.MarkFlagsMutuallyExclusive("code", "no-code")
	cmd.Flags().BoolVar(&opts.yes, "yes", false, "enable the plugin without asking")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON; without --yes nothing is enabled")
	cmd.Flags().StringVar(&opts.permission, "permission", string(wire.PermissionAsk), "the `PERMISSION` of the plugin's tools: off, ask or auto")
	return cmd
}

func runReview(ctx context.Context, opts reviewOptions) error {
	permission, err := policy.ParsePermission(opts.permission)
	if err != nil {
		return cli.NewUsageError("--permission: %v", err)
	}
	p := opts.program
	policyAccess, err := p.OpenPolicy(ctx)
	if err != nil {
		return err
	}
	currentPermissions, err := policyAccess.Permissions(opts.name)
	if err != nil {
		return cli.AsUsageError(err)
	}
	candidate, ok := policyAccess.Plugins.Plugin(opts.name)
	if !ok || candidate.ContentHash() != currentPermissions.Hash {
		return fmt.Errorf("the plugin %s is changing: the server has loaded another version of the plugin than its folder contains; try again", opts.name)
	}
	if opts.json {
		return reviewAsJSON(policyAccess, currentPermissions, permission, opts)
	}
	pluginview.PrintReview(p.Out, candidate, currentPermissions)
	if err := showCode(ctx, p, policyAccess, opts); err != nil {
		return err
	}
	if !opts.yes {
		isConfirmed, err := confirmReview(ctx, p, fmt.Sprintf("Enable %s with the permission %q? Type yes: ", candidate.Name, permission))
		if err != nil {
			return err
		}
		if !isConfirmed {
			return fmt.Errorf("%s was not enabled; nothing has changed", candidate.Name)
		}
	}
	if err := policyAccess.Review(candidate.Name, currentPermissions.Hash, permission, httpapi.CommandLine); err != nil {
		return cli.AsUsageError(err)
	}
	p.Out.Notef("%s is reviewed; its permission is %s", candidate.Name, permission)
	return reportTabs(ctx, p, policyAccess.Client, candidate.Name)
}

func reviewAsJSON(policyAccess home.PolicyAccess, currentPermissions httpapi.PluginPermissions, permission wire.Permission, opts reviewOptions) error {
	inspection, err := policyAccess.LocalPermissions.Inspect(opts.name)
	if err != nil {
		return err
	}
	result := reviewedPlugin{currentPermissions, inspection.ReviewText(opts.code)}
	if opts.yes {
		if err := policyAccess.Review(opts.name, currentPermissions.Hash, permission, httpapi.CommandLine); err != nil {
			return cli.AsUsageError(err)
		}
		if result.PluginPermissions, err = policyAccess.Permissions(opts.name); err != nil {
			return cli.AsUsageError(err)
		}
	}
	return opts.program.Out.PrintValue(result)
}

func confirmReview(ctx context.Context, p *cli.Program, question string) (bool, error) {
	answer, err := ask(ctx, p, question, "review")
	return strings.TrimSpace(answer) == "yes", err
}

// The function ask returns "" if the user closed stdin. The parameter printedText names the output above
// the question, such as "table".
func ask(ctx context.Context, p *cli.Program, question, printedText string) (string, error) {
	q := p.Out.NewQuestionReader(p.In)
	if q == nil {
		return "", cli.NewUsageError("there is no terminal for the question: read the %s above, then run the command again with --yes", printedText)
	}
	isConfirmed, err := q.Ask(ctx, question, false)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil && isConfirmed == "" {
		return "", nil // the user closed stdin
	}
	return isConfirmed, nil
}

func showCode(ctx context.Context, p *cli.Program, policyAccess home.PolicyAccess, opts reviewOptions) error {
	inspection, err := policyAccess.LocalPermissions.Inspect(opts.name)
	if err != nil {
		return err
	}
	code := opts.code || p.Out.IsTerminal() && !opts.omitCode && !opts.yes
	reviewText := inspection.ReviewText(code)
	switch {
	case reviewText == "":
	case p.Out.IsTerminal() && !opts.yes:
		p.Out.ShowPaged(ctx, reviewText, p.Getenv, "print the code with `opentabs plugin inspect`")
	default:
		p.Out.PrintText(reviewText)
	}
	return ctx.Err() // the user may press Ctrl-C in the pager
}
