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
)

// A plugin's code is run to learn its tools, because their schemas are made by
// calls of zod. It is a stranger's code in an engine that is C turned into Go,
// so it runs in a process of its own that has nothing to give away and ends
// when its time or memory is used up.

// pageShim stands for the page while a plugin is read.
//
//go:embed page_shim.js
var pageShim string

// extractedName is the global that the extraction's script leaves its answer
// in.
const extractedName = "__opentabsExtracted"

const (
	// defaultExtractTimeout is far above what any plugin takes: the machine may be
	// busy with other things.
	defaultExtractTimeout = 30 * time.Second
	// extractMemoryBytes is what a plugin's code may allocate while it is read.
	extractMemoryBytes = 256 << 20
	// extractGrace is how much longer than its own limit the child may live
	// before it is killed. It stops itself in all but the worst cases, and then
	// says where; a busy machine takes seconds to start it.
	extractGrace = 15 * time.Second
	// maxExtractedBytes is the longest answer of a child.
	maxExtractedBytes = 32 << 20
)

// extractLimits go to the child in one line of JSON before the script.
type extractLimits struct {
	TimeoutMs   int64 `json:"timeoutMs"`
	MemoryBytes int   `json:"memoryBytes"`
}

// extractAnswer is what the child writes: what the script left, or why it
// left nothing.
type extractAnswer struct {
	Extracted json.RawMessage `json:"extracted,omitempty"`
	Error     string          `json:"error,omitempty"`
	// Stack is that of a thrown error, as the engine writes it.
	Stack string `json:"stack,omitempty"`
	// Limit names the limit that was hit: "time", "memory" or "".
	Limit string `json:"limit,omitempty"`
}

// Extract is the child process that [BuildPlugin] starts to read a plugin: it
// takes the limits and the script from stdin, runs it and writes what it
// found to stdout. It returns the process's exit code, 0 if it could answer
// at all.
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
	if json.NewEncoder(stdout).Encode(evaluate(string(script), limits)) != nil {
		return 2
	}
	return 0
}

// evaluate runs script in an engine that has no door to the outside.
func evaluate(script string, limits extractLimits) extractAnswer {
	vm, err := quickjs.NewVM()
	if err != nil {
		return extractAnswer{Error: "start the JavaScript engine: " + err.Error()}
	}
	defer vm.Close()
	vm.SetMemoryLimit(uintptr(limits.MemoryBytes))
	if err := vm.SetEvalTimeout(time.Duration(limits.TimeoutMs) * time.Millisecond); err != nil {
		return extractAnswer{Error: "start the JavaScript engine: " + err.Error()}
	}
	if _, err := vm.Eval(pageShim, quickjs.EvalGlobal); err != nil {
		return failedWith(err)
	}
	if _, err := vm.Eval(script, quickjs.EvalGlobal); err != nil {
		return failedWith(err)
	}
	found, err := vm.Eval(extractedName, quickjs.EvalGlobal)
	if err != nil {
		return failedWith(err)
	}
	text, ok := found.(string)
	if !ok || !json.Valid([]byte(text)) {
		return extractAnswer{Error: "the plugin overwrote the answer"}
	}
	return extractAnswer{Extracted: json.RawMessage(text)}
}

func failedWith(err error) extractAnswer {
	a := extractAnswer{Error: err.Error()}
	var thrown *quickjs.Error
	if errors.As(err, &thrown) {
		a.Stack = thrown.Stack
		switch {
		case thrown.Name == "InternalError" && strings.Contains(thrown.Message, "interrupted"):
			a.Limit = "time"
		case thrown.Name == "InternalError" && strings.Contains(thrown.Message, "out of memory"):
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

// runExtract runs script in a child process that stops itself after timeout
// and is killed after another grace. An error means that opentabs or the
// machine failed; a fault of the plugin is in the answer.
func runExtract(ctx context.Context, argv []string, script []byte, timeout, grace time.Duration) (extractAnswer, error) {
	dir, err := os.MkdirTemp("", "opentabs-extract-")
	if err != nil {
		return extractAnswer{}, fmt.Errorf("make a directory to read the plugin in: %w", err)
	}
	defer os.RemoveAll(dir)
	head, err := json.Marshal(extractLimits{TimeoutMs: timeout.Milliseconds(), MemoryBytes: extractMemoryBytes})
	if err != nil {
		return extractAnswer{}, fmt.Errorf("encode the limits: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, timeout+grace)
	defer cancel()
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{} // nil would mean ours
	cmd.Stdin = io.MultiReader(bytes.NewReader(append(head, '\n')), bytes.NewReader(script))
	out := &cappedBuffer{max: maxExtractedBytes}
	errs := &cappedBuffer{max: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = grace
	err = cmd.Run()
	if ctx.Err() != nil {
		return extractAnswer{}, fmt.Errorf("read the plugin: %w", ctx.Err())
	}
	if limited.Err() != nil {
		return extractAnswer{Limit: "time"}, nil
	}
	var answer extractAnswer
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &answer)
	}
	if err != nil {
		if out.over {
			return extractAnswer{Error: "the plugin's description of itself is larger than 32 MB"}, nil
		}
		detail, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return extractAnswer{}, fmt.Errorf("read the plugin in a process of its own (%s): %w: %s", strings.Join(argv, " "), err, detail)
	}
	return answer, nil
}

// cappedBuffer keeps the first max bytes that are written to it.
type cappedBuffer struct {
	bytes.Buffer
	max  int
	over bool
}

// Write takes all of p and keeps what there is room for.
func (b *cappedBuffer) Write(p []byte) (int, error) {
	room := b.max - b.Len()
	if len(p) > room {
		b.over = true
		b.Buffer.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
