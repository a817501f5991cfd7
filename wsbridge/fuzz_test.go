package wsbridge

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// The hub must not panic, leak goroutines, or finish a call twice. Frames of one browser must not affect another
// browser or its call.
//
// A first byte of 1 sends a binary message, 2 sends raw bytes below WebSocket, and 3 advances the fake time by one
// second.
func FuzzInboundFrames(f *testing.F) {
	files, err := filepath.Glob("testdata/transcripts/*.frames")
	if err != nil || len(files) == 0 {
		f.Fatalf("testdata/transcripts has no files, error %v; want at least one", err)
	}
	for _, file := range files {
		fileContent, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var frames []string
		for line := range strings.Lines(string(fileContent)) {
			if _, frame, ok := strings.Cut(line, "> "); ok && strings.Index(line, "> ") == 1 {
				frames = append(frames, frame)
			}
		}
		f.Add([]byte(strings.NewReplacer(`"c-1"`, `"call_a"`, `"c1"`, `"call_a"`, `"c"`, `"call_b"`).Replace(strings.Join(frames, ""))))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","method":"tool.ask","params":{"dispatchId":"call_a","ask":1,"call":{"tool":"x","args":{}}}}` + "\n" +
		`{"jsonrpc":"2.0","id":"s/answer/1/call_a","result":{"taken":true}}` + "\n" +
		`{"jsonrpc":"2.0","method":"tool.ask","params":{"dispatchId":"call_b","ask":1,"user":{"reason":"x"}}}`))
	for _, m := range malformedFrames {
		if recording := strings.Join(m.frames, "\n"); len(recording) < maxFuzzInputBytes {
			f.Add([]byte(recording))
		}
	}
	f.Add([]byte("\x01binary\n\x02\x81\xff\xff\xff\n{}"))
	f.Add([]byte("\x02\x01\x80\x00\x00\x00\x00\n\x03\n\x02\x80\x80\x00\x00\x00\x00\n\x03\n{}"))
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) > maxFuzzInputBytes {
			return
		}
		testWithHub(t, Options{}, func(w *hubFixture) {
			a, b := w.connectBrowser("a", "boot"), w.connectBrowser("b", "boot")
			w.run("a", "call_a")
			w.run("b", "call_b")
			b.readFrames()
			for line := range bytes.SplitSeq(input, []byte("\n")) {
				a.executeFuzzLine(line)
				w.hub.Answer("call_a", 1, []byte(`{"found":3}`), nil)
			}
			endingCount, requestedCallIDs := 0, map[string]bool{}
			for _, event := range w.readEvents() {
				switch {
				case !strings.HasPrefix(event, "call_a "):
					t.Errorf("a frame of browser a caused the event %s, want only events of call_a", event)
				case strings.HasPrefix(event, "call_a asks"):
					if requestedCallIDs[event] {
						t.Errorf("the hub accepted one tool.ask twice: %s; want once", event)
					}
					requestedCallIDs[event] = true
				case !strings.HasPrefix(event, "call_a reports"):
					endingCount++
				}
			}
			if endingCount > 1 {
				t.Errorf("the run of browser a ended %d times, want at most once", endingCount)
			}
			b.respond("call_b", "7")
			w.wantEvents("call_b returned 7")
			b.wantFrames()
			if closeReason := b.awaitClose(); closeReason != "" {
				t.Errorf("the link of browser b ended with %q, want %q", closeReason, "")
			}
		})
	})
}

const maxFuzzInputBytes = 64 << 10

func (p *browserPeer) executeFuzzLine(line []byte) {
	kind, data := websocket.MessageText, line
	if len(line) > 0 {
		switch line[0] {
		case 1:
			kind, data = websocket.MessageBinary, line[1:]
		case 2:
			_ = p.stallableConn.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = p.stallableConn.Write(line[1:])
			return
		case 3:
			p.w.advanceTime(time.Second)
			return
		}
	}
	ctx, cancel := context.WithTimeout(p.w.t.Context(), time.Second)
	defer cancel()
	_ = p.ws.Write(ctx, kind, data)
}
