package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/browsernames"
	"opentabs/internal/callview"
	"opentabs/internal/cli"
	"opentabs/internal/config"
	"opentabs/internal/filestore"
	"opentabs/internal/pairing"
	"opentabs/internal/recorder"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

const (
	longClientName  = "a-client-of-an-agent-with-a-long-name"
	longBrowserName = "Chrome of the third desk in the left office"
	longToolName    = "messages__export_messages_of_channel"
)

func newNarrowOutput(output *bytes.Buffer) *terminal.Output {
	return terminal.NewTerminal(output, func() (columns, screenRows int) { return cli.HelpColumns, 24 })
}

func newEndedCallRecord(code wire.ErrorCode, errorMessage string) recorder.Record {
	now := time.Now()
	r := recorder.Record{Site: "https://messages.example.com"}
	r.CallID, r.ToolName, r.Client, r.Created, r.Ended = "call_x6axhe37hbgwg7pggqeuutzrbm", longToolName, longClientName, now, &now
	r.Status, r.ErrorCode, r.Error = wire.StatusFailed, code, errorMessage
	return r
}

func populateInstallation(t *testing.T) {
	t.Helper()
	dirs, err := config.FindDirs(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dirs.CreateDirs(); err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(newEndedCallRecord(wire.ErrDeadlineExceeded, "The page did not answer."))
	if err != nil {
		t.Fatal(err)
	}
	calls := filepath.Join(dirs.State, "calls")
	if err := os.MkdirAll(calls, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(calls, time.Now().UTC().Format(time.DateOnly)+".jsonl"), append(record, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := filestore.Open(dirs.FilesDir()).Add(filestore.File{Name: "shop.example.har", Client: longClientName}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	pairedStore := pairing.Open(dirs.PairingFile())
	code, err := pairing.ParseCode("7KQ2M-XD9R4-TB8WZ-0HJ5N")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pairedStore.Add(code); err != nil {
		t.Fatal(err)
	}
	if _, err := pairedStore.Confirm(wire.KeyID(wire.PairingKey(code)), longBrowserName); err != nil {
		t.Fatal(err)
	}
	names, _ := browsernames.Open(dirs.BrowsersFile())
	names.NameOf("0123456789abcdef", longBrowserName, false)
	for _, args := range [][]string{
		{"client", "add", longClientName}, {"client", "timeout", "set", longClientName, "90s", "--progress-restarts"},
		{"browser", "site", "a-shop-with-a-long-name.example.com", "read"}, {"browser", "tools", "on"},
		{"browser", "default", longBrowserName, "--client", longClientName},
	} {
		var outBuffer bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &outBuffer, &outBuffer); code != cli.ExitOK {
			t.Fatalf("opentabs %s failed, want success; output: %s", strings.Join(args, " "), outBuffer.String())
		}
	}
}

// A cell that a user needs, such as the call ID or the error message, must not be truncated.
func TestTablesFit80Columns(t *testing.T) {
	makeEmptyHome(t)
	populateInstallation(t)
	for command, cells := range map[string][]string{
		"calls --since 1h":          {"CALL", "call_x6axhe37 ", "STATUS", " failed ", "MESSAGE", "The page did not answer."},
		"calls --failed":            {"STATUS", " failed ", "MESSAGE", "The page did not answer."},
		"tools":                     {"browser_websocket_messages", "PERMISSION", " off"},
		"plugin permission browser": {"browser_websocket_messages", "PERMISSION", " off"},
		"browser tools":             {"browser_websocket_messages", "PERMISSION", " off"},
		"browser list":              {longBrowserName, "STATE", "last seen 2"},
		"browser default":           {longBrowserName, "DEFAULT FOR", longClientName[:20]},
		"browser site":              {"a-shop-with-a-long-name.example.com", "PERMISSION", " read"},
		"client list":               {longClientName, "LAST USED", " never"},
		"client timeout list":       {longClientName, "WAITS", " 1 min 30 s"},
		"pair list":                 {longBrowserName, "PAIRED", ":"},
		"files":                     {"ID", "SIZE", " 1 bytes", "FILE"},
		"config get":                {"maxResultBytes", " 104857600 "},
		"plugin permission browser_websocket_messages": {"PERMISSION", " off"},
	} {
		var output bytes.Buffer
		root := newRootCmd(&cli.Program{Out: newNarrowOutput(&output), Getenv: os.Getenv})
		root.SetArgs(strings.Fields(command))
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Errorf("opentabs %s returned the error %v, want nil", command, err)
		}
		for _, cell := range cells {
			if !strings.Contains(output.String(), cell) {
				t.Errorf("opentabs %s: the table lacks the complete cell %q; output:\n%s", command, cell, output.String())
			}
		}
		checkWidth(t, command, output.String())
	}
}

// TestLongTextIsWrapped checks that commands wrap long lines between words on a terminal
// with 80 columns.
func TestLongTextIsWrapped(t *testing.T) {
	makeEmptyHome(t)
	populateInstallation(t)
	_, dir := createBuiltPlugin(t)
	writeFile(t, dir, "dist/tools.json", `{"sdkVersion": "0.0.1", "tools": [{"name": "echo", "description": "`+strings.Repeat("Many words. ", 20)+`",
		"input_schema": {"type": "object"}, "output_schema": {"type": "object"}}]}`)
	for _, command := range []string{"plugin install " + dir, "plugin list", "audit", "audit --verbose", "plugin inspect messages", "plugin inspect messages --section tools"} {
		var output bytes.Buffer
		root := newRootCmd(&cli.Program{Out: newNarrowOutput(&output), Getenv: os.Getenv})
		root.SetArgs(strings.Fields(command))
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Errorf("opentabs %s returned the error %v, want nil", command, err)
		}
		for line := range strings.Lines(output.String()) {
			if line = strings.TrimRight(line, "\n"); len(line) > cli.HelpColumns && strings.Contains(strings.TrimLeft(line, " "), " ") {
				t.Errorf("opentabs %s printed the line %q, want at most %d columns", command, line, cli.HelpColumns)
			}
		}
	}
}

// TestCallsTableFits80Columns checks the table of `opentabs calls`, which needs a running
// server.
func TestCallsTableFits80Columns(t *testing.T) {
	var output bytes.Buffer
	waitingView := newEndedCallRecord("", "").View
	waitingView.Ended, waitingView.Status, waitingView.CallID = nil, "waiting for approval", "call_a"
	waitingView.Waiting = &dispatch.WaitingTicket{ExpiresAt: time.Now().Add(time.Hour), Reason: "it needs your approval"}
	calls := []dispatch.View{newEndedCallRecord(wire.ErrDeadlineExceeded, "The page did not answer.").View}
	printCalls(newNarrowOutput(&output), callview.Rows(calls, false, time.Now()), "CLIENT", "RAN", "PROGRESS")
	printCalls(newNarrowOutput(&output), callview.Rows([]dispatch.View{waitingView}, false, time.Now()), "CLIENT", "RAN", "PROGRESS")
	for _, cell := range []string{"call_x6axhe37 ", " failed ", "The page did not answer.", " waiting for approval ", "TIME LEFT"} {
		if !strings.Contains(output.String(), cell) {
			t.Errorf("the table lacks the complete cell %q; output:\n%s", cell, output.String())
		}
	}
	checkWidth(t, "calls", output.String())
}

func checkWidth(t *testing.T, command, output string) {
	t.Helper()
	for line := range strings.Lines(output) {
		if len(strings.TrimSuffix(line, "\n")) > cli.HelpColumns {
			t.Errorf("opentabs %s printed the line %q, want at most %d columns", command, line, cli.HelpColumns)
		}
	}
}
