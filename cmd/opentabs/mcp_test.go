package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"opentabs/internal/cli"
	"opentabs/internal/config"
	"opentabs/internal/httpapi"
)

type mcpClient struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string
}

func startMCP(t *testing.T, dirs config.Dirs) *mcpClient {
	t.Helper()
	c := &mcpClient{t: t, cmd: opentabsCommand(t, dirs, "mcp"), lines: make(chan string, 1000)}
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdoutReader, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Stderr = t.Output()
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for lines := bufio.NewScanner(stdoutReader); lines.Scan(); {
			c.lines <- lines.Text()
		}
	}()
	return c
}

func (c *mcpClient) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.stdin, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *mcpClient) readUntilText(awaitedText string) []string {
	c.t.Helper()
	deadline := time.After(hangTimeout)
	var seenLines []string
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				c.t.Fatalf("the output ended without a line that contains %q; lines: %q", awaitedText, seenLines)
			}
			if !json.Valid([]byte(line)) {
				c.t.Errorf("line on stdout = %q, want JSON", line)
			}
			seenLines = append(seenLines, line)
			if strings.Contains(line, awaitedText) {
				return seenLines
			}
		case <-deadline:
			c.t.Fatalf("no line contains %q within the time limit; lines: %q", awaitedText, seenLines)
		}
	}
}

