package wsbridge

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestPingKeepsAlive(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.dial()
		p.setAnswersPings(false)
		p.sendHello("b1", "boot1")
		p.wantFrames(helloResponse, emptySyncFrame)
		const ping = `{"jsonrpc":"2.0","id":"s/ping","method":"ping","params":{}}`
		for range 30 {
			w.advanceTime(5*time.Second - time.Nanosecond)
			p.wantFrames()
			w.advanceTime(time.Nanosecond)
			p.wantFrames(ping)
			p.sendFrame(`{"jsonrpc":"2.0","id":"s/ping","result":{}}`)
		}
		if got := p.awaitClose(); got != "" {
			t.Errorf("the link ended with %s; want %q", got, "")
		}
	})
}

func TestLinkWithoutPongsIsClosed(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.dial()
		p.setAnswersPings(false)
		p.sendHello("b1", "boot1")
		p.readFrames()
		w.advanceTime(20 * time.Millisecond)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7,"documentId":"d7"}]}}`)
		p.readFrames()
		w.run("b1", "c1")
		w.advanceTime(7500 * time.Millisecond)
		if got := p.awaitClose(); got != "" {
			t.Errorf("the link ended too early with %s; want %q", got, "")
		}
		w.advanceTime(2480 * time.Millisecond)
		if got := p.awaitClose(); got != "lost" {
			t.Errorf("after 10 s of silence the link ended with %q, want lost", got)
		}
		w.advanceTime(10*time.Second - time.Nanosecond)
		w.wantEvents()
		w.advanceTime(time.Nanosecond)
		w.wantEvents("c1 " + linkLostMessage)
	})
}

func TestSlowLargeFrameKeepsLink(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.readFrames()
		p.setAnswersPings(false)
		output := `"` + strings.Repeat("x", 20*readChunkBytes) + `"`
		largeFrame := `{"jsonrpc":"2.0","id":"c1","result":{"output":` + output + `}}`
		// Write the bytes of the WebSocket frame directly, as one final text frame whose
		// mask is zero.
		frame := append([]byte{0x81, 0xff}, binary.BigEndian.AppendUint64(nil, uint64(len(largeFrame)))...)
		frame = append(append(frame, 0, 0, 0, 0), largeFrame...)
		for len(frame) > 0 {
			n := min(len(frame), readChunkBytes)
			if _, err := p.stallableConn.Write(frame[:n]); err != nil {
				t.Fatal(err)
			}
			frame = frame[n:]
			w.advanceTime(7 * time.Second)
		}
		if got := strings.Join(w.readEvents(), ""); got != "c1 returned "+output {
			t.Errorf("the run received %.60q (%d bytes), want its complete output of %d bytes", got, len(got), len(output))
		}
	})
}

type outputSink struct{ toolOutputs []json.RawMessage }

func (k *outputSink) Reports([]wire.Report, int) {}
func (k *outputSink) LinkLost()                  {}
func (*outputSink) Ask(wire.ToolAskParams)       {}

func (k *outputSink) LinkRestored() {}

func (k *outputSink) ReceivePart() {}
func (k *outputSink) Finish(toolOutput json.RawMessage, _ *wire.CallError) {
	k.toolOutputs = append(k.toolOutputs, toolOutput)
}

func TestResultsDoNotShareReadBuffer(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		var k outputSink
		for _, id := range []string{"c1", "c2"} {
			err := w.hub.Start(w.t.Context(), dispatch.Run{ID: id, Target: dispatch.Target{Browser: "b1", TabID: 7, DocumentID: "d7"}}, &k)
			if err != nil {
				t.Fatal(err.Message)
			}
		}
		p.respond("c1", `"first"`)
		p.readFrames()
		p.respond("c2", `"other"`)
		p.readFrames()
		if got := fmt.Sprintf("%s %s", k.toolOutputs[0], k.toolOutputs[1]); got != `"first" "other"` {
			t.Errorf("the runs have the outputs %s; want %q", got, `"first" "other"`)
		}
	})
}

func TestFrames(t *testing.T) {
	wantError := func(code int, errorMessage string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"1","error":{"code":%d,"message":%q}}`, code, errorMessage)
	}
	request := func(method string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"1","method":%q,"params":{}}`, method)
	}
	tests := []struct {
		frame, wantAnswer string
		malformed         int
	}{
		{request("ping"), `{"jsonrpc":"2.0","id":"1","result":{}}`, 0},
		{`{"jsonrpc":"2.0","id":"1","method":"ping"}`, `{"jsonrpc":"2.0","id":"1","result":{}}`, 0},
		{request("no.such"), wantError(-32601, `unknown method "no.such"`), 0},
		{request("tool.dispatch"), wantError(-32601, `unknown method "tool.dispatch"`), 0},
		{request("hello"), wantError(-32600, "hello was already sent; open a new connection to send it again"), 0},
		{request("tool.progress"), wantError(-32600, "tool.progress is a notification; send it without an id"), 0},
		{request("tab.sync"), wantError(-32600, "tab.sync is a notification; send it without an id"), 0},
		{`{"jsonrpc":"2.0","id":"unknown","result":{}}`, "", 0},
		{`{"jsonrpc":"2.0","id":"s/99","result":{}}`, "", 0},
		{`{"jsonrpc":"2.0","id":"s/cancel/unknown","result":{"outcome":"aborted"}}`, "", 0},
		{`{"jsonrpc":"2.0","id":"s/ping","error":{"code":1,"message":"no"}}`, "", 0},
		{`{"jsonrpc":"2.0","method":"no.such","params":{}}`, "", 1},
		{`{"jsonrpc":"2.0","method":"ping","params":{}}`, "", 1},
		{`{"jsonrpc":"2.0","method":"tool.progress","params":[]}`, "", 1},
		{`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":7}}`, "", 1},
		{`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"x","reports":{}}}`, "", 1},
		{`{"jsonrpc":"2.0","method":"tool.progress"}`, "", 0},
		{`{"jsonrpc":"2.0","method":"tool.part","params":{"dispatchId":"x","seq":"0"}}`, "", 1},
		{`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":"1"}]}}`, "", 1},
		{`{"jsonrpc":"2.0","method":"tab.changed","params":7}`, "", 1},
		{`{"jsonrpc":"2.0","method":"state.watch","params":{"on":"yes"}}`, "", 1},
		{`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":"x"}}`, "", 1},
		{`{"jsonrpc":"2.0","method":"call.resumed"}`, "", 0},
		{`not json`, "", 1},
		{``, "", 1},
		{`[]`, "", 1},
		{`{"jsonrpc":"1.0","id":"1","method":"ping"}`, "", 1},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "", 1},
		{`{"jsonrpc":"2.0","id":"x","result":{},"error":{"code":1,"message":""}}`, "", 1},
		{`{"jsonrpc":"2.0","id":"x","method":"ping","result":{}}`, "", 1},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":\"\xff\"}", "", 1},
	}
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		malformedCount := 0
		for _, tt := range tests {
			malformedCount += tt.malformed
			p.sendFrame(tt.frame)
			if got := strings.Join(p.readFrames(), "\n"); got != tt.wantAnswer {
				t.Errorf("answer to the frame %s\n got %s\nwant %s", tt.frame, got, tt.wantAnswer)
			}
			if got := w.getOnlyLink().inbox.malformedCount; got != malformedCount {
				t.Errorf("after the frame %s the link counted %d malformed frames, want %d", tt.frame, got, malformedCount)
				malformedCount = got
			}
		}
		if got := p.awaitClose(); got != "" {
			t.Errorf("the link ended with %s; want %q", got, "")
		}
	})
}

