package jsbuild

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The tests of a plugin run in the engine that reads plugins too, each file in a
// process of its own, with a page that sdk-ts/src/simulator plays. Its clock is
// not that of the machine, so that minutes of waiting take no time.

const (
	// simulateMemoryBytes is what the tests of one file may allocate.
	simulateMemoryBytes = 512 << 20
	// defaultTestTimeout is how long a test may take of real time.
	defaultTestTimeout = 60 * time.Second
)

// TestOptions say how tests run. The zero value of each field means its default.
type TestOptions struct {
	// Simulate is the command that runs [Simulate]; the default is this program
	// with the argument "__simulate".
	Simulate []string
	// Filter is a regular expression that JavaScript understands: only tests whose
	// name matches run. Default: all.
	Filter string
	// Timeout is how long one test may take of real time, default 60 s. Beyond it
	// the tests of its file end.
	Timeout time.Duration
	// Real is a browser in which the pages of the tests are opened; the default is
	// to play them. It makes Timeout the time of the clock on the wall.
	Real Real
}

// Real is a real browser for tests. One file of tests uses it at a time.
type Real interface {
	// Ask does what a test wants of the browser and returns what it gets, as JSON.
	// Several may be asked at once. The error is told to the test.
	Ask(ctx context.Context, what string, params json.RawMessage) (json.RawMessage, error)
	// Serve names the function that answers the requests of pages; it waits for the
	// answer. Nil, at the end of a file, is for nobody.
	Serve(answer func(ctx context.Context, request any) (json.RawMessage, error))
}

// TestFile is a file of tests of a plugin.
type TestFile struct {
	// Name is relative to the plugin's directory, with slashes.
	Name string
	// Node says that the file is for Node's own test runner, which it imports.
	Node bool
}

// nodeTest finds the import of Node's test runner.
var nodeTest = regexp.MustCompile(`(?m)^\s*import\b[^;]*['"]node:test['"]`)

// FindTests returns the files of tests in the directory of a plugin: those that
// end in .test.ts or .test.tsx below src, test and tests, in their order.
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
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(dir, path)
			files = append(files, TestFile{Name: filepath.ToSlash(name), Node: nodeTest.Match(text)})
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("look for tests: %w", err)
		}
	}
	return files, nil
}

// TestNews is something that happened while tests ran.
type TestNews struct {
	// Op is "begin", "end", "skipped" or "done": a test begins, has ended, is
	// nothing for a real browser, all of the file have ended.
	Op string `json:"op"`
	// Test is the name of the test.
	Test string `json:"test,omitempty"`
	// Error is why it failed or was skipped; empty if it was not. Where is the place in the
	// plugin's source, as file:line:column; empty if it is not known.
	Error string `json:"error,omitempty"`
	Where string `json:"where,omitempty"`
	// VirtualMs is how much time passed in the page.
	VirtualMs float64 `json:"virtualMs"`
	// Tests is how many tests the file has, for "done".
	Tests int `json:"tests,omitempty"`

	Stack string `json:"stack,omitempty"`
}

// RunTests runs the tests of one file of the plugin in dir and hands tell what
// happens, in order; the last is "done". The error is a *[BuildError] if the file
// can't be built, or if a test takes too long or too much memory.
func RunTests(ctx context.Context, dir string, file TestFile, o TestOptions, tell func(TestNews)) error {
	src, problems, err := readSource(dir)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return &BuildError{Dir: src.Dir, Problems: problems}
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTestTimeout
	}
	made, err := bundle(testScript(file.Name, o), findZod(src.Dir), nil)
	if err != nil {
		return withTestHint(err)
	}
	argv := o.Simulate
	if len(argv) == 0 {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
		argv = []string{self, "__simulate"}
	}
	one := simulation{dir: src.Dir, file: file.Name, made: made, argv: argv, timeout: o.Timeout, tell: tell}
	if o.Real != nil {
		one.timeout += realGrace
		one.real = newRealTests(o.Real)
	}
	return runSimulation(ctx, one)
}

