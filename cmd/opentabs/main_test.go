package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"opentabs/extension"
	"opentabs/internal/cli"
	"opentabs/internal/config"
	"opentabs/internal/freeport"
	"opentabs/internal/terminal"
	"opentabs/wire"
	"opentabs/wsbridge/wsbridgetest"
)

const hangTimeout = 2 * time.Minute

// GORACE=atexit_sleep_ms=0 turns off the race detector's pause of 1 s before a process exits.
const raceDetectorOptions = "atexit_sleep_ms=0"

// unreachableRegistry is an npm registry URL where no server listens, so that tests use
// no public registry.
const unreachableRegistry = "http://127.0.0.1:1/"

func TestMain(m *testing.M) {
	for name, value := range map[string]string{"GORACE": raceDetectorOptions, "npm_config_registry": unreachableRegistry} {
		if _, isSet := os.LookupEnv(name); isSet { // a script that runs the test binary as a program has set the variable
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	runTests(m, map[string]func(){
		"fakebrowser": runFakeBrowser,
		"squatter":    runPortSquatter,
		"npmregistry": runNPMRegistry,
		"mcppost":     runMCPPost,
		"releases":    runReleaseServer,
	})
}

// portSquatterResponses contains what runPortSquatter sends. runPortSquatter simulates another program on the server's port. For an unknown argument, it accepts
// connections, sends nothing and keeps the connections open.
var portSquatterResponses = map[string]string{
	"garbage": strings.Repeat("\x00\xff garbage\n", 10000),
	"http":    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>",
	"liar":    "HTTP/1.1 200 OK\r\nContent-Length: 62\r\n\r\n" + `{"ok":true,"version":"9.9.9","pid":1,"proof":"0000000000000000"}`[:62],
}

func runPortSquatter() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil && len(os.Args) > 1 {
		go answerAsPortSquatter(l, portSquatterResponses[os.Args[1]])
	}
	if err == nil {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		err = os.WriteFile("port", []byte(port), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	<-ctx.Done()
	_ = l.Close() // without this use of l, the garbage collector would close the listener earlier
}

func answerAsPortSquatter(l net.Listener, response string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			// The program reads the request first, because closing a connection with unread data can lose the response.
			if _, err := conn.Read(make([]byte, 4<<10)); err == nil {
				_, _ = conn.Write([]byte(response))
			}
		}()
	}
}

// Each test script has a separate installation whose server uses any free port.
func TestCommandScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("OPENTABS_HOME", home)
			env.Setenv("OPENTABS_PORT", "0")
			// FREE_PORT is for scripts that need a fixed port.
			port, err := freeport.Find()
			if err != nil {
				return err
			}
			env.Setenv("FREE_PORT", strconv.Itoa(port))
			env.Setenv("GORACE", raceDetectorOptions)
			env.Setenv("npm_config_registry", unreachableRegistry)
			// BIN is the folder with the programs of TestMain, for scripts whose PATH
			// contains only this folder.
			bin, err := exec.LookPath("opentabs")
			if err != nil {
				return err
			}
			env.Setenv("BIN", filepath.Dir(bin))
			env.Defer(func() { killProcesses(config.Dirs{Config: home, State: home}) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"until":      repeatUntilCmd,
			"empty":      checkEmptyDirCmd,
			"killserver": killServerCmd,
			"endall":     killProcessesCmd,
			"mode":       checkModeCmd,
			"json":       checkJSONCmd,
			"jsonlines":  checkJSONLinesCmd,
		},
		RequireExplicitExec: true,
	})
}

func checkEmptyDirCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage of the script command: empty DIR")
	}
	dirEntries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, e := range dirEntries {
		ts.Fatalf("the folder %s contains %s, want an empty folder", args[0], e.Name())
	}
}

// Between two runs, repeatUntilCmd pauses for three times the duration of the last run, so that parallel scripts get
// CPU time.
func repeatUntilCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage of the script command: until REGEXP PROGRAM ARGS...")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	deadline := time.After(hangTimeout)
	hangTicker := time.NewTicker(hangTimeout)
	defer hangTicker.Stop()
	for {
		startTime := time.Now()
		// repeatUntilCmd ignores the exit code of the program, because the expected output may be
		// an error message.
		_ = ts.Exec(args[1], args[2:]...)
		outputText := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		if want.MatchString(outputText) {
			return
		}
		hangTicker.Reset(3 * time.Since(startTime))
		select {
		case <-deadline:
			ts.Fatalf("%v did not print a text that matches %q within the time limit; last output: %s", args[1:], args[0], outputText)
		case <-hangTicker.C:
		}
	}
}

