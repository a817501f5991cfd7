package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"opentabs/internal/plugindev"
	"opentabs/internal/terminal"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

type pluginDevOptions struct {
	program    *program
	dir        string
	permission string
}

func newPluginDevCmd(p *program) *cobra.Command {
	opts := pluginDevOptions{program: p}
	cmd := &cobra.Command{
		Use:   "dev [DIR]",
		Short: "Develop a plugin: build at each change, and bring it into the open tabs",
		Long: `Build the plugin in DIR (default: this directory) after each change and load it into
the open tabs, without a reload of the page where possible. The log of the plugin is
printed, and on a terminal you can call its tools from a prompt ("help" shows how).
Ctrl-C stops a running call; without one it ends the command.

The server is started if none runs. While the command runs, builds in DIR count as
reviewed: they are your own. The last build stays in use afterwards, and later
changes need a review again.

During development the plugin leaves a function on the pages of its sites, which
loads new builds; docs/security.md describes the consequences.`,
		Example: "  opentabs plugin dev\n  opentabs plugin dev plugins/tickets --permission ask",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.dir = dirOf(args)
			return runPluginDev(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.permission, "permission", string(wire.PermissionAuto), "how its tools run, if you have not set that yet: `off, ask or auto`")
	return cmd
}

func runPluginDev(ctx context.Context, opts pluginDevOptions) error {
	permission, err := policy.ParsePermission(opts.permission)
	if err != nil {
		return usage("--permission: %v", err)
	}
	p := opts.program
	h, err := p.open(nil)
	if err != nil {
		return err
	}
	// The first Ctrl-C may be for a call, so it does not end the command.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	o := plugindev.Options{Home: h, Source: opts.dir, Permission: permission, Out: p.out, Signals: signals, Call: p.callFromPrompt}
	if terminal.IsTerminal(p.in) {
		o.Lines = plugindev.ReadLines(p.in)
	}
	return plugindev.Run(context.WithoutCancel(ctx), o)
}

// callFromPrompt runs a call that was typed at the prompt of plugin dev.
func (p *program) callFromPrompt(ctx context.Context, c plugindev.Call) {
	opts := callOptions{program: p, tool: c.Tool, args: c.Words, json: c.JSON, jsonSet: c.JSON != "", output: "json"}
	if sentence, _ := explain(ctx, runCall(ctx, opts)); sentence != "" {
		p.out.Notef("%s", sentence)
	}
}
