package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/jsbuild"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/wire"
)

// said is what a command has written so far, on both streams.
type said struct {
	t     *testing.T
	wrote chan struct{} // has a word when something was written

	mu   sync.Mutex // guards text and read
	text bytes.Buffer
	read int // how much of it was waited for
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	select {
	case s.wrote <- struct{}{}:
	default:
	}
	return len(p), nil
}

// until waits for words, in this order, in what was not waited for yet.
func (s *said) until(words ...string) {
	s.t.Helper()
	deadline := time.After(hangs)
	for _, word := range words {
		for {
			s.mu.Lock()
			at := strings.Index(s.text.String()[s.read:], word)
			if at >= 0 {
				s.read += at + len(word)
			}
			s.mu.Unlock()
			if at >= 0 {
				break
			}
			select {
			case <-s.wrote:
			case <-deadline:
				s.t.Fatalf("it never said %q; all it said: %s", word, s.text.String())
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

// startDeveloper starts a server with a browser, and develops the plugin messages.
func startDeveloper(t *testing.T) (out *said, lines chan<- string, signals chan<- os.Signal, ended <-chan error, dirs config.Dirs, source string) {
	t.Helper()
	dirs = installation(t)
	source = filepath.Join(filepath.Dir(dirs.State), "messages")
	if err := os.MkdirAll(filepath.Join(source, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(source, "src", "index.ts"), []byte(devSource), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := opentabs(t, dirs, "serve").Start(); err != nil {
		t.Fatal(err)
	}
	startBrowser(t, dirs)
	untilStatus(t, dirs, hasTab)
	self, err := exec.LookPath("opentabs")
	if err != nil {
		t.Fatal(err)
	}
	out = &said{t: t, wrote: make(chan struct{}, 1)}
	getenv := func(name string) string {
		if name == config.HomeVariable {
			return dirs.State
		}
		return ""
	}
	p := &program{out: terminal.New(out, out, getenv), getenv: getenv}
	h, err := p.load(dirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	typed, interrupts, over := make(chan string), make(chan os.Signal, 1), make(chan error, 1)
	d := &developer{
		program: p, source: source, permission: wire.PermissionAuto,
		home: h, options: jsbuild.Options{Extract: []string{self, "__extract"}},
		signals: interrupts, lines: typed, heard: make(chan func()), changes: make(chan []string),
	}
	go func() { over <- d.run(t.Context()) }()
	return out, typed, interrupts, over, dirs, source
}

func isRunning(s httpapi.Status) bool { return s.Calls.Running == 1 }

func TestDevPrompt(t *testing.T) {
	out, lines, signals, ended, dirs, source := startDeveloper(t)
	out.until("built messages 1.0.0, 3 tools", "waiting for changes", "messages> ")
	untilStatus(t, dirs, hasTab) // the tab of the former build has gone
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
		out.until(c.want, "messages> ")
	}
	// Ctrl-C stops the call that runs, and a change is taken in meanwhile.
	lines <- "silent"
	untilStatus(t, dirs, isRunning)
	if err := os.WriteFile(filepath.Join(source, "src", "index.ts"), []byte(strings.Replace(devSource, ", tool('quit')", "", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	out.until("built messages 1.0.0, 2 tools")
	signals <- os.Interrupt
	out.until("the call was cancelled", "messages> ")
	// Without a call it ends.
	signals <- os.Interrupt
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	out.until("messages stays as it was built last")
}

func TestDevTellsHowTabsStand(t *testing.T) {
	yes, no := true, false
	one := &plugin.Plugin{Name: "a", Hash: "new", Dir: "/a"}
	tab := func(id int, hash string, ready *bool, reload ...string) wire.TabInfo {
		return wire.TabInfo{TabID: id, URL: "u", Plugins: []wire.TabPlugin{{Name: "b", Hash: "new"}, {Name: "a", Hash: hash, Ready: ready}}, NeedsReload: reload}
	}
	for _, c := range []struct {
		what     string
		browsers []httpapi.Browser
		settled  bool
		late     bool
		says     string
	}{
		{"no browser", nil, true, false, "no browser is connected"},
		{"one that has gone", []httpapi.Browser{{Name: "B"}}, true, false, "no browser is connected"},
		{"no tab", []httpapi.Browser{{Connected: true}}, true, false, "no tab of it is open"},
		{"only other plugins'", []httpapi.Browser{{Connected: true, Tabs: []wire.TabInfo{{TabID: 1, Plugins: []wire.TabPlugin{{Name: "b"}}}}}}, true, false, "no tab of it is open"},
		{"a document is loading", []httpapi.Browser{{Connected: true, Tabs: []wire.TabInfo{{TabID: 1, URL: "u", Loading: []string{"a"}}}}}, false, true, "tab 1 (u) in  has not taken it"},
		{"live", []httpapi.Browser{{Connected: true, Tabs: []wire.TabInfo{tab(1, "new", &yes), tab(2, "new", &no)}}}, true, false, "live in 2 tabs after 1.0s\n"},
		{"one is not yet", []httpapi.Browser{{Connected: true, Tabs: []wire.TabInfo{tab(1, "new", nil), tab(2, "old", nil)}}}, false, true,
			"live in 1 tab after 1.0s\nopentabs: tab 2 (u) in  has not taken it; reload it\n"},
		{"one can't", []httpapi.Browser{{Connected: true, Name: "B", Tabs: []wire.TabInfo{tab(3, "old", nil, "a")}}}, true, false,
			"reload tab 3 (u) in B to use it there\n"},
	} {
		tabs := tabsOf(httpapi.Status{Browsers: c.browsers}, one)
		out := &said{t: t, wrote: make(chan struct{}, 1)}
		d := &developer{program: &program{out: terminal.New(out, out, os.Getenv)}, added: one}
		d.noteTabs(tabs, c.late, time.Second)
		if tabs.settled(false) != c.settled || tabs.settled(true) != (len(tabs.old) == 0) || !strings.HasPrefix(out.text.String(), "opentabs: "+c.says) {
			t.Errorf("%s: settled %t, %q", c.what, tabs.settled(false), out.text.String())
		}
	}
}

func TestDevTellsWhyNoTabHasIt(t *testing.T) {
	one := &plugin.Plugin{Name: "a", Dir: "/a"}
	for _, c := range []struct {
		status httpapi.Status
		want   string
	}{
		{httpapi.Status{Plugins: []httpapi.Plugin{{Name: "a", Dir: "/a", Permission: "ask"}}}, ""},
		{httpapi.Status{Plugins: []httpapi.Plugin{{Name: "a", Dir: "/a", Permission: "off"}}}, "opentabs plugin permission a auto"},
		{httpapi.Status{Plugins: []httpapi.Plugin{{Name: "a", Dir: "/other"}}}, "opentabs plugin remove a"},
		{httpapi.Status{Failed: []httpapi.FailedPlugin{{Path: "/a", Error: "it is broken"}}}, "it is broken"},
		{httpapi.Status{Failed: []httpapi.FailedPlugin{{Path: "/b", Error: "it is broken"}}}, ""},
	} {
		if got := standingOf(c.status, one); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: got %q", c.status, got)
		}
	}
}

func TestDevEnds(t *testing.T) {
	for how, end := range map[string]func(lines chan<- string, signals chan<- os.Signal){
		"quit":           func(lines chan<- string, _ chan<- os.Signal) { lines <- "quit" },
		"the end of it":  func(lines chan<- string, _ chan<- os.Signal) { close(lines) },
		"SIGTERM in one": func(lines chan<- string, signals chan<- os.Signal) { lines <- "silent"; signals <- syscall.SIGTERM },
	} {
		t.Run(how, func(t *testing.T) {
			out, lines, signals, ended, _, _ := startDeveloper(t)
			out.until("messages> ")
			end(lines, signals)
			if err := <-ended; err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                     nil,
		"  a=1\tb=2 ":          {"a=1", "b=2"},
		`a="b c" 'd e'=f ''`:   {"a=b c", "d e=f", ""},
		`say="it's" x='a "b"'`: {"say=it's", `x=a "b"`},
		`list=[1,2] text=a\b`:  {"list=[1,2]", `text=a\b`},
	} {
		if got, err := splitWords(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v; want %q", line, got, err, want)
		}
	}
	for _, line := range []string{`a="b`, `'`} {
		if got, err := splitWords(line); err == nil {
			t.Errorf("%q: got %q", line, got)
		}
	}
}
