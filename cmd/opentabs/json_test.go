package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/terminal"
)

var commandsWithoutJSON = map[string]string{
	"serve":      "the log has --log-format json",
	"mcp":        "stdin and stdout carry MCP",
	"plugin dev": "a session with a prompt; plugin build --watch --json and logs --follow --json report the same",
	"help":       "a help text has no data",
	"completion": "scripts for shells",
}

var jsonScript = filepath.Join("testdata", "script", "json.txtar")

// TestEveryCommandPrintsJSON checks that each command has the flag --json, and that the
// script json.txtar runs each command with --json.
func TestEveryCommandPrintsJSON(t *testing.T) {
	script, err := os.ReadFile(jsonScript)
	if err != nil {
		t.Fatal(err)
	}
	root := newRootCmd(&cli.Program{Out: terminal.New(os.Stderr, os.Stderr, os.Getenv)})
	commandCount := 0
	var checkCommand func(cmd *cobra.Command)
	checkCommand = func(cmd *cobra.Command) {
		for _, subcommand := range cmd.Commands() {
			checkCommand(subcommand)
		}
		path := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), root.Name()), " ")
		isGroup := cmd == root || reflect.ValueOf(cmd.RunE).Pointer() == reflect.ValueOf(cli.ShowHelp).Pointer()
		if isGroup || cmd.Hidden || !cmd.Runnable() || commandsWithoutJSON[path] != "" {
			return
		}
		commandCount++
		if cmd.Flags().Lookup("json") == nil {
			t.Errorf("the command %q has no flag --json; add the flag, or add the command with a reason to commandsWithoutJSON", path)
		}
		if !bytes.Contains(script, []byte("json opentabs "+path+" ")) && !bytes.Contains(script, []byte("jsonlines opentabs "+path+" ")) {
			t.Errorf("%s does not run %q with --json", jsonScript, path)
		}
	}
	checkCommand(root)
	if commandCount < 40 {
		t.Errorf("checked %d commands, want at least 40 commands", commandCount)
	}
}

// A program that is expected to fail need not print a JSON document.
func checkJSONCmd(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage of the script command: json PROGRAM ARGS...")
	}
	if err := ts.Exec(args[0], append(args[1:], "--json")...); (err != nil) != neg {
		ts.Fatalf("%v --json ended with the error %v", args, err)
	}
	if stdout := ts.ReadFile("stdout"); neg && stdout != "" {
		ts.Fatalf("%v --json failed and printed %q, want nothing", args, stdout)
	} else if !neg && !json.Valid([]byte(stdout)) {
		ts.Fatalf("%v --json printed something other than one JSON document: %q", args, stdout)
	}
}

func checkJSONLinesCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage of the script command: jsonlines PROGRAM ARGS...")
	}
	ts.Check(ts.Exec(args[0], append(args[1:], "--json")...))
	stdout := ts.ReadFile("stdout")
	for line := range strings.Lines(stdout) {
		if !json.Valid([]byte(line)) {
			ts.Fatalf("%v --json printed the line %q, which is no JSON document", args, line)
		}
	}
	if stdout == "" {
		ts.Fatalf("%v --json printed nothing, want at least one line of JSON", args)
	}
}
