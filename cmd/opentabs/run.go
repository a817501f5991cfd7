package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"opentabs/internal/cli"
	"opentabs/internal/cli/democmd"
	"opentabs/internal/cli/installcmd"
	"opentabs/internal/cli/paircmd"
	"opentabs/internal/cli/plugincmd"
	"opentabs/internal/cli/setupcmd"
	"opentabs/internal/nearest"
	"opentabs/internal/terminal"
	"opentabs/internal/version"
)

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first Ctrl-C cancels the command, and a second Ctrl-C kills the process.
	defer context.AfterFunc(ctx, stop)()

	p := &cli.Program{In: stdin, Out: terminal.New(stdout, stderr, os.Getenv), Getenv: os.Getenv}
	root := newRootCmd(p)
	if isCompletion := len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd); isCompletion {
		addCompletions(p, root)
		removeBackticks(root)
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(p.Out.Stdout())
	root.SetErr(stderr)
	addShellCommand(root)
	err := newUnknownCommandError(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		err = p.Out.WriteError()
	}
	errorText, code := cli.ExplainError(ctx, err)
	if errorText != "" {
		p.Out.Notef("%s", errorText)
	}
	return code
}

func newRootCmd(p *cli.Program) *cobra.Command {
	var showsVersion bool
	cmd := &cobra.Command{
		Use:   "opentabs",
		Short: "Let AI agents call functions in the web pages you are logged in to",
		Long: `opentabs lets an AI agent call functions in the web pages you are logged in to.
A server on this machine (opentabs serve) connects to agents over MCP and to
your browser through an extension. A plugin adds the tools of a site.`,
		Example: `  opentabs setup                    connect your MCP clients and your browser
  opentabs demo                     try opentabs in your browser
  opentabs browser tools on         let agents use any page, after your approval
  opentabs plugin install slack     install a plugin ...
  opentabs plugin review slack      ... and enable it
  opentabs tools                    list the tools
  opentabs calls --follow           watch what agents do`,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if showsVersion {
				p.Out.PrintLine("opentabs %s", version.Version)
				return nil
			}
			return cli.ShowHelp(cmd, args)
		},
		// The root command accepts any arguments, so that newUnknownCommandError reports
		// unknown commands.
		Args: cobra.ArbitraryArgs,
	}
	cmd.Flags().BoolVarP(&showsVersion, "version", "v", false, "print the version")
	cmd.SetFlagErrorFunc(newFlagError)
	cmd.SetUsageFunc(cli.PrintUsage)
	cmd.SetHelpCommand(newHelpCmd(cmd))
	cli.AddCommandGroup(cmd, "Use opentabs:",
		setupcmd.New(p), paircmd.New(p), democmd.New(p), newBrowserCmd(p), plugincmd.New(p), newToolsCmd(p), newCallCmd(p), newCallsCmd(p), newStatusCmd(p), newDoctorCmd(p),
	)
	cli.AddCommandGroup(cmd, plugincmd.DevelopGroup) // the help lists the `opentabs plugin` commands in this group
	cli.AddCommandGroup(cmd, "Run and watch the server:",
		newServeCmd(p), newStopCmd(p), newRestartCmd(p), newMCPCmd(p), newClientCmd(p), newConfigCmd(p), newExtensionCmd(p), newFilesCmd(p), newAuditCmd(p), newLogsCmd(p), newVersionCmd(p),
	)
	cli.AddCommandGroup(cmd, "Upgrade and remove opentabs:",
		installcmd.NewUpgradeCmd(p), installcmd.NewServiceCmd(p), installcmd.NewUninstallCmd(p),
	)
	cmd.AddCommand(cli.NewExitCodesCmd(), cli.NewManCmd(p), plugincmd.NewExtractCmd(p), plugincmd.NewSimulateCmd(p))
	return cmd
}

// addShellCommand shortens a line of cobra's help for "completion" that is longer than 80 columns.
func addShellCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		panic(err) // cobra always adds this command
	}
	cmd.Long = strings.ReplaceAll(cmd.Long, "you can install it via your OS's package manager.", "install it with your package manager.")
}

func newHelpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completeCommands(root, args), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := newUnknownCommandError(root, args); err != nil {
				return err
			}
			topicCmd, _, err := root.Find(args)
			if err != nil {
				return cli.NewUsageError("%v", err)
			}
			return topicCmd.Help()
		},
	}
}

// Without newUnknownCommandError, cobra would first report the unknown flags of a misspelled command.
func newUnknownCommandError(root *cobra.Command, args []string) error {
	cmd, extraArgs, err := root.Find(args)
	if err != nil || !cmd.HasSubCommands() || cmd.Annotations[cli.TakesArgument] != "" {
		return nil
	}
	for i := 0; i < len(extraArgs); i++ {
		arg := extraArgs[i]
		if strings.HasPrefix(arg, "-") {
			if isFlagValue(cmd, arg) {
				i++
			}
			continue
		}
		if cmd == root && (arg == "help" || arg == "completion" || strings.HasPrefix(arg, cobra.ShellCompRequestCmd)) {
			return nil // cobra adds the commands help and completion when it runs
		}
		names := []string{}
		for _, subcommand := range cmd.Commands() {
			if subcommand.IsAvailableCommand() {
				names = append(names, subcommand.Name())
			}
		}
		return cli.NewUsageError("there is no command %q%s: run `%s --help`", strings.TrimPrefix(cmd.CommandPath()+" "+arg, "opentabs "), nearest.Suggestion(arg, names), cmd.CommandPath())
	}
	return nil
}

func isFlagValue(cmd *cobra.Command, arg string) bool {
	name, isLongFlag := strings.CutPrefix(arg, "--")
	flag := cmd.Flags().Lookup(name)
	if shorthand := strings.TrimPrefix(arg, "-"); !isLongFlag && len(shorthand) == 1 {
		flag = cmd.Flags().ShorthandLookup(shorthand)
	}
	return flag != nil && flag.NoOptDefVal == ""
}

func newFlagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var unknownFlag *pflag.NotExistError
	if !errors.As(err, &unknownFlag) {
		return cli.NewUsageError("%v: run `%s --help`", err, cmd.CommandPath())
	}
	name := unknownFlag.GetSpecifiedName()
	names := []string{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	slices.Sort(names)
	suggestion := ""
	if nearestName := nearest.Name(name, names); nearestName != "" {
		suggestion = " (did you mean --" + nearestName + "?)"
	}
	flagPrefix := "--"
	if unknownFlag.GetSpecifiedShortnames() != "" {
		flagPrefix = "-"
	}
	return cli.NewUsageError("there is no flag %s%s%s: run `%s --help`", flagPrefix, name, suggestion, cmd.CommandPath())
}
