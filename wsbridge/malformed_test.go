package wsbridge

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"opentabs/wire"
)

type malformedCase struct {
	name          string
	frames        []string
	responseLines []string
	events        []string
	wantClose     string
}

const tabSyncFormat = `{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":%s}}`

// While the malformed frames of a table row arrive, another browser runs the call call_b, which must succeed.
var malformedFrames = []malformedCase{
	{name: "not JSON", frames: []string{"", " ", "nonsense", "{", `{"jsonrpc":"2.0"`, "[]", "null", "1", `"x"`, "\x00"}},
	{name: "a batch", frames: []string{`[{"jsonrpc":"2.0","id":"1","method":"ping","params":{}}]`}},
	{name: "invalid UTF-8", frames: []string{"\xff\xfe", `{"jsonrpc":"2.0","id":"` + "\xc3\x28" + `","method":"ping"}`}},
	{name: "truncated", frames: []string{`{"jsonrpc":"2.0","id":"1","method":"pin`, `{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[`}},
	{name: "wrong JSON-RPC version", frames: []string{`{"jsonrpc":"1.0","id":"1","method":"ping"}`, `{"id":"1","method":"ping"}`, `{"jsonrpc":2,"id":"1","method":"ping"}`}},
	{name: "ids that are not strings", frames: []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":["x"],"result":{}}`,
	}},
	{name: "methods that are not strings", frames: []string{`{"jsonrpc":"2.0","id":"1","method":7}`, `{"jsonrpc":"2.0","id":"1","method":{}}`}},
	{name: "the same member twice in one object", frames: []string{
		`{"jsonrpc":"2.0","id":"call_a","id":"call_b","result":{"output":1}}`,
		`{"jsonrpc":"2.0","id":"call_b","result":{"output":1},"result":{"output":2}}`,
	}},
	{name: "too many members", frames: []string{`{"jsonrpc":"2.0","id":"1","method":"ping"` + newObjectWithMembers(40) + `}`}},
	{name: "a frame that is both a request and an answer", frames: []string{`{"jsonrpc":"2.0","id":"call_b","method":"ping","result":{}}`}},
	{name: "neither", frames: []string{`{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":""}`, `{"jsonrpc":"2.0","id":"x"}`, `{"jsonrpc":"2.0","id":"x","result":{},"error":{"code":1,"message":""}}`}},
	{
		name:          "unknown methods",
		frames:        []string{`{"jsonrpc":"2.0","id":"1","method":"no.such"}`, `{"jsonrpc":"2.0","method":"no.such"}`, `{"jsonrpc":"2.0","id":"2","method":"toString"}`},
		responseLines: []string{`{"jsonrpc":"2.0","id":"1","error":{"code":-32601,"message":"unknown method \"no.such\""}}`, `{"jsonrpc":"2.0","id":"2","error":{"code":-32601,"message":"unknown method \"toString\""}}`},
	},
	{
		name: "params that do not match the method",
		frames: []string{
			`{"jsonrpc":"2.0","id":"1","method":"call.cancel","params":{"callId":7}}`, `{"jsonrpc":"2.0","id":"2","method":"call.cancel","params":[]}`, `{"jsonrpc":"2.0","id":"3","method":"call.cancel"}`,
			`{"jsonrpc":"2.0","method":"state.watch","params":{"on":"yes"}}`, `{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":"7"}}`, fmt.Sprintf(tabSyncFormat, `{"7":{}}`),
			`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":7}}`, `{"jsonrpc":"2.0","method":"tool.part","params":{"dispatchId":"call_a","seq":1e99,"text":"x"}}`,
			`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":"call_b"}}`,
		},
		responseLines: []string{needsCallID("1"), needsCallID("2"), needsCallID("3")},
	},
	{
		name: "a request where a notification belongs", frames: []string{`{"jsonrpc":"2.0","id":"1","method":"tab.sync","params":{}}`},
		responseLines: []string{`{"jsonrpc":"2.0","id":"1","error":{"code":-32600,"message":"tab.sync is a notification; send it without an id"}}`},
	},
	{
		name: "hello twice", frames: []string{`{"jsonrpc":"2.0","id":"1","method":"hello","params":{"protocol":1,"browserId":"b","browserName":"x","bootId":"y","extensionVersion":"z"}}`},
		responseLines: []string{`{"jsonrpc":"2.0","id":"1","error":{"code":-32600,"message":"hello was already sent; open a new connection to send it again"}}`},
	},
	{name: "answers without a request", frames: []string{
		`{"jsonrpc":"2.0","id":"call_never","result":{"output":1}}`, `{"jsonrpc":"2.0","id":"s/99","result":{}}`, `{"jsonrpc":"2.0","id":"s/cancel/call_a","result":{"outcome":"aborted"}}`,
		`{"jsonrpc":"2.0","id":"s/cancel/","error":{"code":1,"message":"x"}}`, `{"jsonrpc":"2.0","id":"s/","result":null}`, `{"jsonrpc":"2.0","id":"call_never","error":{"code":-32000,"message":"x"}}`,
	}},
	{
		name: "a result twice", frames: []string{`{"jsonrpc":"2.0","id":"call_a","result":{"output":1}}`, `{"jsonrpc":"2.0","id":"call_a","result":{"output":2}}`, `{"jsonrpc":"2.0","id":"call_a","error":{"code":-32000,"message":"x"}}`},
		events: []string{"call_a returned 1"},
	},
	{
		name: "progress after the result", frames: []string{`{"jsonrpc":"2.0","id":"call_a","result":{"output":1}}`, `{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"call_a","reports":[{"progress":1}]}}`},
		events: []string{"call_a returned 1"},
	},
	{
		name: "a result of the wrong JSON type", frames: []string{`{"jsonrpc":"2.0","id":"call_a","result":"done"}`},
		events: []string{"call_a failed internal: the browser's answer is not a result"},
	},
	{
		name: "a result whose text is not JSON", frames: []string{`{"jsonrpc":"2.0","id":"call_a","result":{"output":undefined}}`},
		events: []string{"call_a failed invalid_result: the tool's result is not valid JSON"},
	},
	{
		name: "a very deeply nested result", frames: []string{`{"jsonrpc":"2.0","id":"call_a","result":{"output":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`},
		events: []string{"call_a failed invalid_result: the tool's result is not valid JSON"},
	},
	{name: "very deeply nested params", frames: []string{`{"jsonrpc":"2.0","method":"tab.sync","params":` + strings.Repeat(`{"tabs":`, 100_000) + `1` + strings.Repeat("}", 100_000) + `}`}},
	{name: "a flood of nonsense", frames: repeatFrame(101, "nonsense"), wantClose: `close 1008 "more than 100 frames were malformed"`},
	{name: "a flood of pings", frames: repeatFrame(500, `{"jsonrpc":"2.0","id":"p","method":"ping","params":{}}`), responseLines: repeatFrame(500, `{"jsonrpc":"2.0","id":"p","result":{}}`)},
	{name: "a flood of pongs", frames: repeatFrame(500, `{"jsonrpc":"2.0","id":"s/ping","result":{}}`)},
	{name: "binary messages", frames: repeatFrame(3, "\x01{}")},
}

