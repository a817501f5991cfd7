package wsbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"opentabs/dispatch"
	"opentabs/internal/memnet"
	"opentabs/wire"
)

const (
	testKey    = "dG9rZW4tb2YtdGhlLXRlc3Rz"
	testOrigin = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"
)

type hubFixture struct {
	t         *testing.T
	hub       *Hub
	ln        *memnet.Listener
	startedAt time.Time

	mu            sync.Mutex // the mutex guards the following fields
	events        []string
	links         []string
	receivedParts int // the number of parts of results that the hub has passed to sinks
}

// All goroutines of the hub have ended when testWithHub returns.
func testWithHub(t *testing.T, o Options, test func(w *hubFixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Key, o.Origins, o.Version = testKey, []string{testOrigin}, "0.1.0"
		w := &hubFixture{t: t, hub: New(o), ln: memnet.Listen(), startedAt: time.Now()}
		w.hub.newNonce = func() string { return serverNonce }
		srv := &http.Server{Handler: w.hub.Handler()}
		serveError := make(chan struct{})
		go func() { defer close(serveError); _ = srv.Serve(w.ln) }()
		test(w)
		w.hub.Close()
		_ = srv.Close()
		<-serveError
	})
}

func (w *hubFixture) recordEvent(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, fmt.Sprintf(format, args...))
}

func (w *hubFixture) recordLink(description string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.links = append(w.links, description)
}

// readEvents waits until all goroutines are idle and returns the events since the last
// call of readEvents.
func (w *hubFixture) readEvents() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	unreadEvents := w.events
	w.events = nil
	return unreadEvents
}

func (w *hubFixture) wantEvents(want ...string) {
	w.t.Helper()
	if got := w.readEvents(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		w.t.Errorf("events of the runs after %v:\n got %q\nwant %q", time.Since(w.startedAt), got, want)
	}
}

// advanceTime advances the fake time by d and waits until all goroutines are idle.
func (w *hubFixture) advanceTime(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

type sink struct {
	w  *hubFixture
	id string
}

func (s sink) Reports(reports []wire.Report, skippedCount int) {
	b, err := json.Marshal(reports)
	if err != nil {
		s.w.t.Error(err)
	}
	s.w.recordEvent("%s reports %s skipped %d", s.id, b, skippedCount)
}

func (s sink) LinkLost() { s.w.recordLink(s.id + " lost") }

func (s sink) Ask(p wire.ToolAskParams) {
	b, err := json.Marshal(p)
	if err != nil {
		s.w.t.Error(err)
	}
	s.w.recordEvent("%s asks %s", s.id, b)
}

func (s sink) LinkRestored() { s.w.recordLink(s.id + " back") }

func (s sink) ReceivePart() {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.receivedParts++
}

func (s sink) Finish(toolOutput json.RawMessage, err *wire.CallError) {
	switch {
	case err != nil && err.Tool != nil:
		toolJSON, _ := json.Marshal(err.Tool)
		s.w.recordEvent("%s failed %s: %s %s", s.id, err.Code, err.Message, toolJSON)
	case err != nil && err.NotStarted:
		s.w.recordEvent("%s failed %s, not started: %s", s.id, err.Code, err.Message)
	case err != nil:
		s.w.recordEvent("%s failed %s: %s", s.id, err.Code, err.Message)
	case toolOutput == nil:
		s.w.recordEvent("%s returned undefined", s.id)
	default:
		s.w.recordEvent("%s returned %s", s.id, toolOutput)
	}
}

func (w *hubFixture) run(browser, id string) {
	w.t.Helper()
	if err := w.startTestRun(browser, id, 0); err != nil {
		w.t.Fatalf("Start(%s) returned the error %s: %s; want nil", id, err.Code, err.Message)
	}
}

func (w *hubFixture) startTestRun(browser, id string, limit int) *wire.CallError {
	return w.hub.Start(w.t.Context(), dispatch.Run{
		ID: id, Plugin: "chat", Tool: "export", Args: json.RawMessage(`{"n":1}`), MaxResultBytes: limit,
		Target: dispatch.Target{Browser: browser, BrowserName: "Chrome", TabID: 7, DocumentID: "d7"},
	}, sink{w, id})
}

func (w *hubFixture) cancel(id string) {
	w.hub.Cancel(id, "stop it", func(o wire.CancelOutcome) { w.recordEvent("%s stopped: %s", id, o) })
}

type browserPeer struct {
	w             *hubFixture
	ws            *websocket.Conn
	stallableConn *stallableConnection
	done          chan struct{}
	answersPings  bool       // the field answersPings is true if the peer automatically answers pings and rejects tab.load
	mu            sync.Mutex // the mutex guards frames and closeReason
	frames        []string
	closeReason   string
}

func (w *hubFixture) dial() *browserPeer {
	w.t.Helper()
	p := w.open(browserNonce)
	p.wantFrames(challenge)
	return p
}

func (w *hubFixture) open(browserNonce string) *browserPeer {
	w.t.Helper()
	p := &browserPeer{w: w, done: make(chan struct{}), answersPings: true}
	tr := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := w.ln.Dial(ctx, network, addr)
		p.stallableConn = &stallableConnection{Conn: c}
		return p.stallableConn, err
	}}
	ws, res, err := websocket.Dial(w.t.Context(), "ws://127.0.0.1/ws", &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: tr},
		HTTPHeader:   http.Header{"Origin": {testOrigin}},
		Subprotocols: []string{wire.Subprotocol, wire.NonceSubprotocolPrefix + browserNonce},
	})
	if err != nil {
		w.t.Fatalf("error of the WebSocket dial = %v, want nil", err)
	}
	if got := res.Header.Get("Sec-Websocket-Protocol"); got != wire.Subprotocol {
		w.t.Errorf("WebSocket subprotocol = %q, want %q", got, wire.Subprotocol)
	}
	ws.SetReadLimit(wire.MaxFrameBytes)
	p.ws = ws
	go p.readUntilClosed()
	w.t.Cleanup(func() { _ = ws.CloseNow(); <-p.done; tr.CloseIdleConnections() })
	return p
}

