package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"opentabs/dispatch/progress"
	"opentabs/internal/humanize"
	"opentabs/wire"
)

// The limits of nested calls.
const (
	// maxDepth is the maximum of calls above one.
	maxDepth = 8
	// maxNested is the maximum of nested calls below one call of a client, at any
	// depth; maxNestedNow is the maximum of nested calls that run at once.
	maxNested    = 1000
	maxNestedNow = 64
)

// parentEnded is who cancels the nested calls of an ended call. errParentEnded is
// the cause without the reason of the parent's end.
const parentEnded = "the call that made it, which has ended"

var errParentEnded = &Cancellation{By: parentEnded}

// errWithdrawn ends a request that the tool has withdrawn.
var errWithdrawn = &Cancellation{By: "the tool that made it"}

// nesting tracks the requests of one running tool: calls of other tools, and waits
// for the user.
type nesting struct {
	mu    sync.Mutex // guards all fields below; no other lock is taken while mu is held
	asks  map[int]context.CancelCauseFunc
	ended bool

	hasAsked atomic.Bool // the tool has made a request
	// total and running count all nested calls below a call of a client.
	total, running atomic.Int64
}

// begin records a request. begin returns false if the call has ended or the request is
// a duplicate.
func (n *nesting) begin(ask int) (context.Context, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.asks[ask]; known || n.ended {
		return nil, false
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	if n.asks == nil {
		n.asks = map[int]context.CancelCauseFunc{}
	}
	n.asks[ask] = cancel
	n.hasAsked.Store(true)
	return ctx, true
}

// finish ends one request. The number of a request is not reused.
func (n *nesting) finish(ask int, cause error) {
	n.mu.Lock()
	cancel := n.asks[ask]
	n.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// end ends all requests. reason is that of the cancelled call, if any.
func (n *nesting) end(reason string) {
	n.mu.Lock()
	n.ended = true
	asks := n.asks
	n.asks = nil
	n.mu.Unlock()
	for _, cancel := range asks {
		cancel(&Cancellation{By: parentEnded, Reason: reason})
	}
}

// ask is one request of the tool of a running call.
type ask struct {
	call   *liveCall
	runID  string
	params wire.ToolAskParams
}

// answer fulfils the request and sends the answer to the page.
func (a ask) answer(ctx context.Context) {
	c := a.call
	var output json.RawMessage
	var err *wire.CallError
	switch {
	case a.params.Call != nil:
		c.clock.Delegate(1)
		defer c.clock.Delegate(-1)
		output, err = a.callTool(ctx, a.params.Call)
	case a.params.User != nil:
		err = a.waitForUser(ctx, a.params.User)
	default:
		err = &wire.CallError{Code: wire.ErrInvalidArguments, Message: "the tool made an unknown request"}
	}
	if ctx.Err() == nil {
		c.clock.Touch()
		c.d.bridge.Answer(a.runID, a.params.Ask, output, err)
	}
	c.nesting.finish(a.params.Ask, nil)
}

// callTool runs a nested call to its end.
func (a ask) callTool(ctx context.Context, req *wire.AskCall) (json.RawMessage, *wire.CallError) {
	child, err := a.newChild(req)
	if err != nil {
		return nil, err
	}
	root := a.call.root
	if root.nesting.total.Add(1) > maxNested {
		return nil, nestedTooDeep("%s has made %d calls, the maximum for one call", root.req.Tool.FullName(), maxNested)
	}
	defer root.nesting.running.Add(-1)
	if root.nesting.running.Add(1) > maxNestedNow {
		return nil, &wire.CallError{Code: wire.ErrRateLimited, Message: fmt.Sprintf(
			"%s has %d calls running at once, the maximum for one call; wait for some to end", root.req.Tool.FullName(), maxNestedNow)}
	}
	result, failed := a.call.d.call(ctx, child)
	var e *Error
	switch {
	case errors.As(failed, &e):
		failure := &wire.CallError{Code: e.Code, Message: e.Message, Tool: e.Tool}
		if e.Tool == nil && e.Retryable { // the text is for the handler, which may pass the error on to the client
			failure.Tool = &wire.ToolErrorInfo{Code: string(e.Code), Retryable: true}
		}
		return nil, failure
	case failed != nil:
		return nil, &wire.CallError{Code: wire.ErrInternal, Message: failed.Error()}
	case len(result.Output) > wire.MaxAnswerBytes:
		return nil, &wire.CallError{Code: wire.ErrResultTooLarge, Message: fmt.Sprintf(
			"%s returned %s; the maximum for a nested call is %s", child.req.Tool.FullName(), humanize.Bytes(len(result.Output)), humanize.Bytes(wire.MaxAnswerBytes))}
	}
	return result.Output, nil
}

// newChild creates the nested call of a request.
func (a ask) newChild(req *wire.AskCall) (*liveCall, *wire.CallError) {
	c := a.call
	if c.d.opts.Resolve == nil {
		return nil, &wire.CallError{Code: wire.ErrUnknownTool, Message: "tools can't call other tools here"}
	}
	tool, args, err := c.d.opts.Resolve(c.req.Tool, req.Tool, req.Args)
	if err != nil {
		return nil, err
	}
	if c.depth+1 > maxDepth {
		return nil, nestedTooDeep("%s is nested %d calls deep, the maximum", c.req.Tool.FullName(), maxDepth)
	}
	for up := c; up != nil; up = up.parent {
		if up.req.Tool.FullName() == tool.FullName() && up.req.Tool.Prompt == tool.Prompt && bytes.Equal(up.arguments(), args) {
			return nil, nestedTooDeep("%s calls itself with the same arguments, which would never end", tool.FullName())
		}
	}
	c.mu.Lock()
	target := c.attempts.target
	c.mu.Unlock()
	tabID := req.TabID
	if tabID == 0 && tool.Plugin == c.req.Tool.Plugin {
		tabID = target.TabID
	}
	child := newLiveCall(c.d, Call{
		Tool: tool, Args: args, Browser: target.Browser, TabID: tabID, Client: c.req.Client, Asked: c.req.Asked,
		ParentCallID: c.id, ParentNodeID: c.id, Caller: callerOf(c, target),
	})
	child.parent, child.root, child.depth = c, c.root, c.depth+1
	return child, nil
}

// callerOf describes c, which runs in target, for a nested call.
func callerOf(c *liveCall, target Target) *Caller {
	by := &Caller{
		Plugin: c.req.Tool.Plugin, Tool: c.req.Tool.FullName(),
		Browser: target.Browser, TabID: target.TabID, Origin: OriginOf(target.URL),
	}
	for up := c.parent; up != nil; up = up.parent {
		by.Above = append(by.Above, up.req.Tool.FullName())
	}
	return by
}

// OriginOf returns the scheme, host and port of a URL; empty if it has no host.
func OriginOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func nestedTooDeep(format string, args ...any) *wire.CallError {
	return &wire.CallError{Code: wire.ErrNestedTooDeep, Message: fmt.Sprintf(format, args...)}
}

// onChildProgress restarts the idle limits of a call and of its parent calls, because a
// nested call has reported. onChildProgress forwards the messages to the client.
func (c *liveCall) onChildProgress(child string, reports []wire.Report) {
	for ; c != nil; c = c.parent {
		c.clock.Touch()
		if !c.sender.WantsNotifications() {
			continue
		}
		hasMessage := false
		for i := range reports {
			if r := &reports[i]; r.Message != "" {
				c.sender.Accept(time.Now(), progress.Numbers{}, progress.Text{Message: child + ": " + r.Message, Audience: r.Audience})
				hasMessage = true
			}
		}
		if !hasMessage {
			c.sender.Accept(time.Now(), progress.Numbers{}, progress.Text{})
		}
	}
}

// waitForUser suspends a running call until the user has done what the tool
// requests.
func (a ask) waitForUser(ctx context.Context, req *wire.AskUser) *wire.CallError {
	c := a.call
	t, rejected := c.suspend(Ticket{Kind: wire.TicketUser, Reason: req.Reason, Title: req.Title}, nil)
	switch {
	case rejected != nil:
		return rejected
	case t == nil:
		return &wire.CallError{Code: wire.ErrRateLimited, Message: "the call is already waiting for the user; request one thing at a time"}
	}
	resumeTimers := t.pauseTimers()
	r, isDecided := t.awaitDecision(ctx)
	c.mu.Lock()
	if c.state.status == statusSuspended || c.state.status == statusResuming {
		c.state.status = statusRunning
		c.publish(EventRunning, nil)
	}
	c.mu.Unlock()
	resumeTimers()
	switch {
	case !isDecided:
		return &wire.CallError{Code: wire.ErrApprovalTimeout, Message: "no answer from the user within " + humanize.Duration(t.Until.Sub(t.Since))}
	case !r.Allow:
		return deniedBy(r.By)
	}
	return nil
}
