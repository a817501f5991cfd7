package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/mcpclient"
	"opentabs/wire"
)

// trialOrder is a call that a test wants made. Times are milliseconds since the
// tool began.
type trialOrder struct {
	Tool           string          `json:"tool"`
	Input          json.RawMessage `json:"input"`
	CancelAt       *float64        `json:"cancelAt"`
	CancelAtReport *int            `json:"cancelAtReport"`
	NavigateAt     *float64        `json:"navigateAt"`
}

// trialResult is SimulatedCall of sdk-ts/src/simulator/tab.ts.
type trialResult struct {
	Result       json.RawMessage `json:"result,omitempty"`
	Error        *trialError     `json:"error,omitempty"`
	Reports      []wire.Report   `json:"reports"`
	Activities   []any           `json:"activities"`
	Calls        []trialNested   `json:"calls"`
	UserRequests []trialRequest  `json:"userRequests"`
	Dropped      []string        `json:"dropped"`
	TookMs       float64         `json:"tookMs"`
	Stopped      string          `json:"stopped,omitempty"`
}

type trialError struct {
	Code    wire.ErrorCode      `json:"code"`
	Message string              `json:"message"`
	Tool    *wire.ToolErrorInfo `json:"tool,omitempty"`
}

// trialNested is a call that the tool made.
type trialNested struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// trialRequest is what the tool asked the person for.
type trialRequest struct {
	Reason string `json:"reason"`
	Title  string `json:"title,omitempty"`
}

// trialOutcome is what a test is told after a call.
type trialOutcome struct {
	Call trialResult `json:"call"`
	*trialState
}

// stopPatience is how long after its end a call may take to say how the page took
// the order to stop; the page has 2 s for that.
const stopPatience = 10 * time.Second

// trialCall is a call that runs. Only the goroutine that follows it uses it,
// and after done is closed the one that made it.
type trialCall struct {
	order  trialOrder
	in     *trialTab
	trial  *trialBrowser
	cancel context.CancelFunc
	result trialResult
	last   dispatch.View // as of the last event
	timers []*time.Timer
	done   chan struct{}
}

// callTool makes a call as an agent does, one at a time.
func (t *trialBrowser) callTool(ctx context.Context, params json.RawMessage) (*trialOutcome, error) {
	var order trialOrder
	if err := json.Unmarshal(params, &order); err != nil {
		return nil, fmt.Errorf("call: %w", err)
	}
	tab := t.current()
	if tab == nil {
		return nil, errOtherTab
	}
	t.calling.Lock()
	defer t.calling.Unlock()
	calling, cancel := context.WithCancel(tab.ctx)
	defer cancel()
	c := &trialCall{order: order, in: tab, trial: t, cancel: cancel, done: make(chan struct{}), result: trialResult{
		Reports: []wire.Report{}, Activities: []any{}, Calls: []trialNested{}, UserRequests: []trialRequest{}, Dropped: []string{},
	}}
	follower := t.daemon.Calls.Follow(dispatch.FollowOptions{})
	defer follower.Close()
	following, unfollow := context.WithCancel(ctx)
	defer unfollow()
	go c.follow(following, follower)
	input := order.Input
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	began := time.Now()
	result, err := t.client.CallTool(calling, t.plugin.Name+"__"+order.Tool, input, nil)
	c.result.TookMs = float64(time.Since(began).Microseconds()) / 1000
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.ended(result, err, unfollow)
	state, err := t.look(ctx, tab)
	if err != nil {
		return nil, err
	}
	return &trialOutcome{c.result, state}, nil
}

// follow takes the events of the call until it has ended and, if it was stopped,
// the page has said how it took that.
func (c *trialCall) follow(ctx context.Context, follower *dispatch.Follower) {
	defer close(c.done)
	defer func() {
		for _, timer := range c.timers {
			timer.Stop()
		}
	}()
	for {
		events, _, err := follower.Next(ctx)
		if err != nil {
			return
		}
		for _, e := range events {
			if e.Call.Depth > 0 {
				if e.Kind == dispatch.EventCreated {
					c.result.Calls = append(c.result.Calls, trialNested{Tool: e.Call.ToolName})
				}
				continue
			}
			c.last = e.Call
			if c.take(ctx, e) {
				return
			}
		}
	}
}

