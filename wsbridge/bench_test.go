package wsbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"opentabs/dispatch"
	"opentabs/internal/loopback"
	"opentabs/wire"
)

func echoServer(b *testing.B, h http.Handler) *websocket.Conn {
	b.Helper()
	srv := httptest.NewServer(h)
	b.Cleanup(srv.Close)
	c, _, err := websocket.Dial(context.Background(), "ws"+strings.TrimPrefix(srv.URL, "http")+"/ws", &websocket.DialOptions{
		HTTPHeader:   http.Header{"Origin": {testOrigin}},
		Subprotocols: []string{wire.Subprotocol, wire.NonceSubprotocolPrefix + browserNonce},
	})
	if err != nil {
		b.Fatal(err)
	}
	c.SetReadLimit(wire.MaxFrameBytes)
	b.Cleanup(func() { _ = c.CloseNow() })
	return c
}

// newWebSocketEcho measures round trips with only the WebSocket library, the lower bound for calls
// through the hub.
func newWebSocketEcho(b *testing.B) func(frame []byte) {
	conns := make(chan *websocket.Conn, 1)
	peer := echoServer(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			b.Error(err)
			return
		}
		c.SetReadLimit(wire.MaxFrameBytes)
		conns <- c
	}))
	go func() {
		for {
			kind, frame, err := peer.Read(context.Background())
			if err != nil {
				return
			}
			_ = peer.Write(context.Background(), kind, frame)
		}
	}()
	c := <-conns
	b.Cleanup(func() { _ = c.CloseNow() })
	return func(frame []byte) {
		if err := c.Write(context.Background(), websocket.MessageText, frame); err != nil {
			b.Fatal(err)
		}
		if _, _, err := c.Read(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

type callErrorSink chan *wire.CallError

func (d callErrorSink) Reports([]wire.Report, int) {}
func (d callErrorSink) LinkLost()                  {}
func (callErrorSink) Ask(wire.ToolAskParams)       {}

func (d callErrorSink) LinkRestored()                                 {}
func (d callErrorSink) ReceivePart()                                  {}
func (d callErrorSink) Finish(_ json.RawMessage, err *wire.CallError) { d <- err }

func newBenchHub(b *testing.B) *Hub {
	h := New(Options{Key: testKey, Origins: []string{testOrigin}})
	h.newNonce = func() string { return serverNonce }
	var port int
	peer := echoServer(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		port = loopback.Port(r)
		h.Handler().ServeHTTP(w, r)
	}))
	b.Cleanup(h.Close)
	if _, _, err := peer.Read(context.Background()); err != nil { // the first frame is the server's challenge
		b.Fatal(err)
	}
	writeFrame := func(frame []byte) { _ = peer.Write(context.Background(), websocket.MessageText, frame) }
	writeFrame(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"h","method":"hello","params":{"protocol":1,"browserId":"b1","bootId":"x","proof":%q}}`,
		wire.BrowserProof(testKey, port, browserNonce, serverNonce)))
	writeFrame([]byte(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7,"documentId":"d7"}]}}`))
	writeFrame([]byte(`{"jsonrpc":"2.0","id":"ready","method":"ping","params":{}}`))
	ready := make(chan struct{})
	go func() {
		for {
			_, frame, err := peer.Read(context.Background())
			if err != nil {
				return
			}
			id, textAfterID, _ := bytes.Cut(frame[len(`{"jsonrpc":"2.0","id":"`):], []byte(`"`))
			if string(id) == "ready" {
				close(ready)
			}
			if _, args, ok := bytes.Cut(textAfterID, []byte(`"args":`)); ok {
				answerFrame := append([]byte(`{"jsonrpc":"2.0","id":"`), id...)
				answerFrame = append(answerFrame, `","result":{"output":`...)
				writeFrame(append(append(answerFrame, args[:len(args)-2]...), "}}"...))
			}
		}
	}()
	<-ready
	return h
}

func echoThroughHub(b *testing.B, h *Hub, id string, args []byte, d callErrorSink) {
	if err := h.Start(context.Background(), dispatch.Run{
		ID: id, Plugin: "chat", Tool: "export", Args: args,
		Target: dispatch.Target{Browser: "b1", TabID: 7, DocumentID: "d7"},
	}, d); err != nil {
		b.Fatal(err.Message)
	}
	if err := <-d; err != nil {
		b.Fatal(err.Message)
	}
}

