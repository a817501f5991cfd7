// Package peer has a browser for benchmarks of the WebSocket hub. The browser answers each
// run with as little work as possible, so that the time of a run is the time of the hub.
package peer

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"

	"opentabs/dispatch"
	"opentabs/wire"
)

const (
	// Key is the shared secret of the hub and the browser.
	Key = "benchmark"
	// Origin is the origin of the browser.
	Origin = "chrome-extension://benchmark"
	// pingID is the ID of the ping that follows the tabs.
	pingID = "ping-2"
)

// Target is the only document of the browser.
var Target = dispatch.Target{Browser: "benchmark", TabID: 1, DocumentID: "document"}

// Browser is a browser that answers each run with the same result.
type Browser struct {
	ws *websocket.Conn
	// lastRunBytes is the length of the last frame that started a run.
	lastRunBytes atomic.Int64
	// synced is closed when the hub has answered a ping that follows the tabs.
	synced    chan struct{}
	setSynced func()
}

// Connect connects a Browser to a hub. All runs of the Browser have the result output.
// Connect returns when the hub has the document of the Browser.
func Connect(ctx context.Context, hubURL string, output json.RawMessage) (*Browser, error) {
	u, err := url.Parse(hubURL)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return nil, err
	}
	browserNonce := rand.Text()
	ws, _, err := websocket.Dial(ctx, hubURL+"/ws", &websocket.DialOptions{
		HTTPHeader: http.Header{"Origin": {Origin}}, Subprotocols: []string{wire.Subprotocol, wire.NonceSubprotocolPrefix + browserNonce},
	})
	if err != nil {
		return nil, err
	}
	_, frame, err := ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	envelope, err := wire.Parse(frame)
	if err != nil {
		return nil, err
	}
	var challenge wire.ChallengeParams
	if err := wire.DecodeBody(envelope.Params, &challenge); err != nil {
		return nil, err
	}
	b := &Browser{ws: ws, synced: make(chan struct{})}
	b.setSynced = sync.OnceFunc(func() { close(b.synced) })
	for _, frame := range [][]byte{
		wire.AppendRequest(nil, "1", wire.MethodHello, wire.EncodeBody(wire.HelloParams{
			Protocol: wire.Version, BrowserID: Target.Browser, BootID: "boot",
			Proof: wire.BrowserProof(Key, port, browserNonce, challenge.Nonce),
		})),
		wire.AppendNotification(nil, wire.MethodTabSync, wire.EncodeBody(wire.TabSyncParams{Tabs: []wire.TabInfo{{TabID: Target.TabID, DocumentID: Target.DocumentID}}})),
		wire.AppendRequest(nil, pingID, wire.MethodPing, wire.EncodeBody(wire.PingParams{})),
	} {
		if err := ws.Write(ctx, websocket.MessageText, frame); err != nil {
			return nil, err
		}
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		b.answerRuns(ctx, wire.EncodeBody(wire.ToolDispatchResult{Output: output}))
	}()
	select {
	case <-b.synced:
		return b, nil
	case <-closed:
		return nil, errors.New("the hub closed the connection of the benchmark")
	}
}

// Close closes the connection.
func (b *Browser) Close() { _ = b.ws.CloseNow() }

// LastRunBytes returns the length of the last frame that started a run.
func (b *Browser) LastRunBytes() int64 { return b.lastRunBytes.Load() }

// answerRuns answers each run with body until the connection closes. answerRuns finds the
// ID by its position and does not parse the frame.
func (b *Browser) answerRuns(ctx context.Context, body []byte) {
	idPosition := bytes.Index(wire.AppendRequest(nil, pingID, wire.MethodPing, nil), []byte(pingID))
	answer := []byte{}
	for {
		_, frame, err := b.ws.Read(ctx)
		if err != nil || len(frame) < idPosition {
			return
		}
		id, _, _ := bytes.Cut(frame[idPosition:], []byte(`"`))
		switch {
		case string(id) == pingID:
			b.setSynced()
		case bytes.Contains(frame, []byte(wire.MethodToolDispatch)):
			b.lastRunBytes.Store(int64(len(frame)))
			answer = wire.AppendResult(answer[:0], string(id), body)
			if b.ws.Write(ctx, websocket.MessageText, answer) != nil {
				return
			}
		}
	}
}
