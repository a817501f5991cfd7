package wsbridge

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"opentabs/internal/httpjson"
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// TestAttackByOrigin changes one part of a valid upgrade request at a time, as a web
// page, another extension or a local program would.
func TestAttackByOrigin(t *testing.T) {
	h := New(Options{Key: testKey, Origins: []string{testOrigin}})
	defer h.Close()
	const subprotocolHeader = "Sec-WebSocket-Protocol"
	nonce := wire.NonceSubprotocolPrefix + browserNonce
	header := func(key string, valueNames ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del(key)
			for _, v := range valueNames {
				r.Header.Add(key, v)
			}
		}
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	tests := []struct {
		name         string
		pluginChange func(*http.Request)
		httpStatus   int
	}{
		{"a valid request", func(*http.Request) {}, 0},
		{"localhost", host("localhost:9527"), 0},
		{"IPv6 loopback", host("[::1]:9527"), 0},
		{"no port", host("127.0.0.1"), 0},
		{"nonce first, in a separate header", header(subprotocolHeader, nonce, wire.Subprotocol), 0},
		{"post", func(r *http.Request) { r.Method = http.MethodPost }, 405},
		{"rebound name", host("evil.example:9527"), 403},
		{"host name that begins with our address", host("127.0.0.1.evil.example:9527"), 403},
		{"other address", host("127.0.0.2:9527"), 403},
		{"IPv6 without brackets", host("::1"), 403},
		{"no host", host(""), 403},
		{"port without number", host("127.0.0.1:"), 403},
		{"port that is not a port number", host("[::1]:x"), 403},
		{"no origin", header("Origin"), 403},
		{"web page", header("Origin", "https://evil.example"), 403},
		{"loopback page", header("Origin", "http://127.0.0.1:9527"), 403},
		{"origin that begins with our origin", header("Origin", testOrigin+".evil.example"), 403},
		{"other extension", header("Origin", "chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba"), 403},
		{"origin in capitals", header("Origin", strings.ToUpper(testOrigin)), 403},
		{"origin with a path", header("Origin", testOrigin+"/"), 403},
		{"null origin", header("Origin", "null"), 403},
		{"two origins", header("Origin", testOrigin, "https://evil.example"), 403},
		{"no upgrade", header("Upgrade"), 426},
		{"other upgrade", header("Upgrade", "h2c"), 426},
		{"no subprotocol", header(subprotocolHeader), 400},
		{"no nonce", header(subprotocolHeader, wire.Subprotocol), 400},
		{"empty nonce", header(subprotocolHeader, wire.Subprotocol+", "+wire.NonceSubprotocolPrefix), 400},
		{"short nonce", header(subprotocolHeader, wire.Subprotocol+", "+nonce[:len(nonce)-1]), 400},
		{"nonce of a megabyte", header(subprotocolHeader, wire.Subprotocol+", "+wire.NonceSubprotocolPrefix+strings.Repeat("x", 1<<20)), 400},
		{"nonce that is not ASCII", header(subprotocolHeader, wire.Subprotocol+", "+wire.NonceSubprotocolPrefix+strings.Repeat("é", 16)), 400},
		{"two nonces", header(subprotocolHeader, wire.Subprotocol+", "+nonce+", "+nonce), 400},
		{"the key in the place of the nonce", header(subprotocolHeader, wire.Subprotocol+", opentabs.token."+testKey), 400},
		{"nonce alone", header(subprotocolHeader, nonce), 400},
	}
	for _, tt := range tests {
		name := "a WebSocket: " + tt.name
		if tt.httpStatus == 0 {
			name = "beside attacks on the WebSocket, a good one is accepted: " + tt.name
		}
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:9527/ws", nil)
			r.Header.Set("Origin", testOrigin)
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
			r.Header.Set("Sec-WebSocket-Version", "13")
			r.Header.Set("Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg==")
			r.Header.Set(subprotocolHeader, wire.Subprotocol+", "+nonce)
			tt.pluginChange(r)
			if httpStatus, refusalText := inbound.CheckUpgrade(r, h.opts.Origins); httpStatus != tt.httpStatus {
				t.Fatalf("CheckUpgrade returned the status %d and the text %q, want the status %d", httpStatus, refusalText, tt.httpStatus)
			}
			if tt.httpStatus == 0 {
				return
			}
			w := httptest.NewRecorder()
			h.Handler().ServeHTTP(w, r)
			body := w.Body.String()
			var responseProblem httpjson.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &responseProblem); err != nil || w.Code != tt.httpStatus || !strings.HasSuffix(responseProblem.Error, ".") {
				t.Errorf("the server answered with the status %d and the text %q, want the status %d and a sentence", w.Code, body, tt.httpStatus)
			}
			if strings.Contains(body+fmt.Sprint(w.Header()), testKey) {
				t.Error("the server's answer contains the key, want no key in it")
			}
		})
	}
}

