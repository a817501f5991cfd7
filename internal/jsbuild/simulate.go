package jsbuild

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"opentabs/internal/lazyregexp"
)

// The tests of a plugin run in QuickJS, each file in a separate process. A simulated page has a virtual clock, so that
// minutes of waiting pass at once.

const (
	simulateMemoryBytes = 512 << 20
	defaultTestTimeout  = 60 * time.Second
)

// rejectionTrackerScript is a JavaScript file that finds rejected promises whose rejection no code handles.
//
//go:embed rejections.js
var rejectionTrackerScript string

// TestOptions configure [RunTests]. If a field of TestOptions has its zero value, the
// field's default applies.
type TestOptions struct {
	// Simulate is the command line that runs [Simulate]. The default command line is the
	// running program with the argument "__simulate".
	Simulate []string
	// Filter is a JavaScript regular expression for the names of tests. Only tests whose
	// name matches Filter run. By default, all tests run.
	Filter string
	// Timeout limits the real time of one test. If a test in a simulated page exceeds
	// Timeout, all tests in the file end. The default of the field Timeout is 60 s.
	Timeout time.Duration
	// Browser is a real browser that opens the pages of the tests. In a real browser, a
	// test that runs longer than Timeout fails, and the next test runs. By default,
	// RunTests uses simulated pages.
	Browser TestBrowser
}

// TestBrowser is a real browser for the tests of plugins. Only one test file at a time
// uses a TestBrowser.
type TestBrowser interface {
	// Do performs one operation of a test in the browser and returns its result as JSON.
	// Concurrent calls of Do are possible. If Do fails, the test's script receives the error.
	Do(ctx context.Context, description string, params json.RawMessage) (json.RawMessage, error)
	// SetResponder sets the function that responds to the HTTP requests of pages. This function
	// blocks until the test has responded or ctx is done. SetResponder(nil) is called after the
	// last test in a file.
	SetResponder(responder func(ctx context.Context, request any) (json.RawMessage, error))
}

// TestFile is one file with tests of a plugin.
type TestFile struct {
	// Name is the slash-separated path of the test file relative to the plugin's directory.
	Name string
	// UsesNode is true if the file imports Node's test runner.
	UsesNode bool
}

var nodeTestImport = lazyregexp.New(`(?m)^\s*import\b[^;]*['"]node:test['"]`)

// FindTests returns the test files of the plugin in dir, sorted by directory and name.
// The names of test files end in .test.ts or .test.tsx. FindTests searches the folders
// src, test and tests.
func FindTests(dir string) ([]TestFile, error) {
	var files []TestFile
	for _, folder := range []string{"src", "test", "tests"} {
		err := filepath.WalkDir(filepath.Join(dir, folder), func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "node_modules":
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(d.Name(), ".test.ts") && !strings.HasSuffix(d.Name(), ".test.tsx"):
				return nil
			}
			fileContent, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(dir, path)
			files = append(files, TestFile{Name: filepath.ToSlash(name), UsesNode: nodeTestImport().Match(fileContent)})
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("find the tests: %w", err)
		}
	}
	return files, nil
}

// TestEvent is one event of a test run, such as the end of a test.
type TestEvent struct {
	// The field Op is the kind of event. The test event "skipped" means that the test cannot run in a real
	// browser; "done" follows the last test.
	Op string `json:"op"`
	// Test is the name of the test.
	Test string `json:"test,omitempty"`
	// Error is why the test failed or was skipped; empty if the test passed.
	Error string `json:"error,omitempty"`
	// The field Location is the location of the error in the plugin's source, as
	// file:line:column. The field Location may be empty.
	Location string `json:"where,omitempty"`
	// VirtualMs is the time on the virtual clock of the simulated page, in milliseconds
	// since the test run started.
	VirtualMs float64 `json:"virtualMs"`
	// Tests is the number of tests in the file. The field Tests is 0 in all events except
	// "done".
	Tests int `json:"tests,omitempty"`

	// FailedCalls are the calls in a failed test whose tool threw an error.
	FailedCalls []FailedCall `json:"failedCalls,omitempty"`
	// The field Hints contains sentences of advice for the author about the calls of a
	// failed test.
	Hints []string `json:"hints,omitempty"`

	Stack string `json:"stack,omitempty"`
}

// FailedCall is a call in a plugin's test whose tool threw an error.
type FailedCall struct {
	Tool    string `json:"tool"`
	Message string `json:"message"`
	// The field Location is the location of the error in the plugin's source, as
	// file:line:column. The field Location is empty if the location is unknown.
	Location string `json:"where,omitempty"`

	Stack string `json:"stack,omitempty"`
}

// RunTests runs all tests in one test file of the plugin in dir. RunTests calls report
// once for each event of the test run, in order; the last event is "done". If the test
// file does not compile, or if a test exceeds the limits of time or memory, RunTests
// returns a *[BuildError].
func RunTests(ctx context.Context, dir string, file TestFile, o TestOptions, report func(TestEvent)) error {
	pluginSource, problems, err := readSource(dir)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return &BuildError{Dir: pluginSource.Dir, Problems: problems}
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTestTimeout
	}
	bundled, err := bundlePluginScript(testScript(file.Name, o), findZod(pluginSource.Dir), nil)
	if err != nil {
		return addTestHint(err)
	}
	argv := o.Simulate
	if len(argv) == 0 {
		executable, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
		argv = []string{executable, "__simulate"}
	}
	fileTests := simulation{dir: pluginSource.Dir, file: file.Name, bundled: bundled, argv: argv, timeout: o.Timeout, report: report}
	if o.Browser != nil {
		fileTests.timeout += browserTestGrace
		fileTests.browserTests = newBrowserTests(o.Browser)
	}
	return runSimulation(ctx, fileTests)
}

