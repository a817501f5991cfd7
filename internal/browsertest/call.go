package browsertest

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

// callRequest describes a tool call that a test makes. All times are in milliseconds
// since the tool's handler started.
type callRequest struct {
	Tool           string          `json:"tool"`
	Input          json.RawMessage `json:"input"`
	CancelAt       *float64        `json:"cancelAt"`
	CancelAtReport *int            `json:"cancelAtReport"`
	NavigateAt     *float64        `json:"navigateAt"`
}

// callResult has the same JSON form as the type SimulatedCall in
// sdk-ts/src/simulator/tab.ts.
type callResult struct {
	Result       json.RawMessage `json:"result,omitempty"`
	Error        *callError      `json:"error,omitempty"`
	Reports      []wire.Report   `json:"reports"`
	Activities   []any           `json:"activities"`
	Calls        []nestedCall    `json:"calls"`
	UserRequests []userRequest   `json:"userRequests"`
	Dropped      []string        `json:"dropped"`
	DurationMs   float64         `json:"tookMs"`
	StopOutcome  string          `json:"stopped,omitempty"`
}

type callError struct {
	Code    wire.ErrorCode      `json:"code"`
	Message string              `json:"message"`
	Tool    *wire.ToolErrorInfo `json:"tool,omitempty"`
}

// nestedCall describes a call that the tool under test made to another tool.
type nestedCall struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// userRequest describes an approval that the tool under test requested from the user.
type userRequest struct {
	Reason string `json:"reason"`
	Title  string `json:"title,omitempty"`
}

// callOutcome is the answer to a test's tool call: the call's result and the state of the
// tab.
type callOutcome struct {
	Call callResult `json:"call"`
	*tabState
}

// A page usually reports within 2 s whether its tool has stopped, so stopTimeout is generous.
const stopTimeout = 10 * time.Second

// runningCall is a tool call that a test has made and that has not ended. Only the
// goroutine of followEvents accesses a runningCall until the channel done is closed. When
// done is closed, only callTool accesses the runningCall.
type runningCall struct {
	request  callRequest
	tab      *testTab
	browser  *Browser
	cancel   context.CancelFunc
	result   callResult
	lastView dispatch.View // lastView is the call's view after the last event
	timers   []*time.Timer
	done     chan struct{}
}

func (t *Browser) callTool(ctx context.Context, params json.RawMessage) (*callOutcome, error) {
	var request callRequest
	if err := json.Unmarshal(params, &request); err != nil {
		return nil, fmt.Errorf("call: %w", err)
	}
	tab := t.currentTab()
	if tab == nil {
		return nil, errTabReplaced
	}
	t.callLock.Lock()
	defer t.callLock.Unlock()
	callCtx, cancel := context.WithCancel(tab.ctx)
	defer cancel()
	c := &runningCall{request: request, tab: tab, browser: t, cancel: cancel, done: make(chan struct{}), result: callResult{
		Reports: []wire.Report{}, Activities: []any{}, Calls: []nestedCall{}, UserRequests: []userRequest{}, Dropped: []string{},
	}}
	subscription := t.daemon.Calls.Subscribe(dispatch.SubscribeOptions{IsImmediate: true}) // a test may cancel the call at a report
	defer subscription.Close()
	subscriptionCtx, unsubscribe := context.WithCancel(ctx)
	defer unsubscribe()
	go c.followEvents(subscriptionCtx, subscription)
	input := request.Input
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	startTime := time.Now()
	result, err := t.client.CallTool(callCtx, t.plugin.Name+"__"+request.Tool, input, nil)
	c.result.DurationMs = float64(time.Since(startTime).Microseconds()) / 1000
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.finish(result, err, unsubscribe)
	state, err := t.readState(ctx, tab)
	if err != nil {
		return nil, err
	}
	return &callOutcome{c.result, state}, nil
}

func (c *runningCall) followEvents(ctx context.Context, subscription *dispatch.Subscriber) {
	defer close(c.done)
	defer func() {
		for _, timer := range c.timers {
			timer.Stop()
		}
	}()
	for {
		events, _, err := subscription.Next(ctx)
		if err != nil {
			return
		}
		for _, e := range events {
			if e.Call.NestingDepth > 0 {
				if e.Kind == dispatch.EventCreated {
					c.result.Calls = append(c.result.Calls, nestedCall{Tool: e.Call.ToolName})
				}
				continue
			}
			c.lastView = e.Call
			if c.recordEvent(ctx, e) {
				return
			}
		}
	}
}

