package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"opentabs/internal/cli"
	"opentabs/internal/terminal"
)

func visitCommands(root *cobra.Command, visitCommand func(cmd *cobra.Command, path string)) {
	var walk func(cmd *cobra.Command, path string)
	walk = func(cmd *cobra.Command, path string) {
		visitCommand(cmd, path)
		for _, subcommand := range cmd.Commands() {
			walk(subcommand, strings.TrimSpace(path+" "+subcommand.Name()))
		}
	}
	walk(root, "")
}

// The shell must complete file names only for arguments and flags that take files.
func TestEveryValueHasACompletion(t *testing.T) {
	makeEmptyHome(t)
	root := newRootCmd(&cli.Program{Out: terminal.New(os.Stderr, os.Stderr, os.Getenv), Getenv: os.Getenv})
	unusedKeys := map[string]bool{}
	for key := range argumentCompleters {
		unusedKeys[key] = true
	}
	for key := range flagCompleters {
		unusedKeys[key] = true
	}
	for key := range fileCompletions {
		unusedKeys[key] = true
	}
	hasCompletion := func(key string) bool {
		delete(unusedKeys, key)
		_, hasArgument := argumentCompleters[key]
		_, hasFlag := flagCompleters[key]
		_, hasFileCompletion := fileCompletions[key]
		return hasArgument || hasFlag || hasFileCompletion
	}
	visitCommands(root, func(cmd *cobra.Command, path string) {
		if path == "" {
			return
		}
		if strings.TrimPrefix(cmd.Use, cmd.Name()) != "" && !hasCompletion(path) {
			t.Errorf("opentabs %s: an argument has no completion, want an entry in argumentCompleters or fileCompletions", cmd.Use)
		}
		checkCompletionDirective(t, append(strings.Fields(path), ""), path)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal != "" {
				return
			}
			keys := flagCompletionKeys(path, f)
			i := slices.IndexFunc(keys, hasCompletion)
			if i < 0 {
				t.Errorf("opentabs %s --%s: the value has no completion, want an entry in flagCompleters or fileCompletions", path, f.Name)
				return
			}
			checkCompletionDirective(t, append(strings.Fields(path), "--"+f.Name, ""), keys[i])
		})
	})
	for key := range unusedKeys {
		t.Errorf("the completion for %q belongs to no command, want a command with this name", key)
	}
}

func checkCompletionDirective(t *testing.T, commandWords []string, key string) {
	t.Helper()
	want, isFileCompletion := fileCompletions[key]
	if !isFileCompletion {
		want = cobra.ShellCompDirectiveNoFileComp
	}
	var stdout, stderr bytes.Buffer
	run(t.Context(), append([]string{cobra.ShellCompNoDescRequestCmd}, commandWords...), strings.NewReader(""), &stdout, &stderr)
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if got := lines[len(lines)-1]; got != fmt.Sprintf(":%d", want) {
		t.Errorf("opentabs %s: completion directive for the shell = %s, want :%d; stderr: %s", strings.Join(commandWords, " "), got, want, stderr.String())
	}
}