func testScript(file string, o TestOptions) script {
	browserTimeoutMs := int64(0)
	if o.Browser != nil {
		browserTimeoutMs = max(o.Timeout.Milliseconds(), 1)
	}
	compileTimeConstants := map[string]string{"OPENTABS_TEST_FILTER": quoteJS(o.Filter), "OPENTABS_TEST_REAL_MS": strconv.FormatInt(browserTimeoutMs, 10)}
	return script{banner: licenseNotice + "\n", entryModule: file, compileTimeConstants: compileTimeConstants, entry: fmt.Sprintf(`import "@opentabs/sdk/simulator/start.ts";
import "@opentabs/sdk/runtime/jitless.ts";
import "@opentabs/sdk/runtime/platform.ts";
import %s;
`, quoteJS("./"+file))}
}

// addTestHint adds advice to an error about an import of a Node module such as "node:test".
func addTestHint(err error) error {
	var buildErr *BuildError
	if !errors.As(err, &buildErr) {
		return err
	}
	for i, p := range buildErr.Problems {
		if strings.Contains(p.Text, `"node:`) {
			buildErr.Problems[i].Text += "; tests do not run in Node: use expect from @opentabs/sdk/testing"
		}
	}
	return buildErr
}

// The type simulation describes one run of a plugin's test file.
type simulation struct {
	dir, file    string
	bundled      bundledScript
	argv         []string
	timeout      time.Duration
	report       func(TestEvent)
	browserTests *browserTests
}

func runSimulation(ctx context.Context, s simulation) error {
	workDir, err := os.MkdirTemp("", "opentabs-test-")
	if err != nil {
		return fmt.Errorf("make a directory to run the tests in: %w", err)
	}
	defer os.RemoveAll(workDir)
	fileCtx := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.Dir = workDir
	cmd.Env = []string{} // a nil Env would pass on the parent's environment
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("run the tests: %w", err)
	}
	stderr := &cappedBuffer{max: 4 << 10}
	cmd.Stderr = stderr
	cmd.WaitDelay = extractKillDelay
	stdoutReader, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("run the tests: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run the tests in a child process (%s): %w", strings.Join(s.argv, " "), err)
	}
	lines := &lineWriter{w: in}
	lines.beginTests(string(s.bundled.Code))
	if s.browserTests != nil {
		defer s.browserTests.beginTests(ctx, lines)()
	}
	timer := time.AfterFunc(max(s.timeout, defaultTestTimeout), stop) // at first, timer limits the time to load the modules of the tests
	defer timer.Stop()
	state := s.readEvents(stdoutReader, func() { timer.Reset(s.timeout) })
	_ = in.Close()
	exitErr := cmd.Wait()
	switch {
	case state.done:
		return nil
	case fileCtx.Err() != nil:
		return fileCtx.Err()
	case state.scriptError != "":
		return s.newProblem(s.bundled.sourceLocation(state.stack), state.scriptError)
	case ctx.Err() != nil && context.Cause(ctx) == context.Canceled && state.runningTest != "":
		return s.newProblem("", fmt.Sprintf("%q did not end within %v of real time; look for an endless loop", state.runningTest, s.timeout))
	case exitErr != nil && state.runningTest != "":
		return s.newProblem("", fmt.Sprintf("%q crashed the engine, which may use up to %d MB; look for data that grows without a limit", state.runningTest, simulateMemoryBytes>>20))
	}
	firstLine, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	return s.newProblem("", "the modules of the tests did not load within the limits of time and memory: "+firstLine)
}

func (s simulation) newProblem(locationText, problemText string) error {
	if locationText == "" {
		locationText = s.file
	}
	return &BuildError{Dir: s.dir, Problems: []Problem{{Location: locationText, Text: problemText}}}
}

// runState is the progress of a test run in the child process. Each event of the child
// process updates the runState.
type runState struct {
	done        bool
	runningTest string
	scriptError string
	stack       string
}

func (s simulation) readEvents(stdoutReader io.Reader, resetTimer func()) (state runState) {
	lines := bufio.NewScanner(stdoutReader)
	lines.Buffer(nil, maxExtractedBytes)
	for lines.Scan() {
		var event TestEvent
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			continue
		}
		resetTimer()
		switch event.Op {
		case "begin":
			state.runningTest = event.Test
		case "end", "skipped":
			state.runningTest = ""
			event.Location = s.bundled.sourceLocation(event.Stack)
			for i, call := range event.FailedCalls {
				event.FailedCalls[i].Location, event.FailedCalls[i].Stack = s.bundled.sourceLocation(call.Stack), ""
			}
		case "done":
			state.done = true
		case "broken":
			state.scriptError, state.stack = event.Error, event.Stack
			continue
		case "ask", "answer":
			if s.browserTests != nil {
				s.browserTests.handleLine(lines.Bytes())
			}
			continue
		}
		event.Stack = ""
		s.report(event)
	}
	return state
}
