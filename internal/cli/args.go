package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"opentabs/internal/httpapi"
	"opentabs/internal/usererr"
)

// ShowHelp is the action of a group that is run without a command.
func ShowHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// GroupCommands adds subcommands to cmd, which prints its help when it runs without
// one.
func GroupCommands(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = cobra.ArbitraryArgs, ShowHelp
	cmd.AddCommand(commands...)
	return cmd
}

// AddCommandGroup adds subcommands to cmd, which the help of cmd lists under a title.
func AddCommandGroup(cmd *cobra.Command, title string, commands ...*cobra.Command) {
	cmd.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, sub := range commands {
		sub.GroupID = title
	}
	cmd.AddCommand(commands...)
}

// AddJSONFlag adds the flag --json to cmd.
func AddJSONFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON")
}

// RequireArgs returns a check that a command gets n arguments, which argName describes.
func RequireArgs(n int, argName string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < n:
			return NewUsageError("%s is missing: run `%s`", argName, cmd.UseLine())
		case len(args) > n:
			return NewUsageError("%q is one argument too many: run `%s`", args[n], cmd.UseLine())
		case slices.Contains(args, ""):
			return NewUsageError("%s is empty: run `%s`", argName, cmd.UseLine())
		}
		return nil
	}
}

// LimitArgs returns a check that a command gets no more than n arguments.
func LimitArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return NewUsageError("%q is one argument too many: run `%s`", args[n], cmd.UseLine())
		}
		if slices.Contains(args, "") {
			return NewUsageError("an argument is empty: leave it out, or run `%s`", cmd.UseLine())
		}
		return nil
	}
}

// ActionWithArg returns the action of a command with one argument, which it stores in arg. A
// missing argument leaves the default in arg.
func ActionWithArg(arg *string, action func(ctx context.Context) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			*arg = args[0]
		}
		return action(cmd.Context())
	}
}

// NewUsageError returns an error about the user's input. Long texts among args are
// truncated.
func NewUsageError(format string, args ...any) error { return usererr.Errorf(format, args...) }

// AsUsageError makes an error about an unknown plugin or tool a usage error.
func AsUsageError(err error) error {
	if errors.Is(err, httpapi.ErrUnknown) {
		return NewUsageError("%v", err)
	}
	return err
}
