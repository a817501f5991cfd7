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

	mu           sync.Mutex // the mutex guards text and matchedBytes
	text         bytes.Buffer
	matchedBytes int // matchedBytes is the number of bytes that waitForWords has matched
}

func (s *commandOutput) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	select {
	case s.writeSignal <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *commandOutput) waitForWords(words ...string) {
	s.t.Helper()
	deadline := time.After(hangTimeout)
	for _, word := range words {
		for {
			s.mu.Lock()
			text := s.text.String()
			index := strings.Index(text[s.matchedBytes:], word)
			if index >= 0 {
				s.matchedBytes += index + len(word)
			}
			s.mu.Unlock()
			if index >= 0 {
				break
			}
			select {
			case <-s.writeSignal:
			case <-deadline:
				s.t.Fatalf("the output never contained %q; all of it: %s", word, text)
			}
		}
	}
}

const devSource = `
import { definePlugin, defineTool } from '@opentabs/sdk';
import { z } from 'zod';

const input = z.looseObject({ value: z.unknown().optional() });
const tool = (name: string) => defineTool({ name, description: 'For tests: ' + name, input, output: z.unknown(), handle: async () => ({}) });

export default definePlugin({ tools: [tool('echo'), tool('silent'), tool('quit')], isReady: () => true });
`

func startPluginDev(t *testing.T) (out *commandOutput, lines chan<- string, signals chan<- os.Signal, devErr <-chan error, dirs config.Dirs, source string) {
	t.Helper()
	dirs = newInstallation(t)
	source = filepath.Join(filepath.Dir(dirs.State), "messages")
	if err := os.MkdirAll(filepath.Join(source, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(source, "src", "index.ts"), []byte(devSource), 0o644); err != nil {
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
	out = &commandOutput{t: t, writeSignal: make(chan struct{}, 1)}
	getenv := func(name string) string {
		if name == config.HomeVariable {
			return dirs.State
		}
		return ""
	}
	p := &cli.Program{Out: terminal.New(out, out, getenv), Getenv: getenv}
	h, err := p.OpenHome(nil)
	if err != nil {
		t.Fatal(err)
	}
	typedLines, interrupts, runErr := make(chan string), make(chan os.Signal, 1), make(chan error, 1)
	o := plugindev.Options{
		Home: h, Source: source, Permission: wire.PermissionAuto, Out: p.Out, Build: jsbuild.Options{Extract: []string{opentabsPath, "__extract"}},
		Signals: interrupts, Lines: typedLines, Call: func(ctx context.Context, c plugindev.Call) { cli.RunTypedCall(ctx, p, c) },
	}
	go func() { runErr <- plugindev.Run(t.Context(), o) }()
	return out, typedLines, interrupts, runErr, dirs, source
}

func isRunning(s httpapi.Status) bool { return s.Calls.Running == 1 }

func TestDevPrompt(t *testing.T) {
	out, lines, signals, devErr, dirs, source := startPluginDev(t)
	out.waitForWords("built messages 1.0.0, 3 tools", "waiting for changes", "messages> ")
	waitForStatus(t, dirs, hasTab) // waits until the browser no longer lists the tab of the previous build
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
		out.waitForWords(c.want, "messages> ")
	}
	// When the user presses Ctrl-C in `plugin dev`, the running call is cancelled.
	// While a call is running, `plugin dev` still rebuilds a changed plugin.
	lines <- "silent"
	waitForStatus(t, dirs, isRunning)
	if err := os.WriteFile(filepath.Join(source, "src", "index.ts"), []byte(strings.Replace(devSource, ", tool('quit')", "", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	out.waitForWords("built messages 1.0.0, 2 tools")
	signals <- os.Interrupt
	out.waitForWords("the call was cancelled", "messages> ")
	// While no call is running, Ctrl-C ends `plugin dev`.
	signals <- os.Interrupt
	if err := <-devErr; err != nil {
		t.Errorf("plugin dev ended with %v", err)
	}
	out.waitForWords("the last build of messages stays in use")
}

func TestDevStopsWithServerAndSignal(t *testing.T) {
	for description, endDev := range map[string]func(lines chan<- string, signals chan<- os.Signal){
		"quit":           func(lines chan<- string, _ chan<- os.Signal) { lines <- "quit" },
		"the end of it":  func(lines chan<- string, _ chan<- os.Signal) { close(lines) },
		"SIGTERM in one": func(lines chan<- string, signals chan<- os.Signal) { lines <- "silent"; signals <- syscall.SIGTERM },
	} {
		t.Run(description, func(t *testing.T) {
			out, lines, signals, devErr, _, _ := startPluginDev(t)
			out.waitForWords("messages> ")
			endDev(lines, signals)
			if err := <-devErr; err != nil {
				t.Errorf("plugin dev ended with %v", err)
			}
		})
	}
}
