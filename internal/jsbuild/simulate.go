package jsbuild

import (
	"bufio"
	"bytes"
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
	"strings"
	"time"

	"modernc.org/quickjs"
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
	// Op is "begin", "end" or "done": a test begins, has ended, all of the file
	// have ended.
	Op string `json:"op"`
	// Test is the name of the test.
	Test string `json:"test,omitempty"`
	// Error is why it failed; empty if it did not. Where is the place in the
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
	made, err := bundle(testScript(file.Name, o.Filter), findZod(src.Dir), nil)
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
	if o.Timeout <= 0 {
		o.Timeout = defaultTestTimeout
	}
	return runSimulation(ctx, simulation{dir: src.Dir, file: file.Name, made: made, argv: argv, timeout: o.Timeout, tell: tell})
}

// testScript is what runs the tests of a file.
func testScript(file, filter string) script {
	return script{head: notice + "\n", define: map[string]string{"OPENTABS_TEST_FILTER": quote(filter)}, entry: fmt.Sprintf(`import "@opentabs/sdk/simulator/start.ts";
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
}

// runSimulation runs the child process and listens to it.
func runSimulation(ctx context.Context, s simulation) error {
	work, err := os.MkdirTemp("", "opentabs-test-")
	if err != nil {
		return fmt.Errorf("make a directory to run the tests in: %w", err)
	}
	defer os.RemoveAll(work)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.Dir = work
	cmd.Env = []string{} // nil would mean ours
	cmd.Stdin = bytes.NewReader(s.made.Code)
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
	late := time.AfterFunc(max(s.timeout, defaultTestTimeout), stop) // until the modules are loaded
	defer late.Stop()
	heard := s.listen(out, func() { late.Reset(s.timeout) })
	waited := cmd.Wait()
	switch {
	case heard.done:
		return nil
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
		case "end":
			h.running = ""
			news.Where = s.made.place(news.Stack)
		case "done":
			h.done = true
		case "broken":
			h.broken, h.stack = news.Error, news.Stack
			continue
		}
		news.Stack = ""
		s.tell(news)
	}
	return h
}

// Simulate is the child process that [RunTests] starts: it takes a script from
// stdin and writes what happens to stdout, a line of JSON each. It returns the
// process's exit code, 0 if it could run the script at all.
func Simulate(stdin io.Reader, stdout io.Writer) int {
	script, err := io.ReadAll(stdin)
	if err != nil {
		return 2
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		return 2
	}
	defer vm.Close()
	vm.SetMemoryLimit(simulateMemoryBytes)
	say := func(news json.RawMessage) bool {
		_, err := stdout.Write(append(news, '\n'))
		return err == nil
	}
	if err := simulateAll(vm, string(script), say); err != nil {
		broken := failedWith(err)
		line, err := json.Marshal(TestNews{Op: "broken", Error: broken.Error, Stack: broken.Stack})
		if err != nil || !say(line) {
			return 2
		}
	}
	return 0
}

// simulateAll runs the script, and then step by step its tests.
func simulateAll(vm *quickjs.VM, script string, say func(json.RawMessage) bool) error {
	if _, err := vm.Eval(script, quickjs.EvalGlobal); err != nil {
		return err
	}
	for {
		if _, err := vm.ExecutePendingJobs(); err != nil {
			return err
		}
		told, err := vm.Eval("__opentabsStep()", quickjs.EvalGlobal)
		if err != nil {
			return err
		}
		text, _ := told.(string)
		var news []json.RawMessage
		if err := json.Unmarshal([]byte(text), &news); err != nil {
			return fmt.Errorf("the tests overwrote the simulator: %w", err)
		}
		for _, one := range news {
			if !say(one) {
				return nil
			}
			if strings.HasPrefix(string(one), `{"op":"done"`) {
				return nil
			}
		}
	}
}