func (w *hubFixture) getOnlyLink() *link {
	w.hub.registry.mu.Lock()
	defer w.hub.registry.mu.Unlock()
	for l := range w.hub.registry.openLinksSet {
		return l
	}
	w.t.Fatal("the hub serves no connection, want one")
	return nil
}

func TestTooManyMalformedFramesCloseLink(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		for i := range maxMalformedFrames {
			if i%2 == 0 {
				p.sendFrame("malformed")
			} else {
				_ = p.ws.Write(w.t.Context(), websocket.MessageBinary, []byte(`{"jsonrpc":"2.0","id":"1","method":"ping"}`))
			}
		}
		if got := p.awaitClose(); got != "" {
			t.Fatalf("the link ended too early with %s; want %q", got, "")
		}
		p.sendFrame("malformed")
		if got, want := p.awaitClose(), `close 1008 "more than 100 frames were malformed"`; got != want {
			t.Errorf("the link ended with %s, want %s", got, want)
		}
	})
}

// A page may send a progress report at the moment when its call ends, so the report arrives after
// the end.
func TestReportsForUnknownCallsAreNotMalformed(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		for range 2 * maxMalformedFrames {
			p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"gone","reports":[{}]}}`)
		}
		if got := p.awaitClose(); got != "" {
			t.Errorf("the link ended with %s; want %q", got, "")
		}
		if l := w.getOnlyLink(); l.inbox.unknownRunReportCount != 2*maxMalformedFrames || l.inbox.malformedCount != 0 {
			t.Errorf("the link counted %d stray and %d malformed frames, want %d and 0", l.inbox.unknownRunReportCount, l.inbox.malformedCount, 2*maxMalformedFrames)
		}
		w.wantEvents()
	})
}
