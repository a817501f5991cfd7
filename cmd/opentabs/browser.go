package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
)

func newBrowserCmd(p *program) *cobra.Command {
	return groupCommands(&cobra.Command{
		Use:     "browser",
		Short:   "Manage the tabs of a browser",
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
		Short: "Reload a tab, even if its page does not respond",
		Long: `Reload the tab with this number, which opentabs status shows. The process of a
page that does not respond is ended first. Unsaved input in the page is lost,
and calls that run in it fail.`,
		Example: "  opentabs browser reload-tab 1271\n  opentabs browser reload-tab 1271 --browser Work",
		Args:    requireArgs(1, "the number of the tab"),
		RunE: func(cmd *cobra.Command, args []string) error {
			tab, err := strconv.Atoi(args[0])
			if err != nil || tab <= 0 {
				return newUsageError("%q is not the number of a tab: `opentabs status` shows the numbers", args[0])
			}
			opts.tab = tab
			return runBrowserReloadTab(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.browser, "browser", "", "the `NAME` or id of the browser, if several browsers have a tab with this number")
	return cmd
}

func runBrowserReloadTab(ctx context.Context, opts browserReloadTabOptions) error {
	client, err := opts.program.newClient(ctx)
	if err != nil {
		return err
	}
	if err := client.ReloadTab(ctx, opts.browser, opts.tab); err != nil {
		return err
	}
	opts.program.out.Notef("reloading tab %d", opts.tab)
	return nil
}
