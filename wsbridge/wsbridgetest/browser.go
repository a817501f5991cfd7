// Package wsbridgetest provides a simulated browser for tests of the whole server. The
// simulated browser connects over a real WebSocket, as the extension does, and runs Go
// functions as tools. Begin with [Connect].
package wsbridgetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"opentabs/wire"
)

// Options configure a simulated [Browser].
type Options struct {
	// URL is the address of the server's WebSocket, such as ws://127.0.0.1:9527/ws. The
	// field URL is required.
	URL string
	// Key is the secret that server and browser share. Origin is an HTTP origin that the server allows. Key and Origin
	// are required.
	Key, Origin string
	// KeyID is the wire.KeyID of the pairing that created Key. By default, KeyID is
	// empty, and Key is the key of the installation.
	KeyID string
	// ID and Name identify the browser. The default of ID is "fake", and the default of Name
	// is "Fake browser".
	ID, Name string
	// The field Tools contains the tools and prompts of the browser's pages, keyed by
	// names of the form plugin__tool. By default, the browser's pages have no tools.
	Tools map[string]Tool
	// OnPluginsChanged is called after each change of the plugins, once the browser has sent their tabs. By default,
	// the simulated browser ignores changes of the plugins.
	OnPluginsChanged func(plugins []string)
	// OnState receives the states that the server sends to the side panel that Watch has
	// opened. OnState must not block. By default, the simulated browser ignores the side
	// panel's state.
	OnState func(wire.StateSyncParams)
	// OnPlugins receives the plugin lists that the server sends to the side panel that
	// Watch has opened. OnPlugins must not block. By default, the simulated browser
	// ignores the side panel's plugins.
	OnPlugins func([]wire.PluginView)
	// OnActivityResync is called when the server requests the full content of an activity.
	// OnActivityResync must not block. By default, the simulated browser ignores requests for
	// activities.
	OnActivityResync func(wire.ToolResyncParams)
}

// Tool is a Go function that runs as a tool of the simulated browser. The context ctx
// ends when the server cancels the call; its cause is the reason of the cancellation. A
// nil output represents the JavaScript result undefined.
type Tool func(ctx context.Context, c *Call) (output json.RawMessage, err *wire.CallError)

// Call is one running call of a [Tool].
type Call struct {
	wire.ToolDispatchParams
	browser *Browser
}

// Report sends progress reports of the call to the server, as a page would.
func (c *Call) Report(reports ...wire.Report) error {
	return c.browser.notify(wire.MethodToolProgress, wire.ToolProgressParams{DispatchID: c.DispatchID, Reports: reports})
}

// Log sends log entries to the server, as the plugin's adapter would.
func (c *Call) Log(entries ...wire.LogEntry) error {
	return c.browser.notify(wire.MethodPluginLog, wire.PluginLogParams{TabID: c.TabID, Plugin: c.Plugin, Entries: entries})
}

// Browser is a simulated browser that is connected to the server.
type Browser struct {
	options  Options
	ws       *websocket.Conn
	openRuns sync.WaitGroup

	mu                  sync.Mutex // the mutex guards all fields below
	runningCalls        map[string]context.CancelCauseFunc
	plugins             []wire.PluginInfo
	requestCounts       map[string]int
	pendingToolRequests map[requestKey]chan<- wire.ToolAnswerParams
	panelRequestCount   int
	panelAnswers        map[string]chan<- wire.Envelope
}

