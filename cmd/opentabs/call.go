package main

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/daemon"
	"opentabs/internal/toolcall"
)

type callOptions struct {
	program *program
	call    toolcall.Request
}

func newCallCmd(p *program) *cobra.Command {
	opts := callOptions{program: p}
	cmd := &cobra.Command{
		Use:   "call TOOL",
		Short: "Call a tool and print its result",
		Long: `Call a tool in the page it belongs to and print its result on stdout. Its
progress goes to stderr: a bar on a terminal, one line per report in a pipe.
Messages are shown if the tool marks them for the user; --verbose shows all
messages. Ctrl-C cancels the call and stops the code in the page.

The tool's schema decides how --arg values are parsed: a string stays as it is,
and numbers, booleans, lists and objects are parsed as JSON. To pass a list item
by item, repeat --arg.`,
		Example: `  opentabs call messages__echo --arg value=hello
  opentabs call messages__export_messages --arg channelId=general > export.json
  opentabs call messages__echo --json '{"value": [1, 2]}'
  opentabs call messages__echo --json @arguments.json
  echo '{"value": 1}' | opentabs call messages__echo --json -`,
		Args: requireArgs(1, "the name of a tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.call.Tool, opts.call.HasJSON = args[0], cmd.Flags().Changed("json")
			return runCall(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&opts.call.Args, "arg", "a", nil, "one argument as `NAME=VALUE`; may be repeated")
	f.StringVar(&opts.call.JSON, "json", "", "all arguments as a JSON `OBJECT`, @FILE, or - for stdin")
	f.StringVar(&opts.call.Browser, "browser", "", "run the tool in this browser, by `NAME` or id")
	f.IntVar(&opts.call.Tab, "tab", 0, "run the tool in the tab with this `ID`")
	f.BoolVar(&opts.call.NoProgress, "no-progress", false, "do not show progress")
	f.BoolVarP(&opts.call.Verbose, "verbose", "v", false, "show all messages of the tool, not only those for the user")
	f.StringVarP(&opts.call.Output, "output", "o", "json", "print the result as `json or text`")
	return cmd
}

func runCall(ctx context.Context, opts callOptions) error {
	if err := opts.call.Check(); err != nil {
		return err
	}
	p := opts.program
	client, err := p.newClient(ctx)
	if err != nil {
		return err
	}
	return toolcall.Run(ctx, client, daemon.CommandClient, opts.call, p.in, p.out)
}
