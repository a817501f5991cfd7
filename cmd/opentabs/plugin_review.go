package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/pluginview"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

type reviewOptions struct {
	program    *program
	name       string
	yes        bool
	permission string
	// code is the value of --code, which shows the plugin's code; noCode hides the
	// code. By default, a terminal shows the code.
	code, noCode bool
}

func newPluginReviewCmd(p *program) *cobra.Command {
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
		Args: requireArgs(1, "the name of a plugin"),
		RunE: actionWithArg(&opts.name, func(ctx context.Context) error { return runReview(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.code, "code", false, "print the code, also if stdout is not a terminal")
	cmd.Flags().BoolVar(&opts.noCode, "no-code", false, "do not show the code")
	cmd.MarkFlagsMutuallyExclusive("code", "no-code")
	cmd.Flags().BoolVar(&opts.yes, "yes", false, "enable the plugin without asking")
	cmd.Flags().StringVar(&opts.permission, "permission", string(wire.PermissionAsk), "how the plugin's tools run: `off, ask or auto`")
	return cmd
}

func runReview(ctx context.Context, opts reviewOptions) error {
	permission, err := policy.ParsePermission(opts.permission)
	if err != nil {
		return newUsageError("--permission: %v", err)
	}
	p := opts.program
	book, err := p.openPolicy(ctx)
	if err != nil {
		return err
	}
	now, err := book.Permissions(opts.name)
	if err != nil {
		return asUsageError(err)
	}
	reviewedPlugin, ok := book.Plugins.Plugin(opts.name)
	if !ok || reviewedPlugin.ContentHash() != now.Hash {
		return fmt.Errorf("the plugin %s is changing: the server has loaded another version than the folder contains; try again", opts.name)
	}
	pluginview.PrintReview(p.out, reviewedPlugin, now)
	if err := p.showCode(ctx, book, opts); err != nil {
		return err
	}
	if !opts.yes {
		isConfirmed, err := p.confirm(fmt.Sprintf("Enable %s with the permission %q? Type yes: ", reviewedPlugin.Name, permission))
		if err != nil {
			return err
		}
		if !isConfirmed {
			return fmt.Errorf("%s was not enabled; nothing has changed", reviewedPlugin.Name)
		}
	}
	if err := book.Review(reviewedPlugin.Name, now.Hash, permission, httpapi.CommandLine); err != nil {
		return asUsageError(err)
	}
	p.out.Notef("%s is reviewed; its permission is %s", reviewedPlugin.Name, permission)
	return p.reportTabs(ctx, book.Client)
}

// confirm reports whether the user typed yes. Without a terminal, confirm returns
// false.
func (p *program) confirm(question string) (bool, error) {
	q := p.out.NewQuestions(p.in)
	if q == nil {
		return false, newUsageError("there is no terminal for the question: read the review above, then run the command again with --yes")
	}
	answer, err := q.Ask(question, false)
	if err != nil && answer == "" {
		return false, nil // the user closed stdin
	}
	return strings.TrimSpace(answer) == "yes", nil
}

// showCode shows what has changed, and the code: on a terminal in the pager, elsewhere
// only with --code.
func (p *program) showCode(ctx context.Context, book home.PolicyAccess, opts reviewOptions) error {
	inspected, err := book.Local.Inspect(opts.name)
	if err != nil {
		return err
	}
	code := opts.code || p.out.IsTerminal() && !opts.noCode && !opts.yes
	text := inspected.ReviewText(code)
	switch {
	case text == "":
	case p.out.IsTerminal() && !opts.yes:
		p.out.ShowPaged(ctx, text, p.getenv, "print the code with `opentabs plugin inspect`")
	default:
		p.out.PrintText(text)
	}
	return nil
}
