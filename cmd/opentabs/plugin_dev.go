package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"opentabs/internal/terminal"
	"opentabs/plugin"
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
		Long: `Build the plugin in DIR (default: this directory) at each change and bring it into
the tabs that are open, without a reload of the page where that is possible. What
the plugin logs is shown, and on a terminal its tools can be called from a prompt
("help" shows how). Ctrl-C stops a call that runs; without one it ends the command.

The server is started if there is none. As long as the command runs, what is built
in DIR counts as reviewed: it is your own. What was built last stays in use
afterwards, and a later change has to be reviewed as always.

While it is developed the plugin leaves a function on the pages it works in, by
which a new build is taken in; docs/security.md says what that means.`,
		Example: "  opentabs plugin dev\n  opentabs plugin dev plugins/tickets --permission ask",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.dir = dirOf(args)
			return runPluginDev(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.permission, "permission", string(wire.PermissionAuto), "how its tools run, if you have not said so yet: `off, ask or auto`")
	return cmd
}

func runPluginDev(ctx context.Context, opts pluginDevOptions) error {
	permission, err := plugin.ParsePermission(opts.permission)
	if err != nil {
		return usage("--permission: %v", err)
	}
	p := opts.program
	h, err := p.open(nil)
	if err != nil {
		return err
	}
	// The first Ctrl-C may be for a call, so it does not end everything here.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	d := &developer{
		program: p, source: opts.dir, permission: permission, home: h,
		signals: signals, heard: make(chan func()), changes: make(chan []string),
	}
	if terminal.IsTerminal(p.in) {
		d.lines = readLines(p.in)
	}
	return d.run(context.WithoutCancel(ctx))
}