func (c *mcpClient) initialize() {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	c.readUntilText(`"id":"open"`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *mcpClient) closeInput() {
	c.t.Helper()
	if err := c.stdin.Close(); err != nil {
		c.t.Error(err)
	}
	for range c.lines {
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("opentabs mcp ended with the error %v, want nil", err)
	}
}

func newInstallation(t *testing.T) config.Dirs {
	t.Helper()
	baseDir := t.TempDir()
	dirs := config.Dirs{Config: filepath.Join(baseDir, "home"), State: filepath.Join(baseDir, "home")}
	dir := filepath.Join(baseDir, "messages")
	writePlugin(t, dir)
	if cmdOutput, err := opentabsCommand(t, dirs, "plugin", "add", dir, "--permission", "auto").CombinedOutput(); err != nil {
		t.Fatalf("opentabs plugin add ended with the error %v, want nil; output: %s", err, cmdOutput)
	}
	return dirs
}

func writePlugin(t *testing.T, dir string) {
	t.Helper()
	for name, fileContent := range map[string]string{
		"package.json": `{"name": "opentabs-plugin-messages", "version": "1.0.0", "main": "dist/adapter.iife.js",
			"opentabs": {"displayName": "Messages", "description": "For tests", "urlPatterns": ["*://localhost/*"]}}`,
		"dist/adapter.iife.js": `(() => {})();`,
		"dist/tools.json": `{"sdkVersion": "0.0.1", "tools": [
			{"name": "silent", "description": "Wait", "input_schema": {"type": "object"}, "output_schema": {"type": "object"}},
			{"name": "echo", "description": "Echo", "input_schema": {"type": "object"}, "output_schema": {"type": "object"}}]}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(fileContent), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func startBrowser(t *testing.T, dirs config.Dirs) {
	t.Helper()
	cmd := exec.Command("fakebrowser")
	cmd.Env = append(os.Environ(), "OPENTABS_HOME="+dirs.State)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
}

func waitForStatus(t *testing.T, dirs config.Dirs, isReady func(httpapi.Status) bool) httpapi.Status {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(hangTimeout)
	for {
		if record, ok := dirs.ReadServer(); ok {
			token, err := dirs.Token()
			if err != nil {
				t.Fatal(err)
			}
			serverStatus, err := httpapi.NewClient(record.Port, token).Status(t.Context())
			if err == nil && isReady(serverStatus) {
				return serverStatus
			}
		}
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatal("the server does not have the expected status within the time limit, want it")
		}
	}
}

func hasTab(s httpapi.Status) bool {
	return len(s.Browsers) == 1 && len(s.Browsers[0].Tabs) == 1 && len(s.Browsers[0].Tabs[0].Plugins) == 1
}

// The relay must report the lost call and start a new server.
func TestMCPRestartsKilledServer(t *testing.T) {
	dirs := newInstallation(t)
	c := startMCP(t, dirs)
	c.initialize()
	startBrowser(t, dirs)
	for round := range 2 {
		firstStatus := waitForStatus(t, dirs, hasTab)
		c.send(`{"jsonrpc":"2.0","id":"call%d","method":"tools/call","params":{"name":"messages__silent","arguments":{}}}`, round)
		waitForStatus(t, dirs, func(s httpapi.Status) bool { return s.Calls.Running == 1 })
		if !killServer(dirs) {
			t.Fatal("found no server to kill, want a running server")
		}
		lines := c.readUntilText(fmt.Sprintf(`"id":"call%d"`, round))
		if lastLine := lines[len(lines)-1]; !strings.Contains(lastLine, `"error":{"code":-32000`) || !strings.Contains(lastLine, "call again") {
			t.Errorf("answer to the lost call = %s, want an error with the advice to call again", lastLine)
		}
		// The relay has started a new server, on which the client's session continues.
		c.send(`{"jsonrpc":"2.0","id":"list%d","method":"tools/list"}`, round)
		lines = c.readUntilText(fmt.Sprintf(`"id":"list%d"`, round))
		if lastLine := lines[len(lines)-1]; !strings.Contains(lastLine, "messages__echo") {
			t.Errorf("tools of the new server = %s, want a text that contains %q", lastLine, "messages__echo")
		}
		if !strings.Contains(strings.Join(lines, "\n"), "notifications/tools/list_changed") {
			t.Errorf("messages that the client received = %q, want tools/list_changed among them", lines)
		}
		if strings.Contains(strings.Join(lines, "\n"), `"id":"open"`) {
			t.Errorf("messages that the client received = %q, want no second answer to initialize", lines)
		}
		secondStatus := waitForStatus(t, dirs, hasTab)
		if secondStatus.PID == firstStatus.PID || len(secondStatus.Clients) != 1 || secondStatus.Clients[0].Name != "test" {
			t.Errorf("status of the new server = %+v, want another PID and only the client test", secondStatus)
		}
		c.send(`{"jsonrpc":"2.0","id":"echo%d","method":"tools/call","params":{"name":"messages__echo","arguments":{"a":1}}}`, round)
		lines = c.readUntilText(fmt.Sprintf(`"id":"echo%d"`, round))
		if lastLine := lines[len(lines)-1]; !strings.Contains(lastLine, `"structuredContent":{"a":1}`) {
			t.Errorf("result of a call through the new server = %s, want a text that contains %q", lastLine, `"structuredContent":{"a":1}`)
		}
	}
	c.closeInput()
}

// TestConcurrentMCPStartsShareOneServer starts several `opentabs mcp` processes at the same time while no server runs.
func TestConcurrentMCPStartsShareOneServer(t *testing.T) {
	baseDir := filepath.Join(t.TempDir(), "home")
	dirs := config.Dirs{Config: baseDir, State: baseDir}
	var clients []*mcpClient
	for range 4 {
		clients = append(clients, startMCP(t, dirs))
	}
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Go(c.initialize)
	}
	wg.Wait()
	waitForStatus(t, dirs, func(s httpapi.Status) bool { return len(s.Clients) == 4 })
	for _, c := range clients {
		c.closeInput()
	}
	waitForStatus(t, dirs, func(s httpapi.Status) bool { return len(s.Clients) == 0 })
}

// TestMCPStopsOnSIGTERM stops `opentabs mcp` with SIGTERM, as MCP clients stop their servers.
func TestMCPStopsOnSIGTERM(t *testing.T) {
	baseDir := filepath.Join(t.TempDir(), "home")
	c := startMCP(t, config.Dirs{Config: baseDir, State: baseDir})
	c.initialize()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for range c.lines {
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("opentabs mcp ended with the error %v after SIGTERM, want nil", err)
	}
}

// TestServeStopsOnSIGTERM stops a server with SIGTERM while calls run over HTTP and stdio, a
// client follows events, and another client keeps a stream open.
func TestServeStopsOnSIGTERM(t *testing.T) {
	dirs := newInstallation(t)
	serveCmd := opentabsCommand(t, dirs, "serve")
	if err := serveCmd.Start(); err != nil {
		t.Fatal(err)
	}
	startBrowser(t, dirs)
	waitForStatus(t, dirs, hasTab)
	followCmd := opentabsCommand(t, dirs, "calls", "--follow")
	followLog := &commandOutput{t: t, writeSignal: make(chan struct{}, 1)}
	followCmd.Stderr = followLog
	if err := followCmd.Start(); err != nil {
		t.Fatal(err)
	}
	followLog.waitForWords("opentabs: following")
	c := startMCP(t, dirs)
	c.initialize()
	c.send(`{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"messages__silent","arguments":{}}}`)
	call := opentabsCommand(t, dirs, "call", "messages__silent")
	var stderr strings.Builder
	call.Stderr = &stderr
	if err := call.Start(); err != nil {
		t.Fatal(err)
	}
	waitForStatus(t, dirs, func(s httpapi.Status) bool { return s.Calls.Running == 2 })

	if err := serveCmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serveCmd.Wait(); err != nil { // connected clients must not delay the shutdown
		t.Errorf("opentabs serve ended with the error %v, want nil", err)
	}
	if _, ok := dirs.ReadServer(); ok {
		t.Error("the record of the ended server still exists, want it removed")
	}
	lines := c.readUntilText(`"id":"call"`)
	if lastLine := lines[len(lines)-1]; !strings.Contains(lastLine, `"isError":true`) || !strings.Contains(lastLine, "shutdown") {
		t.Errorf("answer to the call over stdio = %s, want the error shutdown", lastLine)
	}
	if err := call.Wait(); call.ProcessState.ExitCode() != cli.ExitCancelled || !strings.Contains(stderr.String(), "shutdown") {
		t.Errorf("opentabs call ended with the error %v and the output %s, want the exit code for cancelled calls and the text shutdown", err, stderr.String())
	}
	if err := followCmd.Wait(); followCmd.ProcessState.ExitCode() != cli.ExitNoServer {
		t.Errorf("opentabs calls --follow ended with the error %v, want the exit code for a missing server", err)
	}
	c.closeInput()
}