func TestNoAllowedOriginsRejectsAll(t *testing.T) {
	h := New(Options{Key: testKey})
	defer h.Close()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/ws", nil)
	if httpStatus, _ := inbound.CheckUpgrade(r, h.opts.Origins); httpStatus != 403 {
		t.Errorf("HTTP status of a request without an Origin = %d, want 403", httpStatus)
	}
}

func TestNewHubNeedsKey(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New without a key returned, want a panic")
		}
	}()
	New(Options{})
}

func TestVersionMismatchRejectsHello(t *testing.T) {
	tests := []struct {
		hello string
		want  string
	}{
		{`{"protocol":0}`, "Protocol versions differ: opentabs 1, extension 0. Update the extension: run `opentabs extension install`, then reload it."},
		{`{}`, "Protocol versions differ: opentabs 1, extension 0. Update the extension: run `opentabs extension install`, then reload it."},
		{`{"protocol":2,"browserId":{"of":"a new shape"}}`, "Protocol versions differ: opentabs 1, extension 2. Update opentabs, then start it again."},
	}
	for _, tt := range tests {
		testWithHub(t, Options{}, func(w *hubFixture) {
			p := w.dial()
			p.sendFrame(`{"jsonrpc":"2.0","id":"h","method":"hello","params":` + tt.hello + `}`)
			p.wantFrames(fmt.Sprintf(`{"jsonrpc":"2.0","id":"h","error":{"code":-32001,"message":%q}}`, tt.want))
			if got, want := p.awaitClose(), fmt.Sprintf("close 4001 %q", tt.want); got != want {
				t.Errorf("the link ended with %s, want %s", got, want)
			}
			if got := w.hub.Browsers(); len(got) != 0 {
				t.Errorf("connected browsers = %+v, want none", got)
			}
		})
	}
}

func TestVersionMismatchTextFitsCloseFrame(t *testing.T) {
	for _, version := range []int{math.MinInt, -1, 0, wire.Version + 1, math.MaxInt} {
		if s := inbound.FormatVersionMismatch(version); len(s) > inbound.MaxCloseReasonBytes {
			t.Errorf("the close reason for the protocol version %d has %d bytes, want at most %d", version, len(s), inbound.MaxCloseReasonBytes)
		}
	}
}

func TestFirstFrameMustBeHello(t *testing.T) {
	const notHelloCloseReason = `close 1008 "the first frame must be the request hello"`
	const invalidHelloIDMessage = `hello needs a browserId and a bootId of 1 to 128 visible ASCII characters`
	hello := func(params string) string {
		return `{"jsonrpc":"2.0","id":"h","method":"hello","params":` + params + `}`
	}
	tests := []struct{ frame, wantAnswer, wantClose string }{
		{`garbage`, "", notHelloCloseReason},
		{`{"jsonrpc":"2.0","method":"hello","params":{"protocol":1}}`, "", notHelloCloseReason},
		{`{"jsonrpc":"2.0","id":"1","result":{}}`, "", notHelloCloseReason},
		{`{"jsonrpc":"2.0","id":"1","method":"ping","params":{}}`,
			`{"jsonrpc":"2.0","id":"1","error":{"code":-32600,"message":"the first frame must be the request hello"}}`, notHelloCloseReason},
		{hello(`[]`), `{"jsonrpc":"2.0","id":"h","error":{"code":-32602,"message":"hello is malformed: protocol must be an integer"}}`,
			`close 1008 "hello is malformed: protocol must be an integer"`},
		{hello(`{"protocol":1,"proof":"` + browserProof + `"}`), `{"jsonrpc":"2.0","id":"h","error":{"code":-32602,"message":"` + invalidHelloIDMessage + `"}}`, `close 1008 "` + invalidHelloIDMessage + `"`},
		{hello(`{"protocol":1,"browserId":"b\u001b[31m","bootId":"x","proof":"` + browserProof + `"}`),
			`{"jsonrpc":"2.0","id":"h","error":{"code":-32602,"message":"` + invalidHelloIDMessage + `"}}`, `close 1008 "` + invalidHelloIDMessage + `"`},
	}
	for _, tt := range tests {
		testWithHub(t, Options{}, func(w *hubFixture) {
			p := w.dial()
			p.sendFrame(tt.frame)
			if got := strings.Join(p.readFrames(), "\n"); got != tt.wantAnswer {
				t.Errorf("answer to the frame %s\n got %s\nwant %s", tt.frame, got, tt.wantAnswer)
			}
			if got := p.awaitClose(); got != tt.wantClose {
				t.Errorf("after the frame %s the link ended with %s, want %s", tt.frame, got, tt.wantClose)
			}
		})
	}
}

