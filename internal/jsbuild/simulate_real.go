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

// realGrace is how much longer than its own limit, which the script keeps, a test
// in a real browser may be silent before its process is ended.
const realGrace = 15 * time.Second

// realTests stands between the script of tests and a real browser: it passes on
// what the tests ask, and what the pages request. It is safe for concurrent use.
type realTests struct {
	real Real

	ctx   context.Context // set by begin; of the child process
	lines *lineWriter     // set by begin

	mu      sync.Mutex              // guards those below
	serial  int                     // of the last request
	waiting map[int]chan realAnswer // each with room for its answer
}

// realSays is what the script says: what it asks, or the answer to a request.
type realSays struct {
	Op     string          `json:"op"`
	ID     int             `json:"id"`
	What   string          `json:"what"`
	Params json.RawMessage `json:"params"`
	realAnswer
}

// realAnswer answers in either direction. Error is empty if it went well.
type realAnswer struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

func newRealTests(real Real) *realTests {
	return &realTests{real: real, waiting: map[int]chan realAnswer{}}
}

// begin takes requests of pages from now on, until the function that it returns
// is called. ctx is that of the child process.
func (r *realTests) begin(ctx context.Context, lines *lineWriter) (end func()) {
	r.ctx, r.lines = ctx, lines
	r.real.Serve(r.request)
	return func() { r.real.Serve(nil) }
}

// hear takes a line of the script. It does not wait.
func (r *realTests) hear(line []byte) {
	var said realSays
	if json.Unmarshal(line, &said) != nil {
		return
	}
	if said.Op == "ask" {
		go r.ask(said)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if answer := r.waiting[said.ID]; answer != nil {
		delete(r.waiting, said.ID)
		answer <- said.realAnswer
	}
}

func (r *realTests) ask(said realSays) {
	value, err := r.real.Ask(r.ctx, said.What, said.Params)
	answer := realAnswer{Value: value}
	if err != nil {
		answer.Error = err.Error()
	}
	// A script that has ended needs no answer.
	_ = r.lines.write(struct {
		ID int `json:"id"`
		realAnswer
	}{said.ID, answer})
}

// request has the script answer a request of a page.
func (r *realTests) request(ctx context.Context, request any) (json.RawMessage, error) {
	answer := make(chan realAnswer, 1)
	r.mu.Lock()
	r.serial++
	id := r.serial
	r.waiting[id] = answer
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.waiting, id)
	}()
	err := r.lines.write(struct {
		ID      int `json:"id"`
		Request any `json:"request"`
	}{id, request})
	if err != nil {
		return nil, err
	}
	select {
	case a := <-answer:
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

// lineWriter writes values, a line of JSON each. It is safe for concurrent use.
type lineWriter struct {
	mu sync.Mutex // held while a line is written
	w  io.Writer
}

func (l *lineWriter) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a line: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.w.Write(append(text, '\n'))
	return err
}

// begin writes the first line in the background: all others come after it.
func (l *lineWriter) begin(text string) {
	l.mu.Lock()
	go func() {
		defer l.mu.Unlock()
		_, _ = l.w.Write(append([]byte(quote(text)), '\n'))
	}()
}