// BenchmarkEcho compares a call through the hub with a bare WebSocket echo of equal size.
func BenchmarkEcho(b *testing.B) {
	for _, size := range []int{200, 16 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			echoWithoutHub, h, d := newWebSocketEcho(b), newBenchHub(b), make(callErrorSink, 1)
			args := []byte(`{"x":"` + strings.Repeat("x", size) + `"}`)
			frame := encodeRun(&dispatch.Run{ID: "call_0", Plugin: "chat", Tool: "export", Args: args}, false)
			var baselineDurations, hubEchoTimes []time.Duration
			for i := 0; b.Loop(); i++ {
				t0 := time.Now()
				echoWithoutHub(frame)
				t1 := time.Now()
				echoThroughHub(b, h, fmt.Sprint("call_", i), args, d)
				baselineDurations, hubEchoTimes = append(baselineDurations, t1.Sub(t0)), append(hubEchoTimes, time.Since(t1))
			}
			slices.Sort(baselineDurations)
			slices.Sort(hubEchoTimes)
			baseline, hub := baselineDurations[len(baselineDurations)/2], hubEchoTimes[len(hubEchoTimes)/2]
			b.ReportMetric(float64(baseline.Nanoseconds()), "floor-p50-ns")
			b.ReportMetric(float64(hub.Nanoseconds()), "hub-p50-ns")
			b.ReportMetric(float64(hub)/float64(baseline), "ratio")
		})
	}
}

func BenchmarkConcurrentEcho(b *testing.B) {
	h := newBenchHub(b)
	args := []byte(`{"x":"` + strings.Repeat("x", 200) + `"}`)
	var senders sync.WaitGroup
	startTime := time.Now()
	for g := range 32 {
		senders.Go(func() {
			d := make(callErrorSink, 1)
			for i := range b.N/32 + 1 {
				echoThroughHub(b, h, fmt.Sprint("call_", g, "_", i), args, d)
			}
		})
	}
	senders.Wait()
	b.ReportMetric(float64(b.N)/time.Since(startTime).Seconds(), "calls/s")
}

func BenchmarkProgress(b *testing.B) {
	h := New(Options{Key: testKey})
	defer h.Close()
	l := newLink(h, nil, nil)
	br := &browser{id: "b1", runTable: runTable{hub: h, runs: map[string]*toolRun{"call_1": {sink: make(callErrorSink, 1)}}}}
	const reports = 100
	var frame bytes.Buffer
	frame.WriteString(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"call_1","reports":[`)
	for i := range reports {
		if i > 0 {
			frame.WriteByte(',')
		}
		fmt.Fprintf(&frame, `{"progress":%d,"total":10000,"message":"page %[1]d of 10000"}`, i)
	}
	frame.WriteString(`]}}`)
	b.ReportAllocs()
	for b.Loop() {
		l.inbox.handleFrame(br, frame.Bytes())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/reports, "ns/report")
}

func BenchmarkParts(b *testing.B) {
	h := New(Options{Key: testKey})
	defer h.Close()
	l := newLink(h, nil, nil)
	largeOutput := `[` + strings.Repeat(`{"id":12345,"name":"some name","text":"lorem ipsum dolor sit amet"},`, 150_000) + `0]`
	var frames [][]byte
	for i := 0; i < len(largeOutput); i += wire.MaxPartChars {
		frames = append(frames, wire.AppendNotification(nil, wire.MethodToolPart, wire.EncodeBody(wire.ToolPartParams{
			DispatchID: "call_1", Seq: len(frames), Text: largeOutput[i:min(i+wire.MaxPartChars, len(largeOutput))],
		})))
	}
	frames = append(frames, wire.AppendResult(nil, "call_1", fmt.Appendf(nil, `{"parts":%d}`, len(frames))))
	d := make(callErrorSink, 1)
	b.SetBytes(int64(len(largeOutput)))
	for b.Loop() {
		br := &browser{id: "b1", runTable: runTable{hub: h, runs: map[string]*toolRun{"call_1": {sink: d, maxResultBytes: wire.DefaultMaxResultBytes}}}}
		for _, f := range frames {
			l.inbox.handleFrame(br, f)
		}
		if err := <-d; err != nil {
			b.Fatal(err.Message)
		}
	}
}
