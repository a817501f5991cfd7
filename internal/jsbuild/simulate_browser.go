package jsbuild

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// The test script itself ends a test that exceeds its timeout, so opentabs waits for browserTestGrace before it kills
// the process.
const browserTestGrace = 15 * time.Second

// browserTests passes messages between a plugin's test script and a real browser.
// browserTests forwards operations from the test script to the browser, and HTTP requests
// of pages from the browser to the test script. browserTests is safe for concurrent use.
type browserTests struct {
	browser TestBrowser

	ctx   context.Context // ctx is the context of the child process; beginTests sets ctx
	lines *lineWriter     // the field lines writes to the script's stdin; beginTests sets lines

	mu             sync.Mutex // the mutex guards the fields below
	lastID         int
	pendingAnswers map[int]chan browserAnswer // pendingAnswers maps a request's ID to its channel, with a buffer of 1
}

// scriptMessage is a message that the test script in the child process sends to opentabs.
// If Op is "ask", the script requests a browser operation. If Op is not "ask", the
// message is the script's response to an HTTP request of a page.
type scriptMessage struct {
	Op         string          `json:"op"`
	ID         int             `json:"id"`
	ActionText string          `json:"what"`
	Params     json.RawMessage `json:"params"`
	browserAnswer
}

// browserAnswer is the response to a request of the browser to the test script, or of the
// test script to the browser. Error is the error text of the operation or request; empty
// on success.
type browserAnswer struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

func newBrowserTests(browser TestBrowser) *browserTests {
	return &browserTests{browser: browser, pendingAnswers: map[int]chan browserAnswer{}}
}

func (r *browserTests) beginTests(ctx context.Context, lines *lineWriter) (removeResponder func()) {
	r.ctx, r.lines = ctx, lines
	r.browser.SetResponder(r.request)
	return func() { r.browser.SetResponder(nil) }
}

// handleLine does not block.
func (r *browserTests) handleLine(line []byte) {
	var m scriptMessage
	if json.Unmarshal(line, &m) != nil {
		return
	}
	if m.Op == "ask" {
		go r.runOperation(m)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if responses := r.pendingAnswers[m.ID]; responses != nil {
		delete(r.pendingAnswers, m.ID)
		responses <- m.browserAnswer
	}
}

func (r *browserTests) runOperation(m scriptMessage) {
	valueJSON, err := r.browser.Do(r.ctx, m.ActionText, m.Params)
	operationResult := browserAnswer{Value: valueJSON}
	if err != nil {
		operationResult.Error = err.Error()
	}
	// A write to the test script fails only if the script has already ended, so the error
	// is ignored.
	_ = r.lines.write(struct {
		ID int `json:"id"`
		browserAnswer
	}{m.ID, operationResult})
}

func (r *browserTests) request(ctx context.Context, request any) (json.RawMessage, error) {
	responses := make(chan browserAnswer, 1)
	r.mu.Lock()
	r.lastID++
	id := r.lastID
	r.pendingAnswers[id] = responses
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.pendingAnswers, id)
	}()
	err := r.lines.write(struct {
		ID      int `json:"id"`
		Request any `json:"request"`
	}{id, request})
	if err != nil {
		return nil, err
	}
	select {
	case a := <-responses:
		if a.Error != "" {
			return nil, errors.New(a.Error)
		}
		return a.Value, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
}

// lineWriter writes values as JSON, one value per line. A lineWriter is safe for
// concurrent use.
type lineWriter struct {
	mu sync.Mutex // the mutex is locked while a line is written
	w  io.Writer
}

func (l *lineWriter) write(v any) error {
	encodedJSON, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a line: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.w.Write(append(encodedJSON, '\n'))
	return err
}

// beginTests writes the first line in the background. Later calls of the lineWriter's write
// method wait until the first line is written.
func (l *lineWriter) beginTests(line string) {
	l.mu.Lock()
	go func() {
		defer l.mu.Unlock()
		_, _ = l.w.Write(append([]byte(quoteJS(line)), '\n'))
	}()
}