// testScript is what runs the tests of a file.
func testScript(file string, o TestOptions) script {
	real := int64(0)
	if o.Real != nil {
		real = max(o.Timeout.Milliseconds(), 1)
	}
	define := map[string]string{"OPENTABS_TEST_FILTER": quote(o.Filter), "OPENTABS_TEST_REAL_MS": strconv.FormatInt(real, 10)}
	return script{head: notice + "\n", define: define, entry: fmt.Sprintf(`import "@opentabs/sdk/simulator/start.ts";
import "@opentabs/sdk/runtime/jitless.ts";
import "@opentabs/sdk/runtime/platform.ts";
import %s;
`, quote("./"+file))}
}

// withTestHint says what to do about modules of Node.
func withTestHint(err error) error {
	var wrong *BuildError
	if !errors.As(err, &wrong) {
		return err
	}
	for i, p := range wrong.Problems {
		if strings.Contains(p.Text, `"node:`) {
			wrong.Problems[i].Text += "; there is no Node here: use expect of @opentabs/sdk/testing"
		}
	}
	return wrong
}

// simulation is one file whose tests run.
type simulation struct {
	dir, file string
	made      bundled
	argv      []string
	timeout   time.Duration
	tell      func(TestNews)
	real      *realTests // nil if pages are played
}

// runSimulation runs the child process and listens to it.
func runSimulation(ctx context.Context, s simulation) error {
	work, err := os.MkdirTemp("", "opentabs-test-")
	if err != nil {
		return fmt.Errorf("make a directory to run the tests in: %w", err)
	}
	defer os.RemoveAll(work)
	whole := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.Dir = work
	cmd.Env = []string{} // nil would mean ours
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("run the tests: %w", err)
	}
	errs := &cappedBuffer{max: 4 << 10}
	cmd.Stderr = errs
	cmd.WaitDelay = extractGrace
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("run the tests: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run the tests in a process of their own (%s): %w", strings.Join(s.argv, " "), err)
	}
	lines := &lineWriter{w: in}
	lines.begin(string(s.made.Code)) // a child that dies early is seen by its end
	if s.real != nil {
		defer s.real.begin(ctx, lines)()
	}
	late := time.AfterFunc(max(s.timeout, defaultTestTimeout), stop) // until the modules are loaded
	defer late.Stop()
	heard := s.listen(out, func() { late.Reset(s.timeout) })
	_ = in.Close()
	waited := cmd.Wait()
	switch {
	case heard.done:
		return nil
	case whole.Err() != nil:
		return whole.Err()
	case heard.broken != "":
		return s.problem(s.made.place(heard.stack), heard.broken)
	case ctx.Err() != nil && context.Cause(ctx) == context.Canceled && heard.running != "":
		return s.problem("", fmt.Sprintf("%q ran for %v of real time without an end; look for an endless loop", heard.running, s.timeout))
	case waited != nil && heard.running != "":
		return s.problem("", fmt.Sprintf("%q ended the engine, which may use up to %d MB; is something built that never ends?", heard.running, simulateMemoryBytes>>20))
	}
	detail, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
	return s.problem("", "the modules of the tests could not be loaded in time or memory: "+detail)
}

func (s simulation) problem(where, text string) error {
	if where == "" {
		where = s.file
	}
	return &BuildError{Dir: s.dir, Problems: []Problem{{Where: where, Text: text}}}
}

// heard is what the child process has said.
type heard struct {
	done    bool
	running string // the test that runs
	broken  string // why the script itself ended
	stack   string
}

// listen reads the child's lines until they end; alive is called for each.
func (s simulation) listen(out io.Reader, alive func()) (h heard) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxExtractedBytes)
	for lines.Scan() {
		var news TestNews
		if json.Unmarshal(lines.Bytes(), &news) != nil {
			continue
		}
		alive()
		switch news.Op {
		case "begin":
			h.running = news.Test
		case "end", "skipped":
			h.running = ""
			news.Where = s.made.place(news.Stack)
		case "done":
			h.done = true
		case "broken":
			h.broken, h.stack = news.Error, news.Stack
			continue
		case "ask", "answer":
			if s.real != nil {
				s.real.hear(lines.Bytes())
			}
			continue
		}
		news.Stack = ""
		s.tell(news)
	}
	return h
}