func killServerCmd(ts *testscript.TestScript, _ bool, _ []string) {
	home := ts.Getenv("OPENTABS_HOME")
	if !killServer(config.Dirs{Config: home, State: home}) {
		ts.Fatalf("found no server to kill, want a running server")
	}
}

func killProcessesCmd(ts *testscript.TestScript, _ bool, _ []string) {
	home := ts.Getenv("OPENTABS_HOME")
	killProcesses(config.Dirs{Config: home, State: home})
}

func killServer(dirs config.Dirs) bool {
	record, ok := dirs.ReadServer()
	if !ok || record.PID == os.Getpid() {
		return false
	}
	return syscall.Kill(record.PID, syscall.SIGKILL) == nil && hasServerEnded(dirs, record)
}

// The kernel accepts connections for a killed process until the last thread of the process has ended. A client may start
// the next server on the same port.
func hasServerEnded(dirs config.Dirs, killed config.Server) bool {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(hangTimeout); time.Now().Before(deadline); <-ticker.C {
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(killed.Port)))
		if err != nil {
			return true
		}
		_ = conn.Close()
		if record, ok := dirs.ReadServer(); ok && record.PID != killed.PID {
			return true
		}
	}
	return false
}

// On systems without /proc, killProcesses kills only the running server.
func killProcesses(dirs config.Dirs) {
	homeAssignment := []byte("\x00" + config.HomeVariable + "=" + dirs.State + "\x00")
	for range 100 {
		killServer(dirs)
		hasKilledProcess := false
		environFiles, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, name := range environFiles {
			fileContent, err := os.ReadFile(name)
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err == nil && pid != os.Getpid() && bytes.Contains(append([]byte{0}, fileContent...), homeAssignment) {
				hasKilledProcess = syscall.Kill(pid, syscall.SIGKILL) == nil || hasKilledProcess
			}
		}
		if !hasKilledProcess {
			return
		}
	}
}

func checkModeCmd(ts *testscript.TestScript, _ bool, args []string) {
	fileInfo, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", fileInfo.Mode().Perm()); got != args[0] {
		ts.Fatalf("mode of %s = %s, want %s", args[1], got, args[0])
	}
}

// If FAKE_BROWSER_CODE is not set, the simulated browser uses the key of the installation.
const pairingCodeVariable = "FAKE_BROWSER_CODE"

