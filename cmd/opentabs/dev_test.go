package main

import (
	"bytes"
	"context"
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
	"opentabs/internal/jsbuild"
	"opentabs/internal/plugindev"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

type commandOutput struct {
	t           *testing.T
	writeSignal chan struct{}

	mu           sync.Mutex // guards output and matchedBytes
	output       bytes.Buffer
	matchedBytes int // number of bytes that waitForWords has matched
}

func (s *commandOutput) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.output.Write(p)
	select {
	case s.writeSignal <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *commandOutput) waitForWords(commandWords ...string) {
	s.t.Helper()
	deadline := time.After(hangTimeout)
	for _, awaitedText := range commandWords {
		for {
			s.mu.Lock()
			printedText := s.output.String()
			index := strings.Index(printedText[s.matchedBytes:], awaitedText)
			if index >= 0 {
				s.matchedBytes += index + len(awaitedText)
			}
			s.mu.Unlock()
			if index >= 0 {
				break
			}
			select {
			case <-s.writeSignal:
			case <-deadline:
				s.t.Fatalf("the output does not contain %q within the time limit; complete output: %s", awaitedText, printedText)
			}
		}
	}
}

const devPluginSource = `
import { definePlugin, defineTool } from '@opentabs/sdk';
import { z } from 'zod';

const input = z.looseObject({ value: z.unknown().optional() });
const tool = (name: string) => defineTool({ name, description: 'For tests: ' + name, input, output: z.unknown(), handle: async () => ({}) });

export default definePlugin({ tools: [tool('echo'), tool('silent'), tool('quit')], isReady: () => true });
`

func startPluginDev(t *testing.T) (outBuffer *commandOutput, lines chan<- string, signals chan<- os.Signal, devErr <-chan error, dirs config.Dirs, pluginDir string) {
	t.Helper()
	dirs = newInstallation(t)
	pluginDir = filepath.Join(filepath.Dir(dirs.State), "messages")
	if err := os.MkdirAll(filepath.Join(pluginDir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pluginDir, "src", "index.ts"), []byte(devPluginSource), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := opentabsCommand(t, dirs, "serve").Start(); err != nil {
		t.Fatal(err)
	}
	startBrowser(t, dirs)
	waitForStatus(t, dirs, hasTab)
	opentabsPath, err := exec.LookPath("opentabs")
	if err != nil {
		t.Fatal(err)
	}
	outBuffer = &commandOutput{t: t, writeSignal: make(chan struct{}, 1)}
	getenv := func(name string) string {
		if name == config.HomeVariable {
			return dirs.State
		}
		return ""
	}
	p := &cli.Program{Out: terminal.New(outBuffer, outBuffer, getenv), Getenv: getenv}
	h, err := p.OpenHome(nil)
	if err != nil {
		t.Fatal(err)
	}
	typedLines, interrupts, runErr := make(chan string), make(chan os.Signal, 1), make(chan error, 1)
	o := plugindev.Options{
		Home: h, Source: pluginDir, Permission: wire.PermissionAuto, Out: p.Out, Build: jsbuild.Options{Extract: []string{opentabsPath, "__extract"}},
		Signals: interrupts, Lines: typedLines, Call: func(ctx context.Context, c plugindev.Call) { cli.RunTypedCall(ctx, p, c) },
	}
	go func() { runErr <- plugindev.Run(t.Context(), o) }()
	return outBuffer, typedLines, interrupts, runErr, dirs, pluginDir
}

func isRunning(s httpapi.Status) bool { return s.Calls.Running == 1 }

func TestDevPromptCallsTools(t *testing.T) {
	outBuffer, lines, signals, devErr, dirs, pluginDir := startPluginDev(t)
	outBuffer.waitForWords("built messages 1.0.0, 3 tools", "waiting for changes", "messages> ")
	waitForStatus(t, dirs, hasTab) // the tab of the previous build is gone
	for _, c := range []struct{ line, want string }{
		{`echo {"value": [1, "a b"]}`, `{"value":[1,"a b"]}`},
		{`echo value="a b" other=x`, `{"other":"x","value":"a b"}`},
		{`messages__echo`, `{}`},
		{`call echo value=3`, `{"value":3}`},
		{`ecko`, `there is no tool "ecko" (did you mean echo?)`},
		{`echo "x`, `the " is not closed`},
		{`echo {"value": `, "JSON"},
		{`tools`, "silent  For tests: silent"},
		{`tabs`, "ready"},
		{`help`, "Ctrl-C stops a call"},
		{`reload`, "built messages"},
		{``, ""},
	} {
		lines <- c.line
		outBuffer.waitForWords(c.want, "messages> ")
	}
	// When the user presses Ctrl-C in `plugin dev`, the running call is cancelled.
	// While a call is running, `plugin dev` still rebuilds a changed plugin.
	lines <- "silent"
	waitForStatus(t, dirs, isRunning)
	if err := os.WriteFile(filepath.Join(pluginDir, "src", "index.ts"), []byte(strings.Replace(devPluginSource, ", tool('quit')", "", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	outBuffer.waitForWords("built messages 1.0.0, 2 tools")
	signals <- os.Interrupt
	outBuffer.waitForWords("the call was cancelled", "messages> ")
	// While no call is running, Ctrl-C ends `plugin dev`.
	signals <- os.Interrupt
	if err := <-devErr; err != nil {
		t.Errorf("plugin dev ended with the error %v after Ctrl-C, want nil", err)
	}
	outBuffer.waitForWords("the last build of messages stays in use")
}

func TestDevStopsWithServerAndSignal(t *testing.T) {
	for description, stopDev := range map[string]func(lines chan<- string, signals chan<- os.Signal){
		"quit":                  func(lines chan<- string, _ chan<- os.Signal) { lines <- "quit" },
		"end of input":          func(lines chan<- string, _ chan<- os.Signal) { close(lines) },
		"SIGTERM during a call": func(lines chan<- string, signals chan<- os.Signal) { lines <- "silent"; signals <- syscall.SIGTERM },
	} {
		t.Run(description, func(t *testing.T) {
			outBuffer, lines, signals, devErr, _, _ := startPluginDev(t)
			outBuffer.waitForWords("messages> ")
			stopDev(lines, signals)
			if err := <-devErr; err != nil {
				t.Errorf("plugin dev ended with the error %v, want nil", err)
			}
		})
	}
}
