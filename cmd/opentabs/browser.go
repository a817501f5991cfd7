package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
)

func newBrowserCmd(p *program) *cobra.Command {
	return group(&cobra.Command{
		Use:     "browser",
		Short:   "Act on the tabs of a browser",
		Example: "  opentabs browser reload-tab 1271",
	}, newBrowserReloadTabCmd(p))
}

type browserReloadTabOptions struct {
	program *program
	tab     int
	browser string
}

func newBrowserReloadTabCmd(p *program) *cobra.Command {
	opts := browserReloadTabOptions{program: p}
	cmd := &cobra.Command{
		Use:   "reload-tab TAB",
		Short: "Reload a tab, also one that does not answer",
		Long: `Reload the tab with this number, which opentabs status shows. A page that does not
answer is ended first. What the page has not saved is lost, and calls that run
there end.`,
		Example: "  opentabs browser reload-tab 1271\n  opentabs browser reload-tab 1271 --browser Work",
		Args:    exactly(1, "the number of the tab"),
		RunE: func(cmd *cobra.Command, args []string) error {
			tab, err := strconv.Atoi(args[0])
			if err != nil || tab <= 0 {
				return usage("%q is no number of a tab: opentabs status shows them", args[0])
			}
			opts.tab = tab
			return runBrowserReloadTab(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.browser, "browser", "", "the `NAME` or id of the browser, if several have such a tab")
	return cmd
}

func runBrowserReloadTab(ctx context.Context, opts browserReloadTabOptions) error {
	client, _, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	if err := client.ReloadTab(ctx, opts.browser, opts.tab); err != nil {
		return err
	}
	opts.program.out.Notef("tab %d is being reloaded", opts.tab)
	return nil
}
