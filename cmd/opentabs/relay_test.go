package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/httpapi"
)

// pipeSession is the client's end of a connection in memory.
type pipeSession struct {
	io.Reader
	w *io.PipeWriter
	r *io.PipeReader
}

func (p pipeSession) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p pipeSession) CloseWrite() error           { return p.w.Close() }
func (p pipeSession) Close() error                { return errors.Join(p.w.Close(), p.r.Close()) }

// serverEnd is the server's end.
type serverEnd struct {
	lines chan string // what it got
	r     *io.PipeReader
	w     *io.PipeWriter
}

// expect reads a line that holds each of words.
func (s *serverEnd) expect(t *testing.T, words ...string) string {
	t.Helper()
	line, ok := <-s.lines
	if !ok {
		t.Fatalf("the connection ended before a line with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(line, word) {
			t.Errorf("the server got %s, want %q", line, word)
		}
	}
	return line
}

func (s *serverEnd) send(line string) { fmt.Fprintln(s.w, line) }
func (s *serverEnd) die()             { _ = s.r.Close(); _ = s.w.Close() }

// relayWorld is a relay with a client and servers in memory.
type relayWorld struct {
	t      *testing.T
	client *io.PipeWriter // what the client sends
	said   chan string    // what the client gets
	ended  chan error
	began  time.Time

	mu      sync.Mutex // guards all below
	up      bool
	refuse  error // why start fails
	starts  int
	joins   []time.Duration
	servers chan *serverEnd
	notes   []string
}

func inRelayWorld(t *testing.T, test func(w *relayWorld)) {
	t.Helper()
	inRefusingWorld(t, nil, test)
}

// inRefusingWorld is inRelayWorld where no server can be started.
func inRefusingWorld(t *testing.T, refuse error, test func(w *relayWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, client := io.Pipe()
		said, out := io.Pipe()
		w := &relayWorld{
			t: t, client: client, said: make(chan string, 100), ended: make(chan error, 1), began: time.Now(),
			servers: make(chan *serverEnd, 10), refuse: refuse,
		}
		r := newRelay(relayOptions{in: in, out: out, say: w.note, join: w.join, start: w.start})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			w.ended <- r.run(ctx)
			_ = out.Close()
		}()
		go scan(said, w.said)
		test(w)
		cancel()
		_ = client.Close()
		for line := range w.said {
			t.Errorf("the client also got %s", line)
		}
	})
}

// scan hands over lines until r ends.
func scan(r io.Reader, lines chan<- string) {
	defer close(lines)
	for in := bufio.NewScanner(r); in.Scan(); {
		lines <- in.Text()
	}
}

func (w *relayWorld) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

func (w *relayWorld) join(context.Context) (session, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.up {
		return nil, httpapi.ErrNoServer
	}
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	w.joins = append(w.joins, time.Since(w.began))
	server := &serverEnd{lines: make(chan string, 100), r: toServer, w: fromServer}
	go scan(toServer, server.lines)
	w.servers <- server
	return pipeSession{Reader: toClient, w: fromClient, r: toClient}, nil
}

func (w *relayWorld) start(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.starts++
	if w.refuse != nil {
		return w.refuse
	}
	w.up = true
	return nil
}

func (w *relayWorld) setUp(up bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.up = up
}

func (w *relayWorld) started() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts
}

func (w *relayWorld) send(line string) { fmt.Fprintln(w.client, line) }

// expect reads a line for the client that holds each of words.
func (w *relayWorld) expect(words ...string) {
	w.t.Helper()
	line, ok := <-w.said
	if !ok {
		w.t.Fatalf("the output ended before a line with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(line, word) {
			w.t.Errorf("the client got %s, want %q", line, word)
		}
	}
}

const (
	initializeLine  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	initializedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// open opens a session and returns the server's end.
func (w *relayWorld) open() *serverEnd {
	w.t.Helper()
	server := <-w.servers
	w.send(initializeLine)
	server.expect(w.t, `"id":0`, "initialize")
	server.send(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`)
	w.expect(`"id":0`, "result")
	w.send(initializedLine)
	server.expect(w.t, "initialized")
	return server
}

// resumed expects what a new server is told.
func (w *relayWorld) resumed(server *serverEnd) {
	w.t.Helper()
	if got := server.expect(w.t); got != initializeLine {
		w.t.Errorf("the new server got %s", got)
	}
	server.send(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	server.send(`{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"version":"2"}}}`)
	if got := server.expect(w.t); got != initializedLine {
		w.t.Errorf("the new server got %s", got)
	}
	w.expect("notifications/message")
	w.expect(`"notifications/tools/list_changed"`)
	w.expect(`"notifications/prompts/list_changed"`)
}

func TestRelayPassesLinesOn(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := w.open()
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`,
			` { "id" : 9007199254740993 , "method":"x" } `,
			`no JSON at all`,
			`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`,
			`{"jsonrpc":"2.0","id":77,"result":{}}`,
		} {
			w.send(line)
			if got := server.expect(t); got != line {
				t.Errorf("sent %q, the server got %q", line, got)
			}
		}
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":"a","result":{"tools":[]}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`,
			`{"jsonrpc":"2.0","id":77,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":0,"result":{"a second answer":1}}`,
		} {
			server.send(line)
			w.expect(line)
		}
		if w.started() != 1 {
			t.Errorf("%d servers were started", w.started())
		}
		_ = w.client.Close()
		if line, more := <-server.lines; more {
			t.Errorf("after the end of the input: %s", line)
		}
		server.send(`{"jsonrpc":"2.0","id":"late","result":{}}`)
		w.expect("late")
		server.die()
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
	})
}