func (c *runningCall) recordEvent(ctx context.Context, e *dispatch.Event) (isLast bool) {
	r := &c.result
	switch e.Kind {
	case dispatch.EventRunning:
		c.scheduleActions(ctx)
	case dispatch.EventProgress:
		r.Reports = append(r.Reports, *e.Report)
		c.cancelAfterReport()
	case dispatch.EventActivity:
		r.Activities = append(r.Activities, e.Activity)
		c.cancelAfterReport()
	case dispatch.EventSuspended:
		if w := e.Call.Waiting; w != nil {
			r.UserRequests = append(r.UserRequests, userRequest{Reason: w.Reason, Title: w.Title})
		}
		// The error is ignored: Decide fails only if the call has ended, and the next
		// event reports this end.
		_, _ = c.browser.daemon.Calls.Decide(e.Call.CallID, "", dispatch.Resolution{Allow: !c.tab.deniesApprovals, Surface: "the test"})
	case dispatch.EventEnded:
		return !isStopSent(e.Call) || e.Call.StopOutcome != ""
	case dispatch.EventStopped:
		return true
	}
	return false
}

func isStopSent(v dispatch.View) bool {
	switch v.ErrorCode {
	case wire.ErrCancelled, wire.ErrIdleTimeout, wire.ErrDeadlineExceeded:
		return v.RunMs > 0
	}
	return false
}

// A call that waited for approval sends the running event twice, but its timers must start only once.
func (c *runningCall) scheduleActions(ctx context.Context) {
	if len(c.timers) > 0 {
		return
	}
	scheduleAt := func(ms *float64, action func()) {
		if ms != nil {
			c.timers = append(c.timers, time.AfterFunc(time.Duration(*ms*float64(time.Millisecond)), action))
		}
	}
	scheduleAt(c.request.CancelAt, c.cancel)
	scheduleAt(c.request.NavigateAt, func() { c.navigateAway(ctx) })
}

const navigateRetryPause = 50 * time.Millisecond

// A busy browser can refuse a navigation, so navigateAway retries until ctx is done.
func (c *runningCall) navigateAway(ctx context.Context) {
	for ctx.Err() == nil {
		tabURL, err := c.tab.tab.URL(ctx)
		target, parseErr := url.Parse(tabURL)
		if err == nil && parseErr == nil && target.Host != "" {
			if c.tab.tab.Go(ctx, target.Scheme+"://"+target.Host+"/opentabs-elsewhere") == nil {
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(navigateRetryPause):
		}
	}
}

func (c *runningCall) cancelAfterReport() {
	if n := c.request.CancelAtReport; n != nil && len(c.result.Reports)+len(c.result.Activities) == *n {
		c.cancel()
	}
}

func (c *runningCall) finish(got mcpclient.Result, err error, unsubscribe func()) {
	var info struct {
		Code        wire.ErrorCode      `json:"code"`
		CallID      string              `json:"call_id"`
		StopOutcome string              `json:"stopped"`
		Tool        *wire.ToolErrorInfo `json:"tool"`
	}
	if rawInfo := got.Meta["opentabs/error"]; rawInfo != nil {
		if decodeErr := json.Unmarshal(rawInfo, &info); decodeErr != nil {
			info.Code = wire.ErrInternal
		}
	}
	if got.IsError && info.CallID == "" { // the dispatcher rejected the call before the call began
		unsubscribe()
	}
	var rpcErr *mcpclient.RPCError
	if errors.As(err, &rpcErr) {
		unsubscribe()
	}
	select {
	case <-c.done:
	case <-time.After(stopTimeout):
		unsubscribe()
		<-c.done
	}
	r := &c.result
	switch {
	case rpcErr != nil:
		r.Error = &callError{Code: "unknown_tool", Message: rpcErr.Error()}
	case err != nil:
		r.Error = &callError{Code: c.lastView.ErrorCode, Message: c.lastView.Error}
		if r.Error.Code == "" {
			r.Error = &callError{Code: wire.ErrCancelled, Message: err.Error()}
		}
	case got.IsError:
		var resultTexts []string
		for _, contentBlock := range got.Content {
			resultTexts = append(resultTexts, formatContent(contentBlock))
		}
		r.Error = &callError{Code: info.Code, Message: strings.Join(resultTexts, "\n"), Tool: info.Tool}
	default:
		r.Result = decodeToolResult(got)
	}
	if r.Error != nil {
		r.StopOutcome = string(c.lastView.StopOutcome)
	}
	if r.StopOutcome == "" {
		r.StopOutcome = info.StopOutcome
	}
}

func decodeToolResult(got mcpclient.Result) json.RawMessage {
	if got.StructuredContent != nil {
		return got.StructuredContent
	}
	if len(got.Content) == 0 {
		return nil
	}
	resultText := formatContent(got.Content[0])
	if json.Valid([]byte(resultText)) {
		return json.RawMessage(resultText)
	}
	quotedJSON, err := json.Marshal(resultText)
	if err != nil {
		return nil
	}
	return quotedJSON
}

func formatContent(c mcpclient.Content) string {
	if c.Type == "text" {
		return c.Text
	}
	return fmt.Sprintf("[%s, %d characters]", strings.TrimSpace(c.Type+" "+c.MIMEType), len(c.Raw))
}
