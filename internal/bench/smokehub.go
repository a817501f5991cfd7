package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/coder/websocket"

	"opentabs/dispatch"
	"opentabs/internal/bench/peer"
	"opentabs/wire"
	"opentabs/wsbridge"
)

// hubCosts are the costs of one tool run through the WebSocket hub.
type hubCosts struct {
	ratio         float64
	dispatchBytes float64
}

// measureSmokeHub compares tool runs through the WebSocket hub with plain echoes over the
// WebSocket library.
func measureSmokeHub(ctx context.Context) (costs hubCosts, err error) {
	sendEcho, stopEcho, err := dialBaselineEcho(ctx)
	if err != nil {
		return costs, err
	}
	defer stopEcho()
	hub := wsbridge.New(wsbridge.Options{Key: peer.Key, Origins: []string{peer.Origin}})
	defer hub.Close()
	hubURL, stopHub, err := listenInProcess(&http.Server{Handler: hub.Handler()})
	if err != nil {
		return costs, err
	}
	defer stopHub()
	browser, err := peer.Connect(ctx, hubURL, smokeArgs)
	if err != nil {
		return costs, err
	}
	defer browser.Close()
	sink := make(resultChannel, 1)
	runCount := 0
	run := func(args json.RawMessage) error {
		runCount++
		request := dispatch.Run{
			ID: fmt.Sprintf("call_%026d", runCount), Plugin: "chat", Tool: "export", Args: args,
			Target: peer.Target,
		}
		if err := hub.Start(ctx, request, sink); err != nil {
			return errors.New(err.Message)
		}
		if err := <-sink; err != nil {
			return errors.New(err.Message)
		}
		return nil
	}
	if err := run(json.RawMessage(`{}`)); err != nil {
		return costs, err
	}
	costs.dispatchBytes = float64(browser.LastDispatchBytes())
	// With several threads, the ratio varies from 1.3 to 2.4, depending on which core the operating system wakes.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	costs.ratio, err = compareTimes(60, sendEcho, func() error { return run(smokeArgs) })
	return costs, err
}

func dialBaselineEcho(ctx context.Context) (sendEcho func() error, stop func(), err error) {
	conns := make(chan *websocket.Conn, 1)
	baselineURL, stopServer, err := listenInProcess(&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			conns <- c
		}
	})})
	if err != nil {
		return nil, nil, err
	}
	peer, _, err := websocket.Dial(ctx, baselineURL, nil)
	if err != nil {
		stopServer()
		return nil, nil, err
	}
	go func() {
		for {
			kind, frame, err := peer.Read(ctx)
			if err != nil || peer.Write(ctx, kind, frame) != nil {
				return
			}
		}
	}()
	c := <-conns
	frame := bytes.Repeat([]byte("x"), 420) // the frame is as long as a message frame with smokeArgs
	sendEcho = func() error {
		if err := c.Write(ctx, websocket.MessageText, frame); err != nil {
			return err
		}
		_, _, err := c.Read(ctx)
		return err
	}
	return sendEcho, func() {
		_ = peer.CloseNow()
		_ = c.CloseNow()
		stopServer()
	}, nil
}

// resultChannel receives the end of a tool run and ignores all other events of the run.
type resultChannel chan *wire.CallError

var _ dispatch.Sink = resultChannel(nil)

func (resultChannel) Reports([]wire.Report, int) {}

func (resultChannel) Ask(wire.ToolAskParams) {}

func (resultChannel) LinkLost() {}

func (resultChannel) LinkRestored() {}

func (resultChannel) ReceivePart() {}

func (s resultChannel) Finish(_ json.RawMessage, err *wire.CallError) { s <- err }

// reportingBridge simulates a browser whose tools never end by themselves. The channel
// sinks receives the [dispatch.Sink] of each tool run, so that a benchmark can send
// progress reports to the run.
type reportingBridge struct {
	instantBridge
	sinks chan dispatch.Sink
}

func (b reportingBridge) Start(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
	b.sinks <- sink
	return nil
}

// measureSmokeReports compares a progress report with locking a mutex, reading the clock and storing a number.
func measureSmokeReports(ctx context.Context) (ratio float64, err error) {
	bridge := reportingBridge{sinks: make(chan dispatch.Sink, 1)}
	d := dispatch.New(bridge, dispatch.Options{})
	callErr := make(chan error, 1)
	go func() {
		_, err := d.Call(ctx, dispatch.Call{Tool: dispatch.Tool{Plugin: "smoke", Name: "report"}, Args: json.RawMessage(`{}`), Progress: func(dispatch.Progress) {}})
		callErr <- err
	}()
	sink := <-bridge.sinks
	progress, totalProgress := 0.0, 1e18
	reports := []wire.Report{{Progress: &progress, Total: &totalProgress, Message: "page"}}
	const reportsPerRun = 500
	var mu sync.Mutex // the mutex guards the variable lastTime
	var lastTime time.Time
	lock := func() error {
		for range reportsPerRun {
			mu.Lock()
			lastTime = time.Now()
			mu.Unlock()
		}
		return nil
	}
	report := func() error {
		for range reportsPerRun {
			progress++
			sink.Reports(reports, 0)
		}
		return nil
	}
	ratio, err = compareTimes(5, lock, report)
	_ = lastTime
	sink.Finish(json.RawMessage(`{}`), nil)
	return ratio, errors.Join(err, <-callErr)
}
