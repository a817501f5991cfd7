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

// Simulate is the child process that [RunTests] starts: it takes a script from
// stdin, a string of JSON in one line, and writes what happens to stdout, a line
// of JSON each. In a real browser the lines after the script are what the script
// hears. It returns the process's exit code, 0 if it could run the script at all.
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
	child := simulating{vm: vm, in: in, say: func(news json.RawMessage) bool {
		_, err := stdout.Write(append(news, '\n'))
		return err == nil
	}}
	if err := child.run(script); err != nil {
		broken := failedWith(err)
		line, err := json.Marshal(TestNews{Op: "broken", Error: broken.Error, Stack: broken.Stack})
		if err != nil || !child.say(line) {
			return 2
		}
	}
	return 0
}

// simulating is a script of tests that runs.
type simulating struct {
	vm  *quickjs.VM
	in  *bufio.Reader
	say func(json.RawMessage) bool
	// heard are the lines that come in; nil before the first is waited for, closed
	// at the end of the input.
	heard chan []byte
}

// run runs the script, and then step by step its tests.
func (s *simulating) run(script string) error {
	if _, err := s.vm.Eval(script, quickjs.EvalGlobal); err != nil {
		return err
	}
	for {
		if _, err := s.vm.ExecutePendingJobs(); err != nil {
			return err
		}
		told, err := s.vm.Eval("__opentabsStep()", quickjs.EvalGlobal)
		if err != nil {
			return err
		}
		text, _ := told.(string)
		var news []json.RawMessage
		if err := json.Unmarshal([]byte(text), &news); err != nil {
			return fmt.Errorf("the tests overwrote the simulator: %w", err)
		}
		for _, one := range news {
			if strings.HasPrefix(string(one), `{"op":"wait"`) {
				if more, err := s.wait(one); err != nil || !more {
					return err
				}
				continue
			}
			if !s.say(one) || strings.HasPrefix(string(one), `{"op":"done"`) {
				return nil
			}
		}
	}
}

// wait waits until a line comes in, which the script hears, or the time in news
// has passed. It reports whether there is somebody who wants to know more.
func (s *simulating) wait(news json.RawMessage) (more bool, err error) {
	var wait struct {
		Ms float64 `json:"ms"`
	}
	if err := json.Unmarshal(news, &wait); err != nil {
		return false, fmt.Errorf("the tests overwrote the simulator: %w", err)
	}
	if s.heard == nil {
		s.heard = make(chan []byte)
		go s.listen()
	}
	timer := time.NewTimer(time.Duration(wait.Ms * float64(time.Millisecond)))
	defer timer.Stop()
	select {
	case line, ok := <-s.heard:
		if !ok {
			return false, nil
		}
		_, err := s.vm.Eval("__opentabsReceive("+quote(string(line))+")", quickjs.EvalGlobal)
		return true, err
	case <-timer.C:
		return true, nil
	}
}

// listen hands on the lines that come in. It ends with the process.
func (s *simulating) listen() {
	defer close(s.heard)
	for {
		line, err := s.in.ReadBytes('\n')
		if err != nil {
			return
		}
		s.heard <- line
	}
}
