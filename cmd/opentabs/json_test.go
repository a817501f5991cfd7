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
			t.Errorf("the command %q has no flag --json, want the flag, or an entry with a reason in commandsWithoutJSON", path)
		}
		if !bytes.Contains(script, []byte("json opentabs "+path+" ")) && !bytes.Contains(script, []byte("jsonlines opentabs "+path+" ")) {
			t.Errorf("%s does not run %q with --json, want a line that does", jsonScript, path)
		}
	}
	checkCommand(root)
	if commandCount < 40 {
		t.Errorf("the test checked %d commands, want at least 40", commandCount)
	}
}

// In a script line that begins with "!", the program must fail and print nothing on stdout.
func checkJSONCmd(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage of the script command: json PROGRAM ARGS...")
	}
	if err := ts.Exec(args[0], append(args[1:], "--json")...); (err != nil) != neg {
		ts.Fatalf("%v --json ended with the error %v, want no error, or an error for a line with !", args, err)
	}
	if stdout := ts.ReadFile("stdout"); neg && stdout != "" {
		ts.Fatalf("%v --json failed and printed %q, want nothing", args, stdout)
	} else if !neg && !json.Valid([]byte(stdout)) {
		ts.Fatalf("%v --json printed %q, want one JSON document", args, stdout)
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
			ts.Fatalf("%v --json printed the line %q, want a JSON document", args, line)
		}
	}
	if stdout == "" {
		ts.Fatalf("%v --json printed nothing, want at least one line of JSON", args)
	}
}
