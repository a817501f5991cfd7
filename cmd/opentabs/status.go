package main

import (
	"context"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"opentabs/internal/statusview"
	"opentabs/internal/terminal"
	"opentabs/internal/version"
	"opentabs/wire"
)

type statusOptions struct {
	program *program
	json    bool
}

func newStatusCmd(p *program) *cobra.Command {
	opts := statusOptions{program: p}
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show the server, the browsers, the plugins and the clients",
		Long:    "Show the running server, the browsers that are connected and their tabs, the\nplugins, the MCP clients and the number of calls.",
		Example: "  opentabs status\n  opentabs status --json",
		Args:    atMost(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runStatus(ctx context.Context, opts statusOptions) error {
	client, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	s, err := client.Status(ctx)
	if err != nil {
		return err
	}
	out := opts.program.out
	if opts.json {
		return out.PrintValue(s)
	}
	statusview.Print(out, s)
	return nil
}

func newBrowserCmd(p *program) *cobra.Command {
	return group(&cobra.Command{
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
				return usage("%q is not the number of a tab: `opentabs status` shows the numbers", args[0])
			}
			opts.tab = tab
			return runBrowserReloadTab(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.browser, "browser", "", "the `NAME` or id of the browser, if several browsers have a tab with this number")
	return cmd
}

func runBrowserReloadTab(ctx context.Context, opts browserReloadTabOptions) error {
	client, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	if err := client.ReloadTab(ctx, opts.browser, opts.tab); err != nil {
		return err
	}
	opts.program.out.Notef("reloading tab %d", opts.tab)
	return nil
}

type versionOptions struct {
	out  *terminal.Output
	json bool
}

func newVersionCmd(p *program) *cobra.Command {
	opts := versionOptions{out: p.out}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  opentabs version\n  opentabs version --json",
		Args:    atMost(0),
		RunE:    func(*cobra.Command, []string) error { return runVersion(opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runVersion(opts versionOptions) error {
	v := struct {
		Version  string `json:"version"`
		Protocol int    `json:"protocol"`
		Go       string `json:"go"`
		OS       string `json:"os"`
		Arch     string `json:"arch"`
	}{version.Version, wire.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if opts.json {
		return opts.out.PrintValue(v)
	}
	opts.out.PrintLine("opentabs %s (protocol %d, %s, %s/%s)", v.Version, v.Protocol, v.Go, v.OS, v.Arch)
	return nil
}
