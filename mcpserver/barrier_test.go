package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
)

const modernMetaWithProgressToken = `{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"m","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// pingedClient is a stdio client in fake time that answers each ping after the time pongDelay.
type pingedClient struct {
	t         *testing.T
	conn      net.Conn
	lines     *bufio.Reader
	startTime time.Time
	// pongDelay is how long the client takes to answer a ping; a negative pongDelay means never.
	pongDelay time.Duration
	errors    bool
}

type timedLine struct {
	kind string // the field kind is ping, progress, answer or padded answer
	at   time.Duration
	id   string
}

func (p *pingedClient) read(n int) []timedLine {
	p.t.Helper()
	var allLines []timedLine
	for n > 0 {
		line, err := p.lines.ReadString('\n')
		if err != nil {
			p.t.Fatal(err)
		}
		var m receivedMessage
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			p.t.Fatalf("line from the server: JSON error %v, want valid JSON: %.200s", err, line)
		}
		h := timedLine{kind: strings.TrimPrefix(m.Method, "notifications/"), at: time.Since(p.startTime), id: string(m.ID)}
		switch {
		case m.Method == "":
			h.kind = "answer"
			if len(line) == 64<<10 {
				h.kind = "padded answer"
			}
			n--
		case m.Method == "ping" && p.pongDelay >= 0:
			time.AfterFunc(p.pongDelay, func() {
				result := `"result":{}`
				if p.errors {
					result = `"error":{"code":-32601,"message":"Method not found"}`
				}
				_, _ = fmt.Fprintf(p.conn, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, result) // the write fails after the end of the test
			})
		}
		allLines = append(allLines, h)
	}
	return allLines
}

func (p *pingedClient) call(meta string) []timedLine {
	p.t.Helper()
	p.startTime = time.Now()
	p.sendMessage(callText(`1`, `{}`, meta))
	return p.read(1)
}

func (p *pingedClient) sendMessage(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func formatLineTimes(allLines []timedLine) string {
	var lineTimes []string
	for _, h := range allLines {
		lineTimes = append(lineTimes, fmt.Sprint(h.kind, " ", h.at))
	}
	return strings.Join(lineTimes, ", ")
}

// runWithPingedClient serves a tool that runs for the duration toolDuration. The tool first reports progress if the request has a progress token.
func runWithPingedClient(t *testing.T, toolDuration time.Duration, test func(p *pingedClient)) {
	t.Helper()
	packages := newServer(t, callerFunc(echoArguments), Options{}) // files are read outside of fake time
	synctest.Test(t, func(t *testing.T) {
		s := New(callerFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
			if c.Progress != nil {
				c.Progress(dispatch.Progress{Progress: 1})
			}
			<-time.After(toolDuration)
			return dispatch.Result{Output: json.RawMessage(`{}`)}, nil
		}), packages.reg, Options{})
		serverConn, clientConn := net.Pipe()
		callErrors := make(chan error)
		go func() { callErrors <- s.ServeStdio(t.Context(), serverConn, serverConn) }()
		test(&pingedClient{t: t, conn: clientConn, lines: bufio.NewReader(clientConn)})
		clientConn.Close()
		<-callErrors
		serverConn.Close()
		synctest.Wait()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

const metaWithProgressToken = `{"progressToken":1}`

func TestStdioAnswerWaitsForThePing(t *testing.T) {
	for _, testCase := range []struct {
		name                    string
		meta                    string
		toolDuration, pongDelay time.Duration
		errors                  bool
		want                    string
	}{
		{name: "answered", meta: metaWithProgressToken, pongDelay: 3 * time.Millisecond, want: "progress 0s, ping 0s, answer 3ms"},
		{name: "answered with an error", meta: metaWithProgressToken, pongDelay: 3 * time.Millisecond, errors: true, want: "progress 0s, ping 0s, answer 3ms"},
		{name: "progress a second before", meta: metaWithProgressToken, toolDuration: time.Second, pongDelay: 0, want: "progress 0s, ping 1s, answer 1s"},
		{name: "progress long before", meta: metaWithProgressToken, toolDuration: time.Minute, pongDelay: 0, want: "progress 0s, answer 1m0s"},
		{name: "no progress", meta: `{}`, pongDelay: 0, want: "answer 0s"},
		{name: "no pong", meta: metaWithProgressToken, pongDelay: -1, want: "progress 0s, ping 0s, padded answer 50ms"},
		{name: "2026-07-28", meta: modernMetaWithProgressToken, pongDelay: -1, want: "progress 0s, padded answer 10ms"},
		{name: "2026-07-28, progress long before", meta: modernMetaWithProgressToken, toolDuration: time.Minute, pongDelay: -1, want: "progress 0s, answer 1m0s"},
	} {
		t.Run(testCase.name, func(t *testing.T) {
			runWithPingedClient(t, testCase.toolDuration, func(p *pingedClient) {
				p.pongDelay, p.errors = testCase.pongDelay, testCase.errors
				if got := formatLineTimes(p.call(testCase.meta)); got != testCase.want {
					t.Errorf("messages that the client received: %s\nwant %s", got, testCase.want)
				}
			})
		})
	}
}

// TestStdioClientWithoutPongWaitsOnce checks that a client that answers no pings soon
// receives its answers without delay and padding.
func TestStdioClientWithoutPongWaitsOnce(t *testing.T) {
	runWithPingedClient(t, 0, func(p *pingedClient) {
		p.pongDelay = -1
		for i, want := range []string{
			"progress 0s, ping 0s, padded answer 50ms",
			"progress 0s, padded answer 0s", // the client may still answer the ping
		} {
			if got := formatLineTimes(p.call(metaWithProgressToken)); got != want {
				t.Errorf("call %d: the client received %s\nwant %s", i+1, got, want)
			}
		}
		<-time.After(5 * time.Second)
		if got, want := formatLineTimes(p.call(metaWithProgressToken)), "progress 0s, answer 0s"; got != want {
			t.Errorf("call after the pings without pong: the client received %s\nwant %s", got, want)
		}
	})
}

// TestStdioLatePongReenablesWait checks that the server's answers wait for pings again after the
// client has answered one ping late.
func TestStdioLatePongReenablesWait(t *testing.T) {
	runWithPingedClient(t, 0, func(p *pingedClient) {
		p.pongDelay = 80 * time.Millisecond
		if got, want := formatLineTimes(p.call(metaWithProgressToken)), "progress 0s, ping 0s, padded answer 50ms"; got != want {
			t.Errorf("call with the slow pong: the client received %s\nwant %s", got, want)
		}
		<-time.After(100 * time.Millisecond) // the late answer to the ping arrives before the next call
		p.pongDelay = time.Millisecond
		if got, want := formatLineTimes(p.call(metaWithProgressToken)), "progress 0s, ping 0s, answer 1ms"; got != want {
			t.Errorf("call after the late pong: the client received %s\nwant %s", got, want)
		}
		p.pongDelay = -1
		p.call(metaWithProgressToken)
		<-time.After(time.Minute)
		if got, want := formatLineTimes(p.call(metaWithProgressToken)), "progress 0s, padded answer 0s"; got != want {
			t.Errorf("call after the client stopped answering pings: the client received %s\nwant %s", got, want)
		}
	})
}

// TestStdioCallsShareAPing checks that concurrent calls share pings instead of sending
// one ping each.
func TestStdioCallsShareAPing(t *testing.T) {
	const n = 100
	runWithPingedClient(t, time.Second, func(p *pingedClient) {
		p.pongDelay = 2 * time.Millisecond
		p.startTime = time.Now()
		var lines []string
		for i := range n {
			lines = append(lines, callText(fmt.Sprint(i), `{}`, metaWithProgressToken))
		}
		go func() { _, _ = io.WriteString(p.conn, strings.Join(lines, "\n")+"\n") }() // a failed write also fails the read
		pingCount := 0
		for _, h := range p.read(n) {
			if h.kind == "ping" {
				pingCount++
			}
			if h.kind == "answer" && h.at < time.Second+2*time.Millisecond {
				t.Errorf("call %s was answered after %v, before any pong; want at least 1.002 s", h.id, h.at)
			}
		}
		if pingCount != 1 {
			t.Errorf("the server sent %d pings for %d calls; want 1", pingCount, n)
		}
	})
}

func TestStdioCancelEndsTheWaitForThePing(t *testing.T) {
	runWithPingedClient(t, 0, func(p *pingedClient) {
		p.pongDelay = -1
		p.startTime = time.Now()
		p.sendMessage(callText(`1`, `{}`, metaWithProgressToken))
		for kind := ""; kind != "ping"; {
			line, err := p.lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			kind = parseMessage(t, line).Method
		}
		p.sendMessage(newCancelMessage(`1`), `{"jsonrpc":"2.0","id":"after","method":"ping"}`)
		if got := p.read(1); len(got) != 1 || got[0].id != `"after"` || got[0].at != 0 {
			t.Errorf("messages after the cancellation = %+v; want only the answer with the ID \"after\", at 0 s", got)
		}
	})
}
