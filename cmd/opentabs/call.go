package main

import (
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/toolcall"
)

type callOptions struct {
	program *cli.Program
	call    toolcall.Request
}

func newCallCmd(p *cli.Program) *cobra.Command {
	opts := callOptions{program: p}
	cmd := &cobra.Command{
		Use:   "call TOOL",
		Short: "Call a tool and print its result",
		Long: `Call a tool in the page it belongs to and print its result on stdout. Its
progress goes to stderr: a bar on a terminal, one line per report in a pipe.
Messages are shown if the tool marks them for the user; --verbose shows all
messages. Ctrl-C cancels the call and stops the code in the page.

If the call waits for approval, a terminal asks you. You can also decide in the
side panel or in a notification; the first decision counts. In a pipe, the call
only waits.

The tool's schema decides how --arg values are parsed: a string stays as it is,
and numbers, booleans, lists and objects are parsed as JSON. To pass a list item
by item, repeat --arg. "opentabs call TOOL --help" shows the arguments of a
tool.`,
		Example: `  opentabs call messages__echo --arg value=hello
  opentabs call messages__export_messages --arg channelId=general > export.json
  opentabs call messages__echo --input '{"value": [1, 2]}'
  opentabs call messages__echo --input @arguments.json
  echo '{"value": 1}' | opentabs call messages__echo --input -`,
		Args: checkCallArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.call.Tool, opts.call.HasInput, opts.call.CanAskUser = args[0], cmd.Flags().Changed("input"), true
			opts.call.HasIdempotencyKey = cmd.Flags().Changed("idempotency-key")
			return cli.RunCall(cmd.Context(), opts.program, opts.call)
		},
	}
	showCallHelp := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		names := cmd.Flags().Args()
		if len(names) != 1 || runToolsShow(cmd.Context(), toolsShowOptions{program: p, tool: names[0]}) != nil {
			showCallHelp(cmd, args)
			return
		}
		p.Out.PrintLine("")
		cmd.Use, cmd.Example = "call "+names[0], "" // the example of the tool has already been printed
		if err := cli.PrintUsage(cmd); err != nil {
			p.Out.Notef("%v", err)
		}
	})
	f := cmd.Flags()
	f.StringArrayVarP(&opts.call.Args, "arg", "a", nil, "one argument as `NAME=VALUE`; may be repeated")
	f.StringVar(&opts.call.Input, "input", "", "all arguments as a JSON `OBJECT`, @FILE, or - for stdin")
	f.StringVar(&opts.call.Browser, "browser", "", "run the tool in this browser, by `NAME` or start of its id")
	f.IntVar(&opts.call.Tab, "tab", 0, "run the tool in the tab with this `ID`")
	f.StringVar(&opts.call.IdempotencyKey, "idempotency-key", "", "make a retry with this `KEY` safe: it returns the first result and does not act again")
	f.BoolVar(&opts.call.NoProgress, "no-progress", false, "do not show progress")
	f.BoolVarP(&opts.call.Verbose, "verbose", "v", false, "show all messages of the tool, not only those for the user")
	f.StringVarP(&opts.call.Output, "output", "o", "json", "the `FORMAT` of the result: json or text")
	f.Bool("json", false, "print the result as JSON, as --output json does")
	cmd.MarkFlagsMutuallyExclusive("output", "json")
	return cmd
}

func checkCallArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 2 && (strings.HasPrefix(args[1], "{") || strings.HasPrefix(args[1], "@") || args[1] == "-") {
		return cli.NewUsageError("%q is one argument too many: put --input before the arguments of the tool", args[1])
	}
	return cli.RequireArgs(1, "the name of a tool")(cmd, args)
}
