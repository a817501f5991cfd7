package cli

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"
)

// HelpColumns is the maximum width of help texts.
const HelpColumns = 80

// PrintUsage prints the arguments, examples, subcommands and flags of a command. Cobra's
// templates need the package text/template, which keeps the linker from dropping unused
// methods and makes the program several megabytes larger.
func PrintUsage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() && !isGroup(cmd) {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "\nOther names:\n  %s\n", strings.Join(cmd.Aliases, ", "))
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	writeSubcommands(&b, cmd)
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", flags.FlagUsagesWrapped(HelpColumns))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nRun \"%s COMMAND --help\" for the help of a command.\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// isGroup reports whether cmd only prints its help when it runs without a subcommand.
func isGroup(cmd *cobra.Command) bool {
	return cmd.RunE != nil && reflect.ValueOf(cmd.RunE).Pointer() == reflect.ValueOf(ShowHelp).Pointer()
}

// writeSubcommands writes the subcommands of cmd by group, followed by the help topics.
func writeSubcommands(b *strings.Builder, cmd *cobra.Command) {
	groups := cmd.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands:"}}
	} else if !cmd.AllChildCommandsHaveGroup() {
		groups = append(groups, &cobra.Group{Title: "Other commands:"})
	}
	for _, group := range groups {
		writeCommandList(b, group.Title, cmd.Commands(), func(sub *cobra.Command) bool {
			return sub.GroupID == group.ID && (sub.IsAvailableCommand() || sub.Name() == "help")
		})
	}
	writeCommandList(b, "Other help:", cmd.Commands(), (*cobra.Command).IsAdditionalHelpTopicCommand)
}

// writeCommandList writes the selected commands below a title. Each command has one line
// with its summary.
func writeCommandList(b *strings.Builder, title string, commands []*cobra.Command, isSelected func(*cobra.Command) bool) {
	hasTitle := false
	for _, sub := range commands {
		if !isSelected(sub) {
			continue
		}
		if !hasTitle {
			fmt.Fprintf(b, "\n%s\n", title)
			hasTitle = true
		}
		fmt.Fprintf(b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
	}
}
