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
// own templates are not used, because they need package text/template. A program that
// imports text/template is several megabytes larger, because the linker keeps unused
// methods.
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

func isGroup(cmd *cobra.Command) bool {
	return cmd.RunE != nil && reflect.ValueOf(cmd.RunE).Pointer() == reflect.ValueOf(ShowHelp).Pointer()
}

// writeSubcommands lists the subcommands of cmd by help group. Each group also lists the commands below a subcommand
// that belong to a group with the same ID.
func writeSubcommands(b *strings.Builder, cmd *cobra.Command) {
	groups := cmd.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands:"}}
	} else if !cmd.AllChildCommandsHaveGroup() {
		groups = append(groups, &cobra.Group{Title: "Other commands:"})
	}
	for _, group := range groups {
		var lines []helpLine
		for _, subcommand := range cmd.Commands() {
			if subcommand.GroupID == group.ID && (subcommand.IsAvailableCommand() || subcommand.Name() == "help") {
				lines = append(lines, helpLine{subcommand.Name(), subcommand.Short})
			}
			for _, nestedCommand := range subcommand.Commands() {
				if group.ID != "" && nestedCommand.GroupID == group.ID && nestedCommand.IsAvailableCommand() {
					lines = append(lines, helpLine{subcommand.Name() + " " + nestedCommand.Name(), nestedCommand.Short})
				}
			}
		}
		writeHelpLines(b, group.Title, cmd, lines)
	}
	var helpTopics []helpLine
	for _, subcommand := range cmd.Commands() {
		if subcommand.IsAdditionalHelpTopicCommand() {
			helpTopics = append(helpTopics, helpLine{subcommand.Name(), subcommand.Short})
		}
	}
	writeHelpLines(b, "Other help:", cmd, helpTopics)
}

// helpLine is one command in a list of commands, with its one-line summary.
type helpLine struct{ name, summary string }

// writeHelpLines aligns the summaries in all lists of commands, except after very long command names.
func writeHelpLines(b *strings.Builder, title string, cmd *cobra.Command, lines []helpLine) {
	if len(lines) == 0 {
		return
	}
	width := cmd.Commands()[0].NamePadding()
	for _, line := range lines {
		width = max(width, len(line.name)+1)
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "  %-*s %s\n", width, line.name, line.summary)
	}
}
