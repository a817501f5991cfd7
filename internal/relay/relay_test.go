package relay

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

type pipeConn struct {
	io.Reader
	w *io.PipeWriter
	r *io.PipeReader
}

func (p pipeConn) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p pipeConn) CloseWrite() error           { return p.w.Close() }
func (p pipeConn) Close() error                { return errors.Join(p.w.Close(), p.r.Close()) }

type fakeDaemon struct {
	lines chan string
	r     *io.PipeReader
	w     *io.PipeWriter
}

func (s *fakeDaemon) expectLine(t *testing.T, outputWords ...string) string {
	t.Helper()
	line, ok := <-s.lines
	if !ok {
		t.Fatalf("the connection ended, want first a line with %q", outputWords)
	}
	for _, word := range outputWords {
		if !strings.Contains(line, word) {
			t.Errorf("the daemon received %s, want a line with %q", line, word)
		}
	}
	return line
}

func (s *fakeDaemon) send(line string) { fmt.Fprintln(s.w, line) }
func (s *fakeDaemon) closeConn()       { _ = s.r.Close(); _ = s.w.Close() }

type testRelay struct {
	t         *testing.T
	client    *io.PipeWriter
	output    chan string
	relayErr  chan error
	startTime time.Time

	mu           sync.Mutex // the mutex guards all fields below
	isRunning    bool
	startErr     error
	startCount   int
	connectTimes []time.Duration
	daemons      chan *fakeDaemon
	notices      []string
}

func runWithRelay(t *testing.T, test func(w *testRelay)) {
	t.Helper()
	runWithFailingStart(t, nil, test)
}

func runWithFailingStart(t *testing.T, startErr error, test func(w *testRelay)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		input, client := io.Pipe()
		output, outWriter := io.Pipe()
		w := &testRelay{
			t: t, client: client, output: make(chan string, 100), relayErr: make(chan error, 1), startTime: time.Now(),
			daemons: make(chan *fakeDaemon, 10), startErr: startErr,
		}
		r := newRelay(relayEndpoints{inputReader: input, outWriter: outWriter, notef: w.recordNotice, connectToDaemon: w.connectServer, startDaemon: w.start})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			w.relayErr <- r.run(ctx)
			_ = outWriter.Close()
		}()
		go sendLines(output, w.output)
		test(w)
		cancel()
		_ = client.Close()
		for line := range w.output {
			t.Errorf("the client received the further line %s, want none", line)
		}
	})
}

func sendLines(r io.Reader, lines chan<- string) {
	defer close(lines)
	for input := bufio.NewScanner(r); input.Scan(); {
		lines <- input.Text()
	}
}

func (w *testRelay) recordNotice(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices = append(w.notices, fmt.Sprintf(format, args...))
}

func (w *testRelay) connectServer(context.Context) (conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.isRunning {
		return nil, httpapi.ErrNoServer
	}
	toServer, clientWriter := io.Pipe()
	toClient, serverWriter := io.Pipe()
	w.connectTimes = append(w.connectTimes, time.Since(w.startTime))
	server := &fakeDaemon{lines: make(chan string, 100), r: toServer, w: serverWriter}
	go sendLines(toServer, server.lines)
	w.daemons <- server
	return pipeConn{Reader: toClient, w: clientWriter, r: toClient}, nil
}

func (w *testRelay) start(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.startCount++
	if w.startErr != nil {
		return w.startErr
	}
	w.isRunning = true
	return nil
}

func (w *testRelay) setRunning(isRunning bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isRunning = isRunning
}

func (w *testRelay) countStarts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.startCount
}

func (w *testRelay) send(line string) { fmt.Fprintln(w.client, line) }

func (w *testRelay) expectLine(outputWords ...string) {
	w.t.Helper()
	line, ok := <-w.output
	if !ok {
		w.t.Fatalf("the output of the relay ended, want first a line with %q", outputWords)
	}
	for _, word := range outputWords {
		if !strings.Contains(line, word) {
			w.t.Errorf("the client received %s, want a line with %q", line, word)
		}
	}
}

const (
	initializeLine  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	initializedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func (w *testRelay) open() *fakeDaemon {
	w.t.Helper()
	server := <-w.daemons
	w.send(initializeLine)
	server.expectLine(w.t, `"id":0`, "initialize")
	server.send(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`)
	w.expectLine(`"id":0`, "result")
	w.send(initializedLine)
	server.expectLine(w.t, "initialized")
	return server
}

func (w *testRelay) expectResumedSession(server *fakeDaemon) {
	w.t.Helper()
	if got := server.expectLine(w.t); got != initializeLine {
		w.t.Errorf("the new daemon received %s, want the initialize request", got)
	}
	server.send(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	server.send(`{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"version":"2"}}}`)
	if got := server.expectLine(w.t); got != initializedLine {
		w.t.Errorf("the new daemon received %s, want the initialized notification", got)
	}
	w.expectLine("notifications/message")
	w.expectLine(`"notifications/tools/list_changed"`)
	w.expectLine(`"notifications/prompts/list_changed"`)
}

func TestRelayForwardsLinesUnchanged(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := w.open()
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`,
			` { "id" : 9007199254740993 , "method":"x" } `,
			`not JSON`,
			`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`,
			`{"jsonrpc":"2.0","id":77,"result":{}}`,
		} {
			w.send(line)
			if got := server.expectLine(t); got != line {
				t.Errorf("the client sent %q, the daemon received %q; want the same line", line, got)
			}
		}
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":"a","result":{"tools":[]}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`,
			`{"jsonrpc":"2.0","id":77,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":0,"result":{"a second answer":1}}`,
		} {
			server.send(line)
			w.expectLine(line)
		}
		if w.countStarts() != 1 {
			t.Errorf("the relay started %d daemons; want 1", w.countStarts())
		}
		_ = w.client.Close()
		if line, hasLine := <-server.lines; hasLine {
			t.Errorf("the daemon received %s after the end of the input, want nothing", line)
		}
		server.send(`{"jsonrpc":"2.0","id":"late","result":{}}`)
		w.expectLine("late")
		server.closeConn()
		if err := <-w.relayErr; err != nil {
			t.Error(err)
		}
	})
}

