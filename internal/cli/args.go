package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/httpapi"
	"opentabs/internal/usererr"
)

// ShowHelp prints the help of a command group that the user runs without a subcommand.
func ShowHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// GroupCommands adds subcommands to cmd. Without a subcommand, cmd prints its help.
func GroupCommands(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = cobra.ArbitraryArgs, ShowHelp
	cmd.AddCommand(commands...)
	return cmd
}

// AddCommandGroup adds subcommands to cmd. The help of cmd lists the added subcommands
// under the given title.
func AddCommandGroup(cmd *cobra.Command, title string, commands ...*cobra.Command) {
	cmd.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, subcommand := range commands {
		subcommand.GroupID = title
	}
	cmd.AddCommand(commands...)
}

// TakesArgument is the cobra annotation of a command that has subcommands and also
// accepts an argument.
const TakesArgument = "takes-argument"

// AddJSONFlag adds the flag --json to cmd, which sets asJSON.
func AddJSONFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON")
}

// RequireArgs returns a cobra check that a command has exactly n arguments. The argument
// argName describes the missing arguments in the error.
func RequireArgs(n int, argName string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < n:
			return NewUsageError("%s is missing: run `%s`", argName, UsageOf(cmd))
		case len(args) > n:
			return NewUsageError("%q is one argument too many: run `%s`", args[n], UsageOf(cmd))
		case slices.Contains(args, ""):
			return NewUsageError("%s is empty: run `%s`", argName, UsageOf(cmd))
		}
		return nil
	}
}

// UsageOf returns the command line of cmd as the user would type it, without "[flags]".
func UsageOf(cmd *cobra.Command) string { return strings.TrimSuffix(cmd.UseLine(), " [flags]") }

// LimitArgs returns a cobra check that a command has at most n arguments.
func LimitArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return NewUsageError("%q is one argument too many: run `%s`", args[n], UsageOf(cmd))
		}
		if slices.Contains(args, "") {
			return NewUsageError("an argument is empty: leave it out, or run `%s`", UsageOf(cmd))
		}
		return nil
	}
}

// ActionWithArg returns the cobra action of a command with one optional argument. The
// cobra action stores the command-line argument in the variable arg, and then calls
// action. If the user omits the argument, the variable arg is not changed.
func ActionWithArg(arg *string, action func(ctx context.Context) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			*arg = args[0]
		}
		return action(cmd.Context())
	}
}

// NewUsageError returns an error about a wrong flag or argument, for which the exit code
// is ExitUsage. NewUsageError truncates long arguments, such as a very long tool name.
func NewUsageError(format string, args ...any) error { return usererr.Errorf(format, args...) }

// AsUsageError converts an error about an unknown plugin or tool to a usage error. If err
// is not about an unknown plugin or tool, AsUsageError returns err unchanged.
func AsUsageError(err error) error {
	if errors.Is(err, httpapi.ErrUnknown) {
		return NewUsageError("%v", err)
	}
	return err
}
