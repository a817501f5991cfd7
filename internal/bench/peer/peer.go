// Package peer simulates a browser for benchmarks of the WebSocket hub. The simulated
// browser does as little work as possible, so that a benchmark measures almost only the
// hub.
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
	// Key is the secret with which the hub and the simulated browser authenticate each
	// other.
	Key = "benchmark"
	// Origin is the value of the HTTP header Origin that the simulated browser sends.
	Origin = "chrome-extension://benchmark"
	pingID = "ping-2"
)

// Target describes the only document that the simulated browser has.
var Target = dispatch.Target{Browser: "benchmark", TabID: 1, DocumentID: "document"}

// Browser is a simulated browser that responds to every tool run with the same result.
type Browser struct {
	ws                *websocket.Conn
	lastDispatchBytes atomic.Int64
	// The field tabsSynced is closed when the hub has answered the ping that follows the list
	// of tabs.
	tabsSynced    chan struct{}
	closeSyncDone func()
}

// Connect connects a simulated browser to a hub. Every tool that the simulated browser
// runs returns output as its result. Connect blocks until the hub has received the
// browser's list of tabs.
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
	b := &Browser{ws: ws, tabsSynced: make(chan struct{})}
	b.closeSyncDone = sync.OnceFunc(func() { close(b.tabsSynced) })
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
		b.answerToolRuns(ctx, wire.EncodeBody(wire.ToolDispatchResult{Output: output}))
	}()
	select {
	case <-b.tabsSynced:
		return b, nil
	case <-closed:
		return nil, errors.New("the hub closed the connection of the benchmark")
	}
}

// Close closes the WebSocket to the hub.
func (b *Browser) Close() { _ = b.ws.CloseNow() }

// LastDispatchBytes returns the length in bytes of the last message frame that started a tool
// run.
func (b *Browser) LastDispatchBytes() int64 { return b.lastDispatchBytes.Load() }

// answerToolRuns does not parse message frames, to save time: the request ID is always at the same position.
func (b *Browser) answerToolRuns(ctx context.Context, requestBody []byte) {
	idPosition := bytes.Index(wire.AppendRequest(nil, pingID, wire.MethodPing, nil), []byte(pingID))
	reportBuffer := []byte{}
	for {
		_, frame, err := b.ws.Read(ctx)
		if err != nil || len(frame) < idPosition {
			return
		}
		id, _, _ := bytes.Cut(frame[idPosition:], []byte(`"`))
		switch {
		case string(id) == pingID:
			b.closeSyncDone()
		case bytes.Contains(frame, []byte(wire.MethodToolDispatch)):
			b.lastDispatchBytes.Store(int64(len(frame)))
			reportBuffer = wire.AppendResult(reportBuffer[:0], string(id), requestBody)
			if b.ws.Write(ctx, websocket.MessageText, reportBuffer) != nil {
				return
			}
		}
	}
}