// take takes an event, and reports whether it is the last.
func (c *trialCall) take(ctx context.Context, e *dispatch.Event) (last bool) {
	r := &c.result
	switch e.Kind {
	case dispatch.EventRunning:
		c.begin(ctx)
	case dispatch.EventProgress:
		r.Reports = append(r.Reports, *e.Report)
		c.reported()
	case dispatch.EventActivity:
		r.Activities = append(r.Activities, e.Activity)
		c.reported()
	case dispatch.EventSuspended:
		if w := e.Call.Waiting; w != nil {
			r.UserRequests = append(r.UserRequests, trialRequest{Reason: w.Reason, Title: w.Title})
		}
		// It fails if the call has ended, which is told.
		_, _ = c.trial.daemon.Calls.Decide(e.Call.CallID, "", dispatch.Resolution{Allow: !c.in.deny, By: "the test"})
	case dispatch.EventEnded:
		return !told(e.Call) || e.Call.Stopped != ""
	case dispatch.EventStopped:
		return true
	}
	return false
}

// told reports whether the page was told to stop the call.
func told(v dispatch.View) bool {
	switch v.ErrorCode {
	case wire.ErrCancelled, wire.ErrIdleTimeout, wire.ErrDeadlineExceeded:
		return v.RunMs > 0
	}
	return false
}

// begin sets what is to disturb the call; it may begin again after it has waited
// for the person.
func (c *trialCall) begin(ctx context.Context) {
	if len(c.timers) > 0 {
		return
	}
	after := func(ms *float64, do func()) {
		if ms != nil {
			c.timers = append(c.timers, time.AfterFunc(time.Duration(*ms*float64(time.Millisecond)), do))
		}
	}
	after(c.order.CancelAt, c.cancel)
	after(c.order.NavigateAt, func() {
		at, err := c.in.tab.URL(ctx)
		if err != nil {
			return // the browser has ended, and the call with it
		}
		if to, err := url.Parse(at); err == nil {
			_ = c.in.tab.Go(ctx, to.Scheme+"://"+to.Host+"/opentabs-elsewhere")
		}
	})
}

func (c *trialCall) reported() {
	if at := c.order.CancelAtReport; at != nil && len(c.result.Reports)+len(c.result.Activities) == *at {
		c.cancel()
	}
}

// ended puts together how the call ended, from what the client got and from what
// the server has told.
func (c *trialCall) ended(got mcpclient.Result, err error, unfollow func()) {
	var info struct {
		Code    wire.ErrorCode      `json:"code"`
		CallID  string              `json:"call_id"`
		Stopped string              `json:"stopped"`
		Tool    *wire.ToolErrorInfo `json:"tool"`
	}
	if raw := got.Meta["opentabs/error"]; raw != nil {
		if bad := json.Unmarshal(raw, &info); bad != nil {
			info.Code = wire.ErrInternal
		}
	}
	if got.IsError && info.CallID == "" { // it was refused before it became a call
		unfollow()
	}
	var rpc *mcpclient.RPCError
	if errors.As(err, &rpc) {
		unfollow()
	}
	select {
	case <-c.done:
	case <-time.After(stopPatience):
		unfollow()
		<-c.done
	}
	r := &c.result
	switch {
	case rpc != nil:
		r.Error = &trialError{Code: "unknown_tool", Message: rpc.Error()}
	case err != nil:
		r.Error = &trialError{Code: c.last.ErrorCode, Message: c.last.Error}
		if r.Error.Code == "" {
			r.Error = &trialError{Code: wire.ErrCancelled, Message: err.Error()}
		}
	case got.IsError:
		var texts []string
		for _, block := range got.Content {
			texts = append(texts, contentText(block))
		}
		r.Error = &trialError{Code: info.Code, Message: strings.Join(texts, "\n"), Tool: info.Tool}
	default:
		r.Result = resultOf(got)
	}
	if r.Error != nil {
		r.Stopped = string(c.last.Stopped)
	}
	if r.Stopped == "" {
		r.Stopped = info.Stopped
	}
}

// resultOf is what the tool returned.
func resultOf(got mcpclient.Result) json.RawMessage {
	if got.StructuredContent != nil {
		return got.StructuredContent
	}
	if len(got.Content) == 0 {
		return nil
	}
	text := contentText(got.Content[0])
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil
	}
	return quoted
}