func TestCallsFailWhenDaemonStops(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := w.open()
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
		server.expectLine(t, `"id":1`)
		w.send(`{"jsonrpc":"2.0","id":"p","method":"prompts/get","params":{}}`)
		server.expectLine(t, `"id":"p"`)
		w.send(`{"jsonrpc":"2.0","id":"1","method":"tools/list"}`)
		server.expectLine(t, `"id":"1"`)
		w.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}`)
		server.expectLine(t, `"id":3`)
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		server.expectLine(t, "cancelled")
		w.setRunning(false)
		server.closeConn()

		w.expectLine(`"id":1,"error":{"code":-32000,"message":"the opentabs server stopped or restarted while this call ran`, "you call again")
		w.expectLine(`"id":"p","error":{"code":-32000,"message":"the opentabs server stopped or restarted while this call ran`)
		nextServer := <-w.daemons
		w.expectResumedSession(nextServer)
		nextServer.expectLine(t, `"id":"1"`, "tools/list")
		nextServer.send(`{"jsonrpc":"2.0","id":"1","result":{"tools":[]}}`)
		w.expectLine(`"id":"1","result"`)
		if w.countStarts() != 2 {
			t.Errorf("the relay started %d daemons; want 2", w.countStarts())
		}
		if got := w.connectTimes[1]; got != restartTimeout {
			t.Errorf("the relay connected to the new daemon after %v, want %v, because the user may be restarting the daemon", got, restartTimeout)
		}
	})
}

// TestIdleRelayStartsNoDaemon checks that a relay without an open request starts no daemon, but
// connects to a daemon that another process starts.
func TestIdleRelayStartsNoDaemon(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := w.open()
		w.setRunning(false)
		server.closeConn()
		advanceTime(time.Hour)
		if w.countStarts() != 1 {
			t.Errorf("the relay started %d daemons; want 1", w.countStarts())
		}
		w.setRunning(true)
		nextServer := <-w.daemons
		w.expectResumedSession(nextServer)
		w.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		nextServer.expectLine(t, "ping")
	})
}

func TestOpenDaemonRequestsAreCancelled(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := w.open()
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call"}`)
		server.expectLine(t, `"id":2`)
		for _, id := range []string{"a", "b", "c"} {
			server.send(`{"jsonrpc":"2.0","id":"` + id + `","method":"elicitation/create"}`)
			w.expectLine(`"id":"` + id + `"`)
		}
		server.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
		w.expectLine("notifications/cancelled", `"requestId":"a"`)
		w.send(`{"jsonrpc":"2.0","id":"b","result":{"action":"cancel"}}`)
		server.expectLine(t, `"id":"b"`)
		server.closeConn()
		w.expectLine("notifications/cancelled", `"requestId":"c"`)
		w.expectLine(`"id":2`, "its result is lost")
	})
}

func TestDaemonRestartsQuickly(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := w.open()
		w.setRunning(false)
		server.closeConn()
		time.AfterFunc(300*time.Millisecond, func() { w.setRunning(true) })
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call"}`)
		nextServer := <-w.daemons
		w.expectResumedSession(nextServer)
		nextServer.expectLine(t, `"id":2`)
		if w.countStarts() != 1 || w.connectTimes[1] < 300*time.Millisecond || w.connectTimes[1] > 400*time.Millisecond {
			t.Errorf("the relay started %d daemons and connected at %v; want 1 daemon, and a second connection after 300 to 400 ms", w.countStarts(), w.connectTimes)
		}
	})
}

