package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/terminal"
)

func leafCommands(cmd *cobra.Command, commandWords []string) [][]string {
	if !cmd.HasSubCommands() {
		return [][]string{commandWords}
	}
	var commandPaths [][]string
	for _, subcommand := range cmd.Commands() {
		commandPaths = append(commandPaths, leafCommands(subcommand, append(slices.Clone(commandWords), subcommand.Name()))...)
	}
	return commandPaths
}

func makeEmptyHome(t testing.TB) {
	t.Helper()
	for name, value := range map[string]string{"OPENTABS_HOME": filepath.Join(t.TempDir(), "home"), "OPENTABS_PORT": "0"} {
		t.Setenv(name, value)
	}
}

// TestInvalidArgumentsFail runs every command with arguments that the command does not accept.
func TestInvalidArgumentsFail(t *testing.T) {
	makeEmptyHome(t)
	hugeArg := strings.Repeat("x", 1<<20)
	commands := leafCommands(newRootCmd(&cli.Program{Out: terminal.New(os.Stderr, os.Stderr, os.Getenv)}), nil)
	if len(commands) < 10 {
		t.Fatalf("the test found %d commands, want at least 10", len(commands))
	}
	for _, command := range commands {
		if command[0] == "exit-codes" || command[0] == "help" { // these commands only print help pages
			continue
		}
		for _, wrongArgs := range [][]string{
			{"--no-such-flag"}, {"-Z"}, {"--" + hugeArg}, {"--\xff\xfe"}, {"--="}, {"a", "b", "c"}, {hugeArg, hugeArg}, {"\xff", "\xfe"}, {"", "", ""}, {"a", "--json=x\x00y", "b"},
		} {
			code, output := runFailingCommand(t, append(slices.Clone(command), wrongArgs...))
			if code != cli.ExitUsage {
				t.Errorf("opentabs %v with the arguments %.20q: exit code %d, stderr %.200q; want the exit code for wrong usage", command, wrongArgs, code, output)
			}
		}
	}
	for _, emptyArgs := range [][]string{{"call", ""}, {"plugin", "add", ""}, {"plugin", "remove", ""}, {"plugin", "build", ""}, {"calls", "cancel", ""}} {
		if code, output := runFailingCommand(t, emptyArgs); code != cli.ExitUsage || !strings.Contains(output, "is empty: ") {
			t.Errorf("opentabs %q: exit code %d, stderr %q; want the exit code for wrong usage and the text: is empty", emptyArgs, code, output)
		}
	}
}

func runFailingCommand(t *testing.T, args []string) (code int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangTimeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	code = run(ctx, args, strings.NewReader(""), &stdout, &stderr)
	output = stderr.String()
	if ctx.Err() != nil {
		t.Errorf("opentabs %.100q still ran at the time limit, want it to end", args)
	}
	if code != cli.ExitOK && stdout.Len() > 0 {
		t.Errorf("opentabs %.100q failed and printed %.100q on stdout, want nothing on stdout", args, stdout.String())
	}
	if len(output) > 8<<10 {
		t.Errorf("opentabs %.100q printed %d bytes, want at most 8 KiB", args, len(output))
	}
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "opentabs: ") && !strings.HasPrefix(line, "  ") {
			t.Errorf("opentabs %.100q printed the line %.200q, want an error message or an indented line", args, line)
		}
	}
	if code != cli.ExitOK && output == "" {
		t.Errorf("opentabs %.100q failed without an error message, want a message on stderr", args)
	}
	return code, output
}

// The fuzz target fails if a command returns an unknown exit code, or if a command fails without an error message.
func FuzzCommandLine(f *testing.F) {
	makeEmptyHome(f)
	commands := []string{"call", "calls", "calls cancel", "status", "version", "plugin list", "extension path", "plugin remove", "help", "nothing"}
	for i := range commands {
		f.Add(byte(i), "messages__echo", "--input={}", "--arg")
		f.Add(byte(i), "--tab", "\xff", "--input")
		f.Add(byte(i), "-", "--", "--help")
	}
	f.Fuzz(func(t *testing.T, command byte, a, b, c string) {
		args := append(strings.Fields(commands[int(command)%len(commands)]), a, b, c)
		code, _ := runFailingCommand(t, args)
		if !slices.Contains([]int{cli.ExitOK, cli.ExitFailed, cli.ExitUsage, cli.ExitNoServer}, code) {
			t.Errorf("opentabs %q: exit code %d, want a documented exit code", args, code)
		}
	})
}

// TestHelpFits80Columns checks that the help of every command fits a terminal with 80 columns.
func TestHelpFits80Columns(t *testing.T) {
	var checkCommand func(cmd *cobra.Command)
	checkCommand = func(cmd *cobra.Command) {
		var help bytes.Buffer
		cmd.SetOut(&help)
		if err := cmd.Help(); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(help.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > cli.HelpColumns {
				t.Errorf("the help of %s has a line of %d columns, want at most %d: %q", cmd.CommandPath(), n, cli.HelpColumns, line)
			}
		}
		for _, subcommand := range cmd.Commands() {
			checkCommand(subcommand)
		}
	}
	root := newRootCmd(&cli.Program{Out: terminal.New(os.Stderr, os.Stderr, os.Getenv)})
	addShellCommand(root)
	root.InitDefaultHelpCmd()
	checkCommand(root)
}
