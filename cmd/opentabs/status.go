package main

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/statusview"
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
		Args:    limitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runStatus(ctx context.Context, opts statusOptions) error {
	client, err := opts.program.newClient(ctx)
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
