package main

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/statusview"
	"opentabs/internal/terminal"
	"opentabs/internal/version"
	"opentabs/wire"
)

type statusOptions struct {
	program *cli.Program
	json    bool
}

func newStatusCmd(p *cli.Program) *cobra.Command {
	opts := statusOptions{program: p}
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show the server, the browsers, the plugins and the clients",
		Long:    "Show the running server, the browsers that are connected and their tabs, the\nplugins, the MCP clients and the number of calls.",
		Example: "  opentabs status\n  opentabs status --json",
		Args:    cli.LimitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runStatus(ctx context.Context, opts statusOptions) error {
	client, err := opts.program.NewClient(ctx)
	if err != nil {
		return err
	}
	s, err := client.Status(ctx)
	if err != nil {
		return err
	}
	terminalOut := opts.program.Out
	if opts.json {
		return terminalOut.PrintValue(s)
	}
	statusview.Print(terminalOut, s)
	return nil
}

type versionOptions struct {
	terminalOut *terminal.Output
	json        bool
}

func newVersionCmd(p *cli.Program) *cobra.Command {
	opts := versionOptions{terminalOut: p.Out}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  opentabs version\n  opentabs version --json",
		Args:    cli.LimitArgs(0),
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
		Commit   string `json:"commit,omitempty"`
	}{version.Version, wire.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, version.Commit}
	if opts.json {
		return opts.terminalOut.PrintValue(v)
	}
	opts.terminalOut.PrintLine("opentabs %s (protocol %d, %s, %s/%s)", v.Version, v.Protocol, v.Go, v.OS, v.Arch)
	return nil
}
