package jsbuild

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"modernc.org/quickjs"

	"opentabs/internal/rawjson"
)

// To read a plugin's tools, opentabs must run the plugin's code, because calls of zod
// create the schemas. A plugin's code is untrusted, and the JavaScript engine is C code
// that was translated to Go. opentabs therefore runs a plugin's code in a child process
// without access to secrets, with limits for time and memory.

// pageShimScript is JavaScript that defines a page's global variables, which a plugin may use
// while opentabs reads its tools.
//
//go:embed page_shim.js
var pageShimScript string

const extractedGlobalName = "__opentabsExtracted"

const (
	// defaultExtractTimeout is much longer than reading a plugin's tools takes on a fast
	// machine, because many machines are slower.
	defaultExtractTimeout = 30 * time.Second
	extractMemoryBytes    = 256 << 20
	// extractKillDelay is how long opentabs waits after the child process's own timeout before it kills the child process.
	// On a busy machine, the start of the child process takes seconds.
	extractKillDelay  = 15 * time.Second
	maxExtractedBytes = 32 << 20
)

// extractLimits is the first line of the child process's input, as JSON. The other lines
// of the input contain the script that the child process runs.
type extractLimits struct {
	TimeoutMs   int64 `json:"timeoutMs"`
	MemoryBytes int   `json:"memoryBytes"`
}

// extractAnswer is the output of the child process that reads a plugin's tools: the result
// of the script, or its error.
type extractAnswer struct {
	Extracted json.RawMessage `json:"extracted,omitempty"`
	Error     string          `json:"error,omitempty"`
	// Stack is the stack trace of the error whose text is in Error.
	Stack string `json:"stack,omitempty"`
	// Limit is the limit that the script exceeded: "time", "memory" or "".
	Limit string `json:"limit,omitempty"`
}

// Extract is the main function of the child process that reads a plugin's tools for
// [BuildPlugin]. Extract reads the limits and the script from stdin, runs the script and
// writes the script's result to stdout. Extract returns the exit code 0 if it wrote a
// result or an error.
func Extract(stdin io.Reader, stdout io.Writer) int {
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	var limits extractLimits
	if err != nil || json.Unmarshal(line, &limits) != nil {
		return 2
	}
	script, err := io.ReadAll(in)
	if err != nil {
		return 2
	}
	extraction, err := rawjson.Marshal(evaluateScript(string(script), limits))
	if err != nil {
		return 2
	}
	if _, err := stdout.Write(extraction); err != nil {
		return 2
	}
	return 0
}

// evaluateScript runs a script in a JavaScript engine from which the script cannot reach
// files, the network or other processes.
func evaluateScript(script string, limits extractLimits) extractAnswer {
	vm, err := quickjs.NewVM()
	if err != nil {
		return extractAnswer{Error: "start the JavaScript engine: " + err.Error()}
	}
	defer vm.Close()
	vm.SetMemoryLimit(uintptr(limits.MemoryBytes))
	if err := vm.SetEvalTimeout(time.Duration(limits.TimeoutMs) * time.Millisecond); err != nil {
		return extractAnswer{Error: "start the JavaScript engine: " + err.Error()}
	}
	if _, err := vm.Eval(pageShimScript, quickjs.EvalGlobal); err != nil {
		return newErrorAnswer(err)
	}
	if _, err := vm.Eval(script, quickjs.EvalGlobal); err != nil {
		return newErrorAnswer(err)
	}
	result, err := vm.Eval(extractedGlobalName, quickjs.EvalGlobal)
	if err != nil {
		return newErrorAnswer(err)
	}
	extractedJSON, ok := result.(string)
	if !ok || !json.Valid([]byte(extractedJSON)) {
		return extractAnswer{Error: "the plugin overwrote the result"}
	}
	return extractAnswer{Extracted: json.RawMessage(extractedJSON)}
}

func newErrorAnswer(err error) extractAnswer {
	a := extractAnswer{Error: err.Error()}
	var scriptErr *quickjs.Error
	if errors.As(err, &scriptErr) {
		a.Stack = scriptErr.Stack
		switch {
		case scriptErr.Name == "InternalError" && strings.Contains(scriptErr.Message, "interrupted"):
			a.Limit = "time"
		case scriptErr.Name == "InternalError" && strings.Contains(scriptErr.Message, "out of memory"):
			a.Limit = "memory"
		}
	} else if strings.Contains(a.Error, "out of memory") || a.Error == "OOM" {
		a.Limit = "memory"
	}
	if a.Error == "" {
		a.Error = "it threw an error without a message"
	}
	return a
}

// If the plugin's code fails, its error is in the extractAnswer that runExtract returns. runExtract returns an error
// only if opentabs or the machine failed, not if the plugin's code failed.
func runExtract(ctx context.Context, argv []string, script []byte, timeout, gracePeriod time.Duration) (extractAnswer, error) {
	dir, err := os.MkdirTemp("", "opentabs-extract-")
	if err != nil {
		return extractAnswer{}, fmt.Errorf("make a directory to read the plugin in: %w", err)
	}
	defer os.RemoveAll(dir)
	limitsLine, err := json.Marshal(extractLimits{TimeoutMs: timeout.Milliseconds(), MemoryBytes: extractMemoryBytes})
	if err != nil {
		return extractAnswer{}, fmt.Errorf("encode the limits: %w", err)
	}
	limitedCtx, cancel := context.WithTimeout(ctx, timeout+gracePeriod)
	defer cancel()
	cmd := exec.CommandContext(limitedCtx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{} // a nil Env would pass on the parent's environment
	cmd.Stdin = io.MultiReader(bytes.NewReader(append(limitsLine, '\n')), bytes.NewReader(script))
	out := &cappedBuffer{max: maxExtractedBytes}
	stderr := &cappedBuffer{max: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, stderr
	cmd.WaitDelay = gracePeriod
	err = cmd.Run()
	if ctx.Err() != nil {
		return extractAnswer{}, fmt.Errorf("read the plugin: %w", ctx.Err())
	}
	if limitedCtx.Err() != nil {
		return extractAnswer{Limit: "time"}, nil
	}
	var extraction extractAnswer
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &extraction)
	}
	if err != nil {
		if out.isTruncated {
			return extractAnswer{Error: "the descriptions of the plugin's tools are larger than 32 MB"}, nil
		}
		firstLine, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return extractAnswer{}, fmt.Errorf("read the plugin in a child process (%s): %w: %s", strings.Join(argv, " "), err, firstLine)
	}
	return extraction, nil
}

// cappedBuffer stores the first max bytes that are written to it and drops all further bytes.
type cappedBuffer struct {
	bytes.Buffer
	max         int
	isTruncated bool
}

// Write never fails, and drops bytes for which the buffer has no room.
func (b *cappedBuffer) Write(p []byte) (int, error) {
	freeBytes := b.max - b.Len()
	if len(p) > freeBytes {
		b.isTruncated = true
		b.Buffer.Write(p[:max(freeBytes, 0)])
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