func needsCallID(id string) string {
	return `{"jsonrpc":"2.0","id":"` + id + `","error":{"code":-32602,"message":"call.cancel needs a callId; name the call to stop"}}`
}

func repeatFrame(n int, frame string) []string {
	frames := make([]string, n)
	for i := range frames {
		frames[i] = frame
	}
	return frames
}

func newObjectWithMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	return b.String()
}

// The hub may close only the link that sent the malformed input, and must not affect another browser.
func TestMalformedFramesAffectOnlyTheirSender(t *testing.T) {
	for _, m := range malformedFrames {
		t.Run(m.name, func(t *testing.T) {
			testWithHub(t, Options{}, func(w *hubFixture) {
				a, b := w.connectBrowser("a", "boot"), w.connectBrowser("b", "boot")
				w.run("a", "call_a")
				w.run("b", "call_b")
				a.readFrames()
				b.readFrames()
				for _, frame := range m.frames {
					a.executeFuzzLine([]byte(frame))
				}
				w.wantEvents(m.events...)
				a.wantFrames(m.responseLines...)
				if wantClose := a.awaitClose(); wantClose != m.wantClose {
					t.Errorf("the link of the bad browser ended with %q, want %q", wantClose, m.wantClose)
				}
				if m.wantClose == "" && m.events == nil {
					a.respond("call_a", `"still here"`)
					w.wantEvents(`call_a returned "still here"`)
				}
				b.respond("call_b", "7")
				w.wantEvents("call_b returned 7")
				b.wantFrames()
			})
		})
	}
}

// The test writes the bytes of a WebSocket frame directly, because a mask of zero leaves them unchanged.
func TestOversizedFrameClosesLink(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		a := w.connectBrowser("a", "boot")
		frameHeader := binary.BigEndian.AppendUint64([]byte{0x81, 0xff}, wire.MaxFrameBytes+1)
		body := make([]byte, 1<<20)
		for chunk := append(frameHeader, 0, 0, 0, 0); ; chunk = body {
			_ = a.stallableConn.SetWriteDeadline(time.Now().Add(time.Second))
			if _, err := a.stallableConn.Write(chunk); err != nil {
				break
			}
		}
		if wantClose := a.awaitClose(); !strings.HasPrefix(wantClose, "close 1009 ") {
			t.Errorf("the link ended with %q; want a text that begins with %q", wantClose, "close 1009 ")
		}
	})
}

func TestSlowUnfinishedFrameClosesLink(t *testing.T) {
	for _, c := range []struct {
		name        string
		chunk       int
		maxDuration time.Duration
	}{{"byte by byte", 1, time.Minute}, {"piece by piece", readChunkBytes, frameTimeout + 10*time.Second}} {
		t.Run(c.name, func(t *testing.T) {
			testWithHub(t, Options{}, func(w *hubFixture) {
				a := w.connectBrowser("a", "boot")
				a.setAnswersPings(false)
				startTime := time.Now()
				frameHeader := binary.BigEndian.AppendUint64([]byte{0x81, 0xff}, wire.MaxFrameBytes)
				body := make([]byte, c.chunk)
				for chunk := append(frameHeader, 0, 0, 0, 0); ; chunk = body {
					if _, err := a.stallableConn.Write(chunk); err != nil {
						break
					}
					w.advanceTime(5 * time.Second)
				}
				if elapsedTime := time.Since(startTime); elapsedTime > c.maxDuration {
					t.Errorf("the link was blocked for %v, want at most %v", elapsedTime, c.maxDuration)
				}
			})
		})
	}
}