func TestLongFirstFrameIsRejected(t *testing.T) {
	hello := func(pad int) string {
		return `{"jsonrpc":"2.0","id":"h","method":"hello","params":{"protocol":1,"browserId":"b1","bootId":"x","proof":"` + browserProof + `","pad":"` +
			strings.Repeat("x", pad) + `"}}`
	}
	frame := func(size int) string { return hello(size - len(hello(0))) }
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.dial()
		p.sendFrame(frame(64<<10 + 1))
		if got := p.awaitClose(); !strings.HasPrefix(got, "close 1009 ") {
			t.Errorf("the link ended with %s, want close 1009", got)
		}
		if got := w.hub.Browsers(); len(got) != 0 {
			t.Errorf("connected browsers = %+v, want none", got)
		}
	})
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.dial()
		p.sendFrame(frame(64 << 10))
		p.wantFrames(helloResponse, emptySyncFrame)
		p.sendFrame(`{"jsonrpc":"2.0","id":"1","method":"ping","params":{"pad":"` + strings.Repeat("x", 1<<20) + `"}}`)
		p.wantFrames(`{"jsonrpc":"2.0","id":"1","result":{}}`)
		if got := p.awaitClose(); got != "" {
			t.Errorf("the link ended with %s; want %q", got, "")
		}
	})
}

func TestBinaryFirstFrameIsRejected(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.dial()
		_ = p.ws.Write(w.t.Context(), websocket.MessageBinary, []byte("x"))
		if got, want := p.awaitClose(), `close 1008 "the first frame must be the request hello"`; got != want {
			t.Errorf("the link ended with %s, want %s", got, want)
		}
	})
}

func TestHelloTimeout(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.dial()
		w.advanceTime(10*time.Second - time.Nanosecond)
		if got := p.awaitClose(); got != "" {
			t.Errorf("the link ended too early with %s; want %q", got, "")
		}
		w.advanceTime(time.Nanosecond)
		if got, want := p.awaitClose(), `close 1008 "hello must arrive within 10 s"`; got != want {
			t.Errorf("the link ended with %s, want %s", got, want)
		}
	})
}

func TestHelloTimerStopsAfterHello(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.dial()
		w.advanceTime(10*time.Second - time.Nanosecond)
		p.sendHello("b1", "boot1")
		p.wantFrames(helloResponse, emptySyncFrame)
		w.advanceTime(time.Minute)
		if got := p.awaitClose(); got != "" {
			t.Errorf("the link ended with %s; want %q", got, "")
		}
	})
}

func TestBrowserNamesAreCleaned(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.dial()
		p.sendFormattedFrame(`{"jsonrpc":"2.0","id":"h","method":"hello","params":{"protocol":1,"browserId":"b1","browserName":"\u001b[31mRed\u202e%s","bootId":"x","extensionVersion":"1\u0000","proof":"`+browserProof+`"}}`,
			strings.Repeat("é", 200))
		p.readFrames()
		got := w.hub.Browsers()
		if want := "[31mRed" + strings.Repeat("é", 92) + "…"; len(got) != 1 || got[0].Name != want || got[0].ExtensionVersion != "1" {
			t.Errorf("browsers = %+v, want one with the name %q", got, want)
		}
	})
}

func TestCapabilitiesAreCleaned(t *testing.T) {
	var hub *Hub
	var changes []string
	testWithHub(t, Options{OnBrowsersChange: func() {
		changes = append(changes, fmt.Sprint(len(hub.Browsers())))
	}}, func(w *hubFixture) {
		hub = w.hub
		p := w.dial()
		p.sendFrame(`{"jsonrpc":"2.0","id":"h","method":"hello","params":{"protocol":1,"browserId":"b","browserName":"n","bootId":"boot","extensionVersion":"1",` +
			`"capabilities":["debugger","\u001b[2Jevil\u0000"],"proof":"` + browserProof + `"}}`)
		p.wantFrames(helloResponse, emptySyncFrame)
		if got := hub.Browsers()[0].Capabilities; len(got) != 2 || got[0] != "debugger" || strings.ContainsAny(got[1], "\x1b\x00") {
			t.Errorf("capabilities of the browser = %q, want debugger and a text without control characters", got)
		}
		_ = p.ws.CloseNow()
		w.advanceTime(defaultGracePeriod + time.Second)
		if got := strings.Join(changes, " "); got != "1 0" {
			t.Errorf("numbers of connected browsers after each change = %q, want 1, then 0 after the grace period", got)
		}
	})
}

func TestPeerWithoutProofLearnsNoSession(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.dial()
		w.hub.Holds.SendSessionEnded("s1")
		p.wantFrames()
	})
}
