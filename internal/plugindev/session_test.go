package plugindev

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/internal/author"
	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/jsbuild"
	"opentabs/internal/pluginlog"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/wire"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "__extract" {
		os.Exit(jsbuild.Extract(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// Without GORACE=atexit_sleep_ms=0, a program built with -race sleeps for a second before it exits.
func childBuildOptions() jsbuild.Options {
	argv := []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", os.Args[0], "__extract"}
	if runtime.GOOS == "windows" {
		argv = argv[2:]
	}
	return jsbuild.Options{Extract: argv, ExtractTimeout: 10 * time.Minute}
}

type recordedScreen struct {
	mu          sync.Mutex // guards screenText
	screenText  strings.Builder
	changedCond *sync.Cond
}

func newScreen() *recordedScreen {
	s := &recordedScreen{}
	s.changedCond = sync.NewCond(&s.mu)
	return s
}

func (s *recordedScreen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changedCond.Broadcast()
	return s.screenText.Write(p)
}

func (s *recordedScreen) waitForText(wantText string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if _, remainingOutput, ok := strings.Cut(s.screenText.String(), wantText); ok {
			s.screenText.Reset()
			s.screenText.WriteString(remainingOutput)
			return
		}
		s.changedCond.Wait()
	}
}

func (s *recordedScreen) output() *terminal.Output {
	return terminal.New(s, s, func(string) string { return "" })
}

func createPlugin(t *testing.T) string {
	t.Helper()
	result, err := author.Create(author.CreateOptions{Name: "tickets", Dir: t.TempDir(), Domain: "tickets.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return result.Dir
}

type devServer struct {
	home       *home.Home
	log        *pluginlog.Log
	currentAPI atomic.Pointer[httpapi.API]
	dir        atomic.Value // dir is the folder of the plugin under development
}

func newDevServer(t *testing.T) *devServer {
	t.Helper()
	dir := t.TempDir()
	s := &devServer{log: pluginlog.Open(t.TempDir(), pluginlog.Options{Log: zerolog.Nop()})}
	t.Cleanup(s.log.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.currentAPI.Load().ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	port := server.Listener.Addr().(*net.TCPAddr).Port
	s.home = home.New(config.Dirs{Config: dir, State: dir}, config.Settings{Port: port}, func(string) string { return "" }, func(warning string) { t.Log(warning) })
	s.restart(t)
	t.Cleanup(func() { _ = s.currentAPI.Load().Shutdown(context.Background()) })
	return s
}

func (s *devServer) restart(t *testing.T) {
	t.Helper()
	token, err := s.home.Token()
	if err != nil {
		t.Fatal(err)
	}
	oldAPI := s.currentAPI.Swap(httpapi.New(httpapi.Options{
		Calls: dispatch.New(&dispatchtest.Bridge{}, dispatch.Options{}),
		Token: token, Health: httpapi.Health{OK: true, Version: "1", PID: os.Getpid()},
		Reload: func() error { return nil }, Status: s.status, Logs: s.log,
		StartDevelopment: func(dir string, permission wire.Permission) (func(), error) {
			if permission != wire.PermissionAsk {
				return nil, errors.New("the permission is " + string(permission))
			}
			s.dir.Store(dir)
			return func() {}, nil
		},
	}))
	if oldAPI != nil {
		if err := oldAPI.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *devServer) status() httpapi.Status {
	dir, _ := s.dir.Load().(string)
	one, err := plugin.Load(dir)
	if err != nil {
		return httpapi.Status{Failed: []httpapi.FailedPlugin{{Path: dir, Error: err.Error()}}}
	}
	isReady := true
	tab := wire.TabInfo{TabID: 7, URL: "https://tickets.example.com/", Plugins: []wire.TabPlugin{{Name: one.Name, Hash: one.Hash, IsReady: &isReady}}}
	return httpapi.Status{Browsers: []httpapi.Browser{{Name: "Work", Connected: true, Tabs: []wire.TabInfo{tab}}}}
}

type testDeveloper struct {
	*recordedScreen
	lines      chan string
	signals    chan os.Signal
	callErrors chan error
}

func startDeveloper(t *testing.T, s *devServer, dir string, call func(context.Context, Call)) testDeveloper {
	t.Helper()
	d := testDeveloper{newScreen(), make(chan string), make(chan os.Signal), make(chan error, 1)}
	o := Options{
		Home: s.home, Source: dir, Permission: wire.PermissionAsk, Out: d.output(), Build: childBuildOptions(),
		Signals: d.signals, Lines: d.lines, Call: call,
	}
	go func() { d.callErrors <- Run(t.Context(), o) }()
	return d
}

func (d testDeveloper) typeLineAndWait(line, wantedText string) {
	d.lines <- line
	d.waitForText(wantedText)
}

func TestSession(t *testing.T) {
	s := newDevServer(t)
	calls := make(chan Call)
	d := startDeveloper(t, s, createPlugin(t), func(ctx context.Context, c Call) {
		calls <- c
		if c.Tool == "tickets__read_titles" {
			<-ctx.Done()
		}
	})
	d.waitForText("built tickets 0.1.0, 2 tools, in ")
	d.waitForText("live in 1 tab after ")
	d.waitForText("waiting for changes in ")
	d.waitForText("tickets> ")
	d.typeLineAndWait("", "tickets> ")
	d.typeLineAndWait("help", "quit                     end; Ctrl-C stops a call that runs")
	d.typeLineAndWait("tools", "read_titles")
	d.typeLineAndWait("tabs", "7  ready  Work  https://tickets.example.com/")
	d.typeLineAndWait("read_title", "there is no tool \"read_title\" (did you mean read_titles?)")
	d.typeLineAndWait("describe_page a='x", "the ' is not closed")
	for line, want := range map[string]Call{
		`describe_page {"a": 1}`:         {Tool: "tickets__describe_page", JSON: `{"a": 1}`},
		"call describe_page a=1 b='c d'": {Tool: "tickets__describe_page", Words: []string{"a=1", "b=c d"}},
		"tickets__describe_page":         {Tool: "tickets__describe_page"},
	} {
		d.lines <- line
		if got := <-calls; got.Tool != want.Tool || got.JSON != want.JSON || !slices.Equal(got.Words, want.Words) {
			t.Errorf("the line %q called %+v, want the tool and the arguments in the line", line, got)
		}
	}
	d.typeLineAndWait("reload", "live in 1 tab after ")

	// If a call is running, Ctrl-C stops the call, not the session.
	d.lines <- "read_titles"
	<-calls
	d.signals <- os.Interrupt
	d.typeLineAndWait("", "tickets> ")
	s.log.Add("b1", wire.PluginLogParams{TabID: 7, Plugin: "tickets", Entries: []wire.LogEntry{{Level: wire.LogWarning, Message: "careful"}}})
	d.waitForText("warning careful")
	s.restart(t)
	d.waitForText("the server stopped; waiting for another")
	d.waitForText("another server has loaded the plugin")
	d.lines <- "quit"
	d.waitForText("the last build of tickets stays in use; it counts as reviewed by you")
	if err := <-d.callErrors; err != nil {
		t.Error(err)
	}
}

func TestSessionBeforeFirstBuild(t *testing.T) {
	dir := createPlugin(t)
	entry := filepath.Join(dir, "src", "index.ts")
	validManifest, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	writeManifest := func(manifest []byte) {
		if err := os.WriteFile(entry, manifest, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	writeManifest([]byte("export default {"))
	callStarted := make(chan struct{})
	d := startDeveloper(t, newDevServer(t), dir, func(ctx context.Context, _ Call) {
		close(callStarted)
		<-ctx.Done()
	})
	d.waitForText("error: src/index.ts:1:")
	d.waitForText("waiting for changes in ")
	d.typeLineAndWait("tools", "there is no build yet")
	d.typeLineAndWait("tabs", "no server has loaded the plugin")
	d.typeLineAndWait("describe_page", "there is no build yet")
	writeManifest(validManifest)
	d.waitForText("src/index.ts changed")
	d.waitForText("live in 1 tab after ")
	d.lines <- "describe_page"
	<-callStarted
	d.signals <- syscall.SIGTERM
	if err := <-d.callErrors; err != nil {
		t.Error(err)
	}
}

func TestSessionWithoutPluginFails(t *testing.T) {
	d := startDeveloper(t, newDevServer(t), t.TempDir(), nil)
	var failedBuildError *jsbuild.BuildError
	if err := <-d.callErrors; !errors.As(err, &failedBuildError) {
		t.Errorf("error of a session without a plugin = %v, want a failed build", err)
	}
}

func TestWatch(t *testing.T) {
	s := newScreen()
	if err := Watch(t.Context(), t.TempDir(), s.output(), childBuildOptions(), nil); !errors.Is(err, ErrNoPlugin) {
		t.Errorf("Watch of a folder without a plugin returned %v, want ErrNoPlugin", err)
	}
	dir := createPlugin(t)
	ctx, stop := context.WithCancel(t.Context())
	callErrors := make(chan error, 1)
	go func() { callErrors <- Watch(ctx, dir, s.output(), childBuildOptions(), nil) }()
	s.waitForText("built tickets 0.1.0, 2 tools, in ")
	s.waitForText("waiting for changes in ")
	if err := os.WriteFile(filepath.Join(dir, "src", "index.ts"), []byte("export default {"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.waitForText("src/index.ts changed")
	s.waitForText("error: src/index.ts:1:")
	stop()
	if err := <-callErrors; err != nil {
		t.Error(err)
	}
}

func TestFormatFileList(t *testing.T) {
	for n, want := range map[int]string{1: "a", 3: "a, b, c", 4: "a, b, c and 1 other file", 5: "a, b, c and 2 other files"} {
		if got := formatFileList([]string{"a", "b", "c", "d", "e"}[:n]); got != want {
			t.Errorf("formatFileList of %d files = %q; want %v", n, got, want)
		}
	}
}

func TestReadLines(t *testing.T) {
	var lines []string
	for line := range ReadLines(strings.NewReader("one\n\ntwo")) {
		lines = append(lines, line)
	}
	if !slices.Equal(lines, []string{"one", "", "two"}) {
		t.Errorf("lines = %q, want \"one\", an empty line and \"two\"", lines)
	}
}