// TestRelayServerKilled has a call and a list under way when the server dies.
func TestRelayServerKilled(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := w.open()
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
		server.expect(t, `"id":1`)
		w.send(`{"jsonrpc":"2.0","id":"p","method":"prompts/get","params":{}}`)
		server.expect(t, `"id":"p"`)
		w.send(`{"jsonrpc":"2.0","id":"1","method":"tools/list"}`)
		server.expect(t, `"id":"1"`)
		w.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}`)
		server.expect(t, `"id":3`)
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		server.expect(t, "cancelled")
		w.setUp(false)
		server.die()

		// The call is answered at once, the cancelled one not at all.
		w.expect(`"id":1,"error":{"code":-32000,"message":"the opentabs server stopped or was restarted while this call ran`, "call again")
		w.expect(`"id":"p","error":{"code":-32000,"message":"the opentabs server stopped or was restarted while this call ran`)
		// The list is asked again of the next server.
		next := <-w.servers
		w.resumed(next)
		next.expect(t, `"id":"1"`, "tools/list")
		next.send(`{"jsonrpc":"2.0","id":"1","result":{"tools":[]}}`)
		w.expect(`"id":"1","result"`)
		if w.started() != 2 {
			t.Errorf("%d servers were started", w.started())
		}
		if got := w.joins[1]; got != startAfter {
			t.Errorf("the new server was joined after %v, want %v: somebody may be restarting it", got, startAfter)
		}
	})
}

// TestRelayWaitsForNobody has a client that asks for nothing: no server is
// started, but one that comes is joined.
func TestRelayWaitsForNobody(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := w.open()
		w.setUp(false)
		server.die()
		pass(time.Hour)
		if w.started() != 1 {
			t.Errorf("%d servers were started", w.started())
		}
		w.setUp(true)
		next := <-w.servers
		w.resumed(next)
		w.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		next.expect(t, "ping")
	})
}

// TestRelayQuickRestart has somebody restart the server by hand, while the
// client goes on asking.
// TestRelayTakesFormsBack: nobody waits for the answer to what a lost server has
// asked.
func TestRelayTakesFormsBack(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := w.open()
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call"}`)
		server.expect(t, `"id":2`)
		for _, id := range []string{"a", "b", "c"} {
			server.send(`{"jsonrpc":"2.0","id":"` + id + `","method":"elicitation/create"}`)
			w.expect(`"id":"` + id + `"`)
		}
		server.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
		w.expect("notifications/cancelled", `"requestId":"a"`)
		w.send(`{"jsonrpc":"2.0","id":"b","result":{"action":"cancel"}}`)
		server.expect(t, `"id":"b"`)
		server.die()
		w.expect("notifications/cancelled", `"requestId":"c"`)
		w.expect(`"id":2`, "its result is lost")
	})
}

func TestRelayQuickRestart(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := w.open()
		w.setUp(false)
		server.die()
		time.AfterFunc(300*time.Millisecond, func() { w.setUp(true) })
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call"}`)
		next := <-w.servers
		w.resumed(next)
		next.expect(t, `"id":2`)
		if w.started() != 1 || w.joins[1] < 300*time.Millisecond || w.joins[1] > 400*time.Millisecond {
			t.Errorf("%d servers were started, joined at %v", w.started(), w.joins)
		}
	})
}