// The arguments of runFakeBrowser are the ID and the name of the simulated browser.
func runFakeBrowser() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	home := os.Getenv("OPENTABS_HOME")
	dirs := config.Dirs{Config: home, State: home}
	for ctx.Err() == nil {
		if b, err := connectFakeBrowser(ctx, dirs); err == nil {
			_ = b.Run(ctx)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// Without an open page of the plugin, the test's calls would fail before the server asks for approval.
func startFakeBrowser(t *testing.T, dirs config.Dirs) {
	t.Helper()
	b, err := connectFakeBrowser(t.Context(), dirs)
	if err != nil {
		t.Fatal(err)
	}
	hasEnded := make(chan struct{})
	go func() {
		defer close(hasEnded)
		_ = b.Run(t.Context()) // Run ends with the test or with the server
	}()
	t.Cleanup(func() { <-hasEnded })
}

func connectFakeBrowser(ctx context.Context, dirs config.Dirs) (*wsbridgetest.Browser, error) {
	server, ok := dirs.ReadServer()
	if !ok {
		return nil, errors.New("no server yet")
	}
	token, err := dirs.Token()
	if err != nil {
		return nil, err
	}
	key, keyID := config.BrowserKey(token), ""
	if code := os.Getenv(pairingCodeVariable); code != "" {
		key = wire.PairingKey(code)
		keyID = wire.KeyID(key)
	}
	var id, name string
	if len(os.Args) > 2 {
		id, name = os.Args[1], os.Args[2]
	}
	return wsbridgetest.Connect(ctx, wsbridgetest.Options{
		ID: id, Name: name,
		URL: fmt.Sprintf("ws://127.0.0.1:%d/ws", server.Port),
		Key: key, KeyID: keyID, Origin: "chrome-extension://" + extension.ID(),
		Tools: map[string]wsbridgetest.Tool{
			"messages__echo": func(_ context.Context, c *wsbridgetest.Call) (json.RawMessage, *wire.CallError) {
				return c.Args, nil
			},
			"messages__return": func(_ context.Context, c *wsbridgetest.Call) (json.RawMessage, *wire.CallError) {
				var args struct{ Value json.RawMessage }
				if err := json.Unmarshal(c.Args, &args); err != nil {
					return nil, &wire.CallError{Code: wire.ErrInternal, Message: err.Error()}
				}
				return args.Value, nil
			},
			"messages__countdown": countDown,
			"messages__silent":    waitUntilCancelled,
			"messages__draw":      reportActivities,
			"messages__login":     waitForLogin,
			"messages__note":      logArguments,
			"messages__outer":     callSilentTool,
			"messages__fail": func(_ context.Context, c *wsbridgetest.Call) (json.RawMessage, *wire.CallError) {
				var args struct{ Code wire.ErrorCode }
				if err := json.Unmarshal(c.Args, &args); err != nil {
					return nil, &wire.CallError{Code: wire.ErrInternal, Message: err.Error()}
				}
				return nil, &wire.CallError{Code: args.Code, Message: "failed on request\x1b[31m"}
			},
		},
	})
}

func countDown(ctx context.Context, c *wsbridgetest.Call) (json.RawMessage, *wire.CallError) {
	var args struct{ From float64 }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil, &wire.CallError{Code: wire.ErrInternal, Message: err.Error()}
	}
	for progressDone := 1.0; progressDone <= args.From; progressDone++ {
		progressReport := wire.Report{Progress: &progressDone, Total: &args.From, Message: fmt.Sprintf("step %v", progressDone), Audience: "user"}
		if err := c.Report(progressReport); err != nil {
			return nil, &wire.CallError{Code: wire.ErrInternal, Message: err.Error()}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, &wire.CallError{Code: wire.ErrToolError, Message: context.Cause(ctx).Error()}
		}
	}
	return json.RawMessage(`{"done":true}`), nil
}

func logArguments(_ context.Context, c *wsbridgetest.Call) (json.RawMessage, *wire.CallError) {
	var logEntry wire.LogEntry
	err := json.Unmarshal(c.Args, &logEntry)
	if err == nil {
		err = c.Log(logEntry)
	}
	if err != nil {
		return nil, &wire.CallError{Code: wire.ErrInternal, Message: err.Error()}
	}
	return json.RawMessage(`{}`), nil
}

func waitUntilCancelled(ctx context.Context, _ *wsbridgetest.Call) (json.RawMessage, *wire.CallError) {
	<-ctx.Done()
	return nil, &wire.CallError{Code: wire.ErrToolError, Message: context.Cause(ctx).Error()}
}

// TestEveryCommandHasAScript checks that each command is used in a test script.
func TestEveryCommandHasAScript(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found no test scripts, error %v; want at least one", err)
	}
	var scripts strings.Builder
	for _, file := range files {
		fileContent, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(fileContent)
	}
	root := newRootCmd(&cli.Program{Out: terminal.New(os.Stderr, os.Stderr, os.Getenv)})
	var checkScript func(path string)
	checkScript = func(path string) {
		cmd, _, err := root.Find(strings.Fields(path)[1:])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(scripts.String(), "exec "+path) && !strings.Contains(scripts.String(), "help "+cmd.Name()) {
			t.Errorf("no test script runs %q, want one for each command", path)
		}
		for _, subcommand := range cmd.Commands() {
			checkScript(path + " " + subcommand.Name())
		}
	}
	checkScript("opentabs")
}

func opentabsCommand(t *testing.T, dirs config.Dirs, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("opentabs", args...)
	cmd.Env = append(os.Environ(), "OPENTABS_HOME="+dirs.State, "OPENTABS_PORT=0")
	t.Cleanup(func() { killProcesses(dirs) })
	return cmd
}
