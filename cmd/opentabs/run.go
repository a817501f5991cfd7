package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/nearest"
	"opentabs/internal/terminal"
	"opentabs/internal/version"
	"opentabs/plugin/catalog"
)

// program is the environment of the process, which every command gets.
type program struct {
	in     io.Reader
	out    *terminal.Output
	getenv func(string) string
}

// run runs the command in args and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first interrupt stops the command; a second interrupt ends the process.
	defer context.AfterFunc(ctx, stop)()

	p := &program{in: stdin, out: terminal.New(stdout, stderr, os.Getenv), getenv: os.Getenv}
	root := newRootCmd(p)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(p.out.Stdout())
	root.SetErr(stderr)
	err := unknownCommand(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		err = p.out.WriteError()
	}
	sentence, code := explainError(ctx, err)
	if sentence != "" {
		p.out.Notef("%s", sentence)
	}
	return code
}

// helpColumns is the width of help texts.
const helpColumns = 80

func newRootCmd(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "opentabs",
		Short: "Let AI agents call functions in the web pages you are logged in to",
		Long: `opentabs lets an AI agent call functions in the web pages you are logged in to.
A server on this machine (opentabs serve) connects to agents over MCP and to
your browser through an extension. A plugin adds the tools of a site.`,
		Example: `  opentabs extension install          write the browser extension
  opentabs serve                      start the server
  opentabs plugin install ./messages  install a plugin ...
  opentabs plugin review messages     ... and enable it
  opentabs plugin list                list the plugins and their tools
  opentabs call messages__countdown --arg from=10`,
		Version:       version.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          showHelp,
		// The root command accepts any arguments, so that run reports an unknown
		// command.
		Args: cobra.ArbitraryArgs,
	}
	cmd.SetVersionTemplate("opentabs {{.Version}}\n")
	cmd.SetFlagErrorFunc(flagError)
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpColumns)))
	cmd.SetHelpCommand(newHelpCmd(cmd))
	cmd.AddCommand(
		newServeCmd(p), newMCPCmd(p), newClientCmd(p), newExtensionCmd(p), newPluginCmd(p), newCallCmd(p),
		newCallsCmd(p), newToolsCmd(p), newBrowserCmd(p), newStatusCmd(p), newAuditCmd(p), newLogsCmd(p), newDoctorCmd(p), newVersionCmd(p), newExitCodesCmd(), newExtractCmd(p), newSimulateCmd(p),
	)
	return cmd
}

func newHelpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := unknownCommand(root, args); err != nil {
				return err
			}
			topic, _, err := root.Find(args)
			if err != nil {
				return newUsageError("%v", err)
			}
			return topic.Help()
		},
	}
}

// showHelp is the action of a group that is run without a command.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// groupCommands adds subcommands to cmd, which prints its help when it runs without
// one.
func groupCommands(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = cobra.ArbitraryArgs, showHelp
	cmd.AddCommand(commands...)
	return cmd
}

// unknownCommand returns an error if args name a command that does not exist. Without
// this check, Cobra reports the unknown flags of a misspelled command first.
func unknownCommand(root *cobra.Command, args []string) error {
	cmd, extraArgs, err := root.Find(args)
	if err != nil || !cmd.HasSubCommands() {
		return nil
	}
	for _, arg := range extraArgs {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if cmd == root && (arg == "help" || arg == "completion" || strings.HasPrefix(arg, cobra.ShellCompRequestCmd)) {
			return nil // cobra adds the commands help and completion when it runs
		}
		names := []string{}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		return newUsageError("there is no command %q%s: run `%s --help`", strings.TrimPrefix(cmd.CommandPath()+" "+arg, "opentabs "), nearest.Suggestion(arg, names), cmd.CommandPath())
	}
	return nil
}

// flagError returns a usage error for a wrong flag, and suggests a similar flag.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var unknownFlag *pflag.NotExistError
	if !errors.As(err, &unknownFlag) {
		return newUsageError("%v: run `%s --help`", err, cmd.CommandPath())
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
	dashes := "--"
	if unknownFlag.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	return newUsageError("there is no flag %s%s%s: run `%s --help`", dashes, name, suggestion, cmd.CommandPath())
}

// requireArgs returns a check that a command gets n arguments, which argName describes.
func requireArgs(n int, argName string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < n:
			return newUsageError("%s is missing: run `%s`", argName, cmd.UseLine())
		case len(args) > n:
			return newUsageError("%q is one argument too many: run `%s`", args[n], cmd.UseLine())
		case slices.Contains(args, ""):
			return newUsageError("%s is empty: run `%s`", argName, cmd.UseLine())
		}
		return nil
	}
}

// limitArgs returns a check that a command gets no more than n arguments.
func limitArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return newUsageError("%q is one argument too many: run `%s`", args[n], cmd.UseLine())
		}
		if slices.Contains(args, "") {
			return newUsageError("an argument is empty: leave it out, or run `%s`", cmd.UseLine())
		}
		return nil
	}
}

// actionWithArg returns the action of a command with one argument, which it stores in arg. A
// missing argument leaves the default in arg.
func actionWithArg(arg *string, action func(ctx context.Context) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			*arg = args[0]
		}
		return action(cmd.Context())
	}
}

// makeDirs returns the directories of the installation and creates them if they are
// missing.
func (p *program) makeDirs() (config.Dirs, error) {
	dirs, err := config.FindDirs(p.getenv)
	if err != nil {
		return config.Dirs{}, newUsageError("%v", err)
	}
	warnings, err := dirs.Make()
	for _, w := range warnings {
		p.out.Notef("%s", w)
	}
	return dirs, err
}

// openHome returns the installation with its settings, and creates its directories if
// they are missing. flags are the settings of the command line.
func (p *program) openHome(flags map[string]string) (*home.Home, error) {
	dirs, err := p.makeDirs()
	if err != nil {
		return nil, err
	}
	return p.loadHome(dirs, flags)
}

// loadHome returns the installation in dirs, with its settings.
func (p *program) loadHome(dirs config.Dirs, flags map[string]string) (*home.Home, error) {
	s, err := config.Load(dirs, p.getenv, flags)
	if err != nil {
		return nil, newUsageError("%v", err)
	}
	return home.New(dirs, s, p.getenv, func(sentence string) { p.out.Notef("%s", sentence) }), nil
}

// openPlugins returns the installation and its plugins.
func (p *program) openPlugins() (*home.Home, *catalog.Catalog, error) {
	h, err := p.openHome(nil)
	if err != nil {
		return nil, nil, err
	}
	registry, err := h.Plugins()
	return h, registry, err
}

// openPolicy returns access to the permissions, through the running server if there is one.
func (p *program) openPolicy(ctx context.Context) (home.PolicyAccess, error) {
	h, err := p.openHome(nil)
	if err != nil {
		return home.PolicyAccess{}, err
	}
	return h.OpenPolicy(ctx)
}

// newClient returns a client of the running daemon. newClient starts no daemon, and creates
// no directories if none runs.
func (p *program) newClient(ctx context.Context) (*httpapi.Client, error) {
	dirs, err := config.FindDirs(p.getenv)
	if err != nil {
		return nil, newUsageError("%v", err)
	}
	h, err := p.loadHome(dirs, nil)
	if err != nil {
		return nil, err
	}
	client, err := h.Client(ctx)
	if err != nil {
		return nil, err
	}
	_, err = p.makeDirs()
	return client, err
}