func (p *browserPeer) setAnswersPings(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answersPings = on
}

func (p *browserPeer) readUntilClosed() {
	defer close(p.done)
	for {
		_, b, err := p.ws.Read(context.Background())
		p.mu.Lock()
		if err != nil {
			p.closeReason = "lost"
			var ce websocket.CloseError
			if errors.As(err, &ce) {
				p.closeReason = fmt.Sprintf("close %d %q", ce.Code, ce.Reason)
			}
			p.mu.Unlock()
			return
		}
		var f struct{ ID, Method string }
		responseFrames := ""
		// Decoding a result of 16 MB would use a second of CPU time with the race detector.
		if isShortFrame := len(b) < 10<<10; p.answersPings && isShortFrame && json.Unmarshal(b, &f) == nil {
			responseFrames = map[string]string{"ping": "{}", "tab.load": `{"loading":false}`}[f.Method]
		}
		if responseFrames == "" {
			p.frames = append(p.frames, string(b))
		}
		p.mu.Unlock()
		if responseFrames != "" {
			p.sendFormattedFrame(`{"jsonrpc":"2.0","id":%q,"result":%s}`, f.ID, responseFrames)
		}
	}
}

func (p *browserPeer) sendFrame(frame string) {
	_ = p.ws.Write(context.Background(), websocket.MessageText, []byte(frame))
}

func (p *browserPeer) sendFormattedFrame(format string, args ...any) {
	p.sendFrame(fmt.Sprintf(format, args...))
}

// readFrames waits until all goroutines are idle and returns the frames that arrived
// since the last call of readFrames.
func (p *browserPeer) readFrames() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	unreadFrames := p.frames
	p.frames = nil
	return unreadFrames
}

func (p *browserPeer) awaitClose() string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closeReason
}

func (p *browserPeer) wantFrames(want ...string) {
	p.w.t.Helper()
	if got := p.readFrames(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		p.w.t.Errorf("frames that the browser received after %v:\n got %q\nwant %q", time.Since(p.w.startedAt), got, want)
	}
}

type stallableConnection struct {
	net.Conn
	gate atomic.Pointer[chan struct{}]
}

func (c *stallableConnection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if gate := c.gate.Load(); gate != nil {
		<-*gate
	}
	return n, err
}

func (p *browserPeer) stallReads(release chan struct{}) { p.stallableConn.gate.Store(&release) }

// closeAbruptly closes the browser's network connection without sending a WebSocket close
// frame.
func (p *browserPeer) closeAbruptly() {
	_ = p.stallableConn.Close()
	<-p.done
	synctest.Wait()
}

const (
	browserNonce = "0123456789abcdef"
	serverNonce  = "fedcba9876543210"
)

var (
	browserProof = wire.BrowserProof(testKey, 0, browserNonce, serverNonce)
	challenge    = fmt.Sprintf(`{"jsonrpc":"2.0","method":"challenge","params":{"nonce":%q,"proof":%q}}`,
		serverNonce, wire.ServerProof(testKey, 0, browserNonce, serverNonce))
)

const (
	helloResponse  = `{"jsonrpc":"2.0","id":"h","result":{"protocol":1,"serverVersion":"0.1.0"}}`
	emptySyncFrame = `{"jsonrpc":"2.0","id":"s/1","method":"plugin.sync","params":{}}`
)

func (w *hubFixture) connectBrowser(id, bootID string) *browserPeer {
	w.t.Helper()
	p := w.dial()
	p.sendHello(id, bootID)
	p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7,"windowId":1,"url":"https://chat.example/","title":"Chat","active":true,"focused":true,"lastAccessedMs":1,"documentId":"d7","plugins":[{"name":"chat","hash":"h1"}]}]}}`)
	if got := p.readFrames(); len(got) == 0 || got[0] != helloResponse {
		w.t.Fatalf("first frames of the server = %q, want the answer to hello", got)
	}
	return p
}

func (p *browserPeer) sendHello(id, bootID string) {
	p.sendFormattedFrame(`{"jsonrpc":"2.0","id":"h","method":"hello","params":{"protocol":1,"browserId":%q,"browserName":"Chrome","bootId":%q,"extensionVersion":"0.1.0","proof":%q}}`,
		id, bootID, browserProof)
}

func newDispatchFrame(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tool.dispatch","params":{"dispatchId":%[1]q,"plugin":"chat","tool":"export","tabId":7,"documentId":"d7","maxResultBytes":104857600,"args":{"n":1}}}`, id)
}

func newCancelFrame(id, cancelReason string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"s/cancel/%s","method":"tool.cancel","params":{"dispatchId":%[1]q,"reason":%q}}`, id, cancelReason)
}

func (p *browserPeer) respond(id, output string) {
	p.sendFormattedFrame(`{"jsonrpc":"2.0","id":%q,"result":{"output":%s}}`, id, output)
}