// TestRelayWithoutOpening is the protocol that has no sessions.
func TestRelayWithoutOpening(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := <-w.servers
		w.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`)
		server.expect(t, `"id":1`)
		server.die()
		next := <-w.servers
		next.expect(t, "subscriptions/listen")
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		next.expect(t, "tools/list")
	})
}

// TestRelayOpeningLost loses the server before it has answered initialize.
func TestRelayOpeningLost(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := <-w.servers
		w.send(initializeLine)
		server.expect(t, "initialize")
		server.die()
		next := <-w.servers
		next.expect(t, "initialize")
		next.send(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		w.expect(`"id":0,"result"`)
		w.send(initializedLine)
		next.expect(t, "initialized")
	})
}

// TestRelayInitializedWhileAway loses the server between the two steps of the
// opening.
func TestRelayInitializedWhileAway(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := <-w.servers
		w.send(initializeLine)
		server.expect(t, "initialize")
		server.send(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		w.expect(`"id":0`)
		w.setUp(false)
		server.die()
		w.send(initializedLine)
		pass(time.Minute)
		if w.started() != 1 {
			t.Error("a notification started a server")
		}
		w.setUp(true)
		next := <-w.servers
		next.expect(t, `"method":"initialize"`)
		next.send(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		next.expect(t, "initialized")
		w.expect("tools/list_changed")
		w.expect("prompts/list_changed")
	})
}

// TestRelayNoServer has a server that can't be started.
func TestRelayNoServer(t *testing.T) {
	taken := errors.New("port 9527 is taken by python3, pid 7")
	inRefusingWorld(t, taken, func(w *relayWorld) {
		w.send(initializeLine)
		w.expect(`"id":0,"error":{"code":-32000,"message":"opentabs has no server: port 9527 is taken by python3, pid 7"`)
		w.send(`{"jsonrpc":"2.0","id":"x","method":"ping"}`)
		w.expect(`"id":"x","error"`)
		if w.started() > 2 {
			t.Errorf("tried %d times within 2 s", w.started())
		}
		w.mu.Lock()
		w.refuse = nil
		w.mu.Unlock()
		pass(failedFor)
		w.send(initializeLine)
		server := <-w.servers
		server.expect(t, "initialize")
	})
}

// What the system refuses is told with what to do about it.
func TestRelayNoRoom(t *testing.T) {
	inRefusingWorld(t, fmt.Errorf("open the server's log: %w", syscall.ENOSPC), func(w *relayWorld) {
		w.send(initializeLine)
		w.expect(`"opentabs has no server: open the server's log: no space left on device: free some space on that disk, then try again"`)
	})
}

// TestRelayNewServerFails has the next server die while the session is opened
// again.
func TestRelayNewServerFails(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := w.open()
		server.die()
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		next := <-w.servers
		next.expect(t, "initialize")
		next.die()
		w.expect(`"id":2,"error":`, "the server has gone again")
		pass(failedFor)
		w.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
		last := <-w.servers
		w.resumed(last)
		last.expect(t, `"id":3`)
	})
}

func TestRelayLongLine(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := w.open()
		go func() {
			_, _ = io.WriteString(w.client, strings.Repeat("x", maxLineBytes+1)+"\n")
			w.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		}()
		w.expect(`"id":null,"error"`, "more than 32 MiB")
		server.expect(t, "ping")
	})
}

// TestRelayLastLine has no line end after its last line.
func TestRelayLastLine(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := w.open()
		go func() {
			_, _ = io.WriteString(w.client, "\n\n"+`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			_ = w.client.Close()
		}()
		server.expect(t, "ping")
		server.send(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		w.expect(`"id":2,"result"`)
		server.die()
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
	})
}

// TestRelayServerNeverEnds has a server that goes on after the client's end.
func TestRelayServerNeverEnds(t *testing.T) {
	inRelayWorld(t, func(w *relayWorld) {
		server := w.open()
		began := time.Now()
		_ = w.client.Close()
		if err := <-w.ended; err != nil || time.Since(began) != endPatience {
			t.Errorf("ended after %v with %v", time.Since(began), err)
		}
		server.die()
	})
}

// TestRelayStopped is told to end by a signal.
func TestRelayStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, client := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		r := newRelay(relayOptions{
			in: in, out: io.Discard, say: func(string, ...any) {},
			join:  func(context.Context) (session, error) { return nil, httpapi.ErrNoServer },
			start: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		})
		time.AfterFunc(time.Second, cancel)
		if err := r.run(ctx); err != nil {
			t.Error(err)
		}
		_ = client.Close()
	})
}

// TestRelayClientGone has a client that reads nothing any more.
func TestRelayClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, client := io.Pipe()
		said, out := io.Pipe()
		_ = said.Close()
		r := newRelay(relayOptions{
			in: in, out: out, say: func(string, ...any) {},
			join:  func(context.Context) (session, error) { return nil, httpapi.ErrNoServer },
			start: func(context.Context) error { return errors.New("no") },
		})
		ended := make(chan error, 1)
		go func() { ended <- r.run(t.Context()) }()
		fmt.Fprintln(client, initializeLine)
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "write to the client") {
			t.Errorf("got %v", err)
		}
		_ = client.Close()
	})
}