// Clients of MCP 2026-07-28, which has no sessions, reconnect.
func TestRequestsWithoutSessionAreRepeated(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := <-w.daemons
		w.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`)
		server.expectLine(t, `"id":1`)
		server.closeConn()
		nextServer := <-w.daemons
		nextServer.expectLine(t, "subscriptions/listen")
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		nextServer.expectLine(t, "tools/list")
	})
}

func TestConnectionLostBeforeInitialize(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := <-w.daemons
		w.send(initializeLine)
		server.expectLine(t, "initialize")
		server.closeConn()
		nextServer := <-w.daemons
		nextServer.expectLine(t, "initialize")
		nextServer.send(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		w.expectLine(`"id":0,"result"`)
		w.send(initializedLine)
		nextServer.expectLine(t, "initialized")
	})
}

func TestConnectionLostBeforeInitialized(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := <-w.daemons
		w.send(initializeLine)
		server.expectLine(t, "initialize")
		server.send(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		w.expectLine(`"id":0`)
		w.setRunning(false)
		server.closeConn()
		w.send(initializedLine)
		advanceTime(time.Minute)
		if w.countStarts() != 1 {
			t.Error("a notification made the relay start a daemon, want no start")
		}
		w.setRunning(true)
		nextServer := <-w.daemons
		nextServer.expectLine(t, `"method":"initialize"`)
		nextServer.send(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		nextServer.expectLine(t, "initialized")
		w.expectLine("tools/list_changed")
		w.expectLine("prompts/list_changed")
	})
}

func TestRelayReportsFailedDaemonStart(t *testing.T) {
	portErr := errors.New("port 9527 is in use by python3, pid 7")
	runWithFailingStart(t, portErr, func(w *testRelay) {
		w.send(initializeLine)
		w.expectLine(`"id":0,"error":{"code":-32000,"message":"opentabs has no server: port 9527 is in use by python3, pid 7"`)
		w.send(`{"jsonrpc":"2.0","id":"x","method":"ping"}`)
		w.expectLine(`"id":"x","error"`)
		if w.countStarts() > 2 {
			t.Errorf("the relay tried to connect %d times within 2 s, want at most 2 times", w.countStarts())
		}
		w.mu.Lock()
		w.startErr = nil
		w.mu.Unlock()
		advanceTime(connectErrLifetime)
		w.send(initializeLine)
		server := <-w.daemons
		server.expectLine(t, "initialize")
	})
}

func TestConnectErrorIsReported(t *testing.T) {
	runWithFailingStart(t, fmt.Errorf("open the server's log: %w", syscall.ENOSPC), func(w *testRelay) {
		w.send(initializeLine)
		w.expectLine(`"opentabs has no server: open the server's log: no space left on device: free some space on that disk, then try again"`)
	})
}

func TestNewServerFails(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := w.open()
		server.closeConn()
		w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		nextServer := <-w.daemons
		nextServer.expectLine(t, "initialize")
		nextServer.closeConn()
		w.expectLine(`"id":2,"error":`, "the server stopped again")
		advanceTime(connectErrLifetime)
		w.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
		lastServer := <-w.daemons
		w.expectResumedSession(lastServer)
		lastServer.expectLine(t, `"id":3`)
	})
}

func TestTooLongLineIsRejected(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := w.open()
		go func() {
			_, _ = io.WriteString(w.client, strings.Repeat("x", maxLineBytes+1)+"\n")
			w.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		}()
		w.expectLine(`"id":null,"error"`, "more than 32 MiB")
		server.expectLine(t, "ping")
	})
}

func TestLastLineWithoutNewline(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := w.open()
		go func() {
			_, _ = io.WriteString(w.client, "\n\n"+`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			_ = w.client.Close()
		}()
		server.expectLine(t, "ping")
		server.send(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		w.expectLine(`"id":2,"result"`)
		server.closeConn()
		if err := <-w.relayErr; err != nil {
			t.Error(err)
		}
	})
}

func TestRelayStopsAfterEndTimeout(t *testing.T) {
	runWithRelay(t, func(w *testRelay) {
		server := w.open()
		startTime := time.Now()
		_ = w.client.Close()
		if err := <-w.relayErr; err != nil || time.Since(startTime) != sessionEndTimeout {
			t.Errorf("the relay ended after %v with the error %v, want an end after sessionEndTimeout without an error", time.Since(startTime), err)
		}
		server.closeConn()
	})
}

func TestCancelWhileDaemonStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		input, client := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		r := newRelay(relayEndpoints{
			inputReader: input, outWriter: io.Discard, notef: func(string, ...any) {},
			connectToDaemon: func(context.Context) (conn, error) { return nil, httpapi.ErrNoServer },
			startDaemon:     func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		})
		time.AfterFunc(time.Second, cancel)
		if err := r.run(ctx); err != nil {
			t.Error(err)
		}
		_ = client.Close()
	})
}

func TestRelayEndsWhenClientClosesOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		input, client := io.Pipe()
		output, outWriter := io.Pipe()
		_ = output.Close()
		r := newRelay(relayEndpoints{
			inputReader: input, outWriter: outWriter, notef: func(string, ...any) {},
			connectToDaemon: func(context.Context) (conn, error) { return nil, httpapi.ErrNoServer },
			startDaemon:     func(context.Context) error { return errors.New("no") },
		})
		relayErr := make(chan error, 1)
		go func() { relayErr <- r.run(t.Context()) }()
		fmt.Fprintln(client, initializeLine)
		if err := <-relayErr; err == nil || !strings.Contains(err.Error(), "write to the client") {
			t.Errorf("error of the relay = %v; want an error that contains %q", err, "write to the client")
		}
		_ = client.Close()
	})
}

func advanceTime(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}
