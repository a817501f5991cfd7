package main

import (
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"opentabs/internal/httpapi"
)

// `opentabs mcp` must answer each malformed line with an error response, and the session must continue.
func TestMCPRejectsInvalidInput(t *testing.T) {
	c := startMCP(t, newHome(t))
	writeLine := func(fileContent string) {
		t.Helper()
		if _, err := io.WriteString(c.stdin, fileContent); err != nil {
			t.Fatal(err)
		}
	}
	// The first line of the input begins with a byte order mark, and lines end with
	// CRLF, as on Windows.
	writeLine("\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\r\n\r\n \t\r\n\n")
	c.readUntilText(`"id":"open","result"`)
	writeLine(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\r\n")
	for _, invalidInput := range []string{
		"this is no JSON", `{"jsonrpc":"2.0","id":1,"method":"tools/list"`, "\xff\xfe\x00", `{"jsonrpc":"2.0","id":"` + "\xc3\x28" + `","method":`, "[]", "null", "7", `"text"`, `{}`,
		strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000), strings.Repeat("x", 32<<20+1), "{" + strings.Repeat(" ", 17<<20) + "}",
	} {
		writeLine(invalidInput + "\n")
		lines := c.readUntilText(`"id":null,"error":{"code":-32`)
		if len(lines) != 1 {
			t.Errorf("answers to the malformed input %.50q = %.300q, want one answer", invalidInput, lines)
		}
	}
	writeLine(`{"jsonrpc":"2.0","id":"ping","method":"ping"}` + "\n")
	if lines := c.readUntilText(`"id":"ping","result":{}`); len(lines) != 1 {
		t.Errorf("answers after all malformed input = %.300q, want one answer", lines)
	}
	// The last line of the input has no newline at its end.
	writeLine(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
	if err := c.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	c.readUntilText(`"id":"last","result":{}`)
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("opentabs mcp ended with the error %v, want nil", err)
	}
}

// TestMCPExitsWhenInputEndsMidCall checks that the call is cancelled and the process exits when a
// client closes its input during a call.
func TestMCPExitsWhenInputEndsMidCall(t *testing.T) {
	dirs := newInstallation(t)
	c := startMCP(t, dirs)
	c.initialize()
	startBrowser(t, dirs)
	waitForStatus(t, dirs, hasTab)
	c.send(`{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"messages__silent","arguments":{}}}`)
	waitForStatus(t, dirs, func(s httpapi.Status) bool { return s.Calls.Running == 1 })
	startTime := time.Now()
	c.closeInput()
	if elapsedTime := time.Since(startTime); elapsedTime > 5*time.Second {
		t.Errorf("opentabs mcp ended after %v, want at most 5 s", elapsedTime)
	}
	waitForStatus(t, dirs, func(s httpapi.Status) bool { return s.Calls.Running == 0 && len(s.Clients) == 0 })
}

// `opentabs mcp` must cancel its calls and exit if the client closes the output of the process.
func TestMCPExitsWhenOutputCloses(t *testing.T) {
	dirs := newInstallation(t)
	cmd := opentabsCommand(t, dirs, "mcp")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdoutReader, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	waitForStatus(t, dirs, func(s httpapi.Status) bool { return len(s.Clients) == 1 })
	if err := stdoutReader.Close(); err != nil {
		t.Fatal(err)
	}
	for range 100 { // this loop blocks until the process has detected the closed output
		if _, err := io.WriteString(stdin, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n"); err != nil {
			break
		}
		waitForStatus(t, dirs, func(httpapi.Status) bool { return true })
	}
	var exitErr *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exitErr) {
		t.Fatal(err)
	}
	waitForStatus(t, dirs, func(s httpapi.Status) bool { return len(s.Clients) == 0 })
}
