package jsbuild

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"modernc.org/quickjs"
)

// Simulate is the main function of the child process that [RunTests] starts. Simulate
// reads a script from stdin, as a JSON string in one line. Simulate writes the events of
// the tests to stdout, one JSON value per line. If a test runs in a real browser,
// Simulate passes all lines after the first line of stdin to the script. Simulate returns
// the exit code of the process: 0 if the script ran, 2 for invalid input.
func Simulate(stdin io.Reader, stdout io.Writer) int {
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return 2
	}
	var script string
	if err := json.Unmarshal(line, &script); err != nil {
		return 2
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		return 2
	}
	defer vm.Close()
	vm.SetMemoryLimit(simulateMemoryBytes)
	child := testRunner{vm: vm, in: in, sendLine: func(event json.RawMessage) bool {
		_, err := stdout.Write(append(event, '\n'))
		return err == nil
	}}
	if err := child.run(script); err != nil {
		scriptErr := newErrorAnswer(err)
		line, err := json.Marshal(TestEvent{Op: "broken", Error: scriptErr.Error, Stack: scriptErr.Stack})
		if err != nil || !child.sendLine(line) {
			return 2
		}
	}
	return 0
}

// testRunner runs a test script in the JavaScript engine QuickJS.
type testRunner struct {
	vm       *quickjs.VM
	in       *bufio.Reader
	sendLine func(json.RawMessage) bool
	// The channel receivedLines is closed at the end of stdin.
	receivedLines chan []byte
}

func (s *testRunner) run(script string) error {
	if _, err := s.vm.Eval(rejectionTrackerScript, quickjs.EvalGlobal); err != nil {
		return err
	}
	if _, err := s.vm.Eval(script, quickjs.EvalGlobal); err != nil {
		return err
	}
	for {
		if _, err := s.vm.ExecutePendingJobs(); err != nil {
			return err
		}
		result, err := s.vm.Eval("__opentabsStep()", quickjs.EvalGlobal)
		if err != nil {
			return err
		}
		resultJSON, _ := result.(string)
		var events []json.RawMessage
		if err := json.Unmarshal([]byte(resultJSON), &events); err != nil {
			return fmt.Errorf("the tests overwrote the simulator: %w", err)
		}
		for _, event := range events {
			if strings.HasPrefix(string(event), `{"op":"wait"`) {
				if canContinue, err := s.waitForLine(event); err != nil || !canContinue {
					return err
				}
				continue
			}
			if !s.sendLine(event) || strings.HasPrefix(string(event), `{"op":"done"`) {
				return nil
			}
		}
	}
}

func (s *testRunner) waitForLine(event json.RawMessage) (canContinue bool, err error) {
	var waitEvent struct {
		Ms float64 `json:"ms"`
	}
	if err := json.Unmarshal(event, &waitEvent); err != nil {
		return false, fmt.Errorf("the tests overwrote the simulator: %w", err)
	}
	if s.receivedLines == nil {
		s.receivedLines = make(chan []byte)
		go s.readLines()
	}
	timer := time.NewTimer(time.Duration(waitEvent.Ms * float64(time.Millisecond)))
	defer timer.Stop()
	select {
	case line, ok := <-s.receivedLines:
		if !ok {
			return false, nil
		}
		_, err := s.vm.Eval("__opentabsReceive("+quoteJS(string(line))+")", quickjs.EvalGlobal)
		return true, err
	case <-timer.C:
		return true, nil
	}
}

// readLines runs until the process exits.
func (s *testRunner) readLines() {
	defer close(s.receivedLines)
	for {
		line, err := s.in.ReadBytes('\n')
		if err != nil {
			return
		}
		s.receivedLines <- line
	}
}