// Connect connects to the server and completes the handshake. The simulated browser has
// one tab for each plugin of the server.
func Connect(ctx context.Context, o Options) (*Browser, error) {
	if o.ID == "" {
		o.ID = "fake"
	}
	if o.Name == "" {
		o.Name = "Fake browser"
	}
	nonce := rand.Text()
	subprotocols := []string{wire.Subprotocol, wire.NonceSubprotocolPrefix + nonce}
	if o.KeyID != "" {
		subprotocols = append(subprotocols, wire.KeySubprotocolPrefix+o.KeyID)
	}
	ws, _, err := websocket.Dial(ctx, o.URL, &websocket.DialOptions{
		Subprotocols: subprotocols,
		HTTPHeader:   map[string][]string{"Origin": {o.Origin}},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", o.URL, err)
	}
	ws.SetReadLimit(wire.MaxFrameBytes)
	b := &Browser{
		options: o, ws: ws, runningCalls: map[string]context.CancelCauseFunc{},
		requestCounts: map[string]int{}, pendingToolRequests: map[requestKey]chan<- wire.ToolAnswerParams{}, panelAnswers: map[string]chan<- wire.Envelope{},
	}
	proof, err := b.requestKeyProof(ctx, nonce)
	if err == nil {
		err = b.request(ctx, "hello", wire.MethodHello, wire.HelloParams{
			Protocol: wire.Version, BrowserID: o.ID, BrowserName: o.Name, BootID: "boot", ExtensionVersion: "0.0.0", Proof: proof,
		})
	}
	if err != nil {
		return nil, errors.Join(err, ws.CloseNow())
	}
	return b, nil
}

func (b *Browser) requestKeyProof(ctx context.Context, nonce string) (string, error) {
	address, err := url.Parse(b.options.URL)
	if err != nil {
		return "", fmt.Errorf("read the URL %s: %w", b.options.URL, err)
	}
	port, err := strconv.Atoi(address.Port())
	if err != nil {
		return "", fmt.Errorf("read the port of %s: %w", b.options.URL, err)
	}
	_, frame, err := b.ws.Read(ctx)
	if err != nil {
		return "", fmt.Errorf("read the challenge: %w", err)
	}
	var p wire.ChallengeParams
	e, err := wire.Parse(frame)
	if err == nil {
		err = wire.DecodeBody(e.Params, &p)
	}
	if err != nil || e.Method != wire.MethodChallenge || p.Proof != wire.ServerProof(b.options.Key, port, nonce, p.Nonce) {
		return "", fmt.Errorf("the first frame is no challenge of the server: %s", frame)
	}
	return wire.BrowserProof(b.options.Key, port, nonce, p.Nonce), nil
}

// Run serves the server's requests until ctx ends or the connection is lost. The returned
// error is never nil and states why Run ended.
func (b *Browser) Run(ctx context.Context) error {
	defer b.openRuns.Wait()
	defer b.cancelAll(errors.New("the connection is lost"))
	for {
		_, frame, err := b.ws.Read(ctx)
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		e, err := wire.Parse(frame)
		if err != nil {
			return err
		}
		if err := b.handleFrame(ctx, e); err != nil {
			return fmt.Errorf("%s: %w", e.Method, err)
		}
	}
}

func (b *Browser) handleFrame(ctx context.Context, e wire.Envelope) error {
	switch e.Method {
	case wire.MethodPing:
		return b.respond(e.ID, wire.PingResult{})
	case wire.MethodPluginSync:
		return b.syncPlugins(e)
	case wire.MethodToolDispatch:
		var p wire.ToolDispatchParams
		if err := wire.DecodeBody(e.Params, &p); err != nil {
			return err
		}
		b.startTool(ctx, &Call{ToolDispatchParams: p, browser: b})
	case wire.MethodToolCancel:
		var p wire.ToolCancelParams
		if err := wire.DecodeBody(e.Params, &p); err != nil {
			return err
		}
		return b.respond(e.ID, wire.ToolCancelResult{Outcome: b.cancelRun(p)})
	case wire.MethodToolAnswer:
		var p wire.ToolAnswerParams
		if err := wire.DecodeBody(e.Params, &p); err != nil {
			return err
		}
		return b.deliverAnswer(e.ID, p)
	case wire.MethodToolResync:
		return forwardParams(e, b.options.OnActivityResync)
	case wire.MethodStateSync:
		return forwardParams(e, b.options.OnState)
	case wire.MethodStatePlugins:
		return forwardParams(e, func(p wire.StatePluginsParams) {
			if b.options.OnPlugins != nil {
				b.options.OnPlugins(p.Plugins)
			}
		})
	case "":
		b.deliverResult(e)
	}
	return nil
}

func forwardParams[P any](e wire.Envelope, handleParams func(P)) error {
	var p P
	if err := wire.DecodeBody(e.Params, &p); err != nil || handleParams == nil {
		return err
	}
	handleParams(p)
	return nil
}

func (b *Browser) syncPlugins(e wire.Envelope) error {
	var p wire.PluginSyncParams
	if err := wire.DecodeBody(e.Params, &p); err != nil {
		return err
	}
	b.mu.Lock()
	b.plugins = p.Plugins
	b.mu.Unlock()
	return errors.Join(b.respond(e.ID, wire.PluginSyncResult{Mode: wire.InjectUserScripts}), b.sendTabs())
}

func (b *Browser) sendTabs() error {
	var tabs []wire.TabInfo
	var names []string
	isReady := true
	b.mu.Lock()
	for i, p := range b.plugins {
		names = append(names, p.Name)
		tabs = append(tabs, wire.TabInfo{
			TabID: i + 1, WindowID: 1, URL: "http://localhost/" + p.Name, Title: p.Name, Active: i == 0, Focused: true,
			DocumentID: "document-" + p.Name, Plugins: []wire.TabPlugin{{Name: p.Name, Hash: p.Hash, IsReady: &isReady}},
		})
	}
	b.mu.Unlock()
	if err := b.notify(wire.MethodTabSync, wire.TabSyncParams{Tabs: tabs}); err != nil {
		return err
	}
	if b.options.OnPluginsChanged != nil {
		b.options.OnPluginsChanged(names)
	}
	return nil
}

func (b *Browser) startTool(ctx context.Context, c *Call) {
	tool, ok := b.options.Tools[c.Plugin+"__"+c.Tool]
	if !ok {
		_ = b.answerError(c.DispatchID, &wire.CallError{Code: wire.ErrUnknownTool, Message: "the page has no tool " + c.Tool})
		return
	}
	ctx, cancelRun := context.WithCancelCause(ctx)
	b.mu.Lock()
	b.runningCalls[c.DispatchID] = cancelRun
	b.mu.Unlock()
	b.openRuns.Go(func() {
		toolOutput, err := tool(ctx, c)
		b.mu.Lock()
		delete(b.runningCalls, c.DispatchID)
		b.mu.Unlock()
		cancelRun(nil)
		// If the server has closed the connection, the tool's answer is dropped.
		if err != nil {
			_ = b.answerError(c.DispatchID, err)
		} else {
			_ = b.respond(c.DispatchID, wire.ToolDispatchResult{Output: toolOutput})
		}
	})
}

func (b *Browser) cancelRun(p wire.ToolCancelParams) wire.CancelOutcome {
	b.mu.Lock()
	cancelRun, ok := b.runningCalls[p.DispatchID]
	b.mu.Unlock()
	if !ok {
		return wire.CancelFinished
	}
	cancelRun(errors.New(p.Reason))
	return wire.CancelAborted
}

func (b *Browser) cancelAll(cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, cancelRun := range b.runningCalls {
		cancelRun(cause)
	}
}

// Call request only while the method [Browser.Run] is not running.
func (b *Browser) request(ctx context.Context, id string, method wire.Method, params any) error {
	if err := b.ws.Write(ctx, websocket.MessageText, wire.AppendRequest(nil, id, method, wire.EncodeBody(params))); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	_, frame, err := b.ws.Read(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	e, err := wire.Parse(frame)
	if err != nil {
		return err
	}
	if e.Error != nil {
		return fmt.Errorf("%s: %s", method, strings.TrimSpace(e.Error.Message))
	}
	return nil
}

func (b *Browser) notify(method wire.Method, params any) error {
	return b.writeFrame(wire.AppendNotification(nil, method, wire.EncodeBody(params)))
}

func (b *Browser) respond(id string, result any) error {
	// SetEscapeHTML(false) keeps <, > and & of the result unchanged.
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(result); err != nil {
		return err
	}
	return b.writeFrame(wire.AppendResult(nil, id, bytes.TrimSpace(data.Bytes())))
}

func (b *Browser) answerError(id string, err *wire.CallError) error {
	return b.writeFrame(wire.AppendError(nil, id, &wire.RPCError{Code: wire.CodeCallFailed, Message: err.Message, Data: err}))
}

// writeFrame does not use the context of a call, because the WebSocket library closes the connection when a context ends.
func (b *Browser) writeFrame(frame []byte) error {
	return b.ws.Write(context.Background(), websocket.MessageText, frame)
}
