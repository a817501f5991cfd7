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

	"opentabs/wire"
)

// How far tools may call each other.
const (
	// maxDepth is how many calls may be above one.
	maxDepth = 8
	// maxNested is how many calls may be made, at any depth, below one of a client,
	// and maxNestedNow how many of them run at once.
	maxNested    = 1000
	maxNestedNow = 64
)

// errParentEnded ends the calls that an ended call has made. It is the cause
// without the reason of the parent's end.
var errParentEnded = &Cancellation{By: parentEnded}

const parentEnded = "the call that made it, which has ended"

// nested is what a call asks for while it runs.
type nested struct {
	mu    sync.Mutex // guards all below
	asks  map[int]context.CancelCauseFunc
	ended bool
	some  bool // there was an ask
	// all and now count the calls below this one, if it is a client's.
	all, now atomic.Int64
	// calling counts the calls that this one waits for. While there are any, their
	// idle limits stand for its own: it has to hear of theirs.
	calling atomic.Int64
}

// began reports whether the tool has asked for anything.
func (n *nested) began() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.some
}

// begin notes an ask. It reports false if the call has ended or the ask is
// known.
func (n *nested) begin(ask int) (context.Context, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.asks[ask]; known || n.ended {
		return nil, false
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	if n.asks == nil {
		n.asks = map[int]context.CancelCauseFunc{}
	}
	n.asks[ask], n.some = cancel, true
	return ctx, true
}

// finish ends one ask; withdrawn or answered, it may not come again.
func (n *nested) finish(ask int, cause error) {
	n.mu.Lock()
	cancel := n.asks[ask]
	n.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// end ends all asks. reason is why the call was cancelled, if it was.
func (n *nested) end(reason string) {
	n.mu.Lock()
	n.ended = true
	asks := n.asks
	n.asks = nil
	n.mu.Unlock()
	for _, cancel := range asks {
		cancel(&Cancellation{By: parentEnded, Reason: reason})
	}
}

// errWithdrawn ends what the tool does not wait for any more.
var errWithdrawn = &Cancellation{By: "the tool that made it"}

// Ask implements Sink.
func (c *liveCall) Ask(p wire.ToolAskParams) {
	if p.Withdrawn {
		c.nested.finish(p.Ask, errWithdrawn)
		return
	}
	ctx, fresh := c.nested.begin(p.Ask)
	if !fresh {
		return
	}
	c.mu.Lock()
	runID, running := c.runID, !c.begun.IsZero() && !c.status.Terminal()
	c.mu.Unlock()
	if !running {
		c.nested.finish(p.Ask, errParentEnded)
		return
	}
	c.clock.touch()
	go func() {
		var output json.RawMessage
		var err *wire.CallError
		switch {
		case p.Call != nil:
			c.nested.calling.Add(1)
			defer c.nested.calling.Add(-1)
			output, err = c.callTool(ctx, p.Call)
		case p.User != nil:
			err = c.waitForUser(ctx, p.User)
		default:
			err = &wire.CallError{Code: wire.ErrInvalidArguments, Message: "the tool asked for nothing that is known here"}
		}
		if ctx.Err() == nil {
			c.clock.touch()
			c.d.bridge.Answer(runID, p.Ask, output, err)
		}
		c.nested.finish(p.Ask, nil)
	}()
}

// callTool runs a tool for the tool of c.
func (c *liveCall) callTool(ctx context.Context, ask *wire.AskCall) (json.RawMessage, *wire.CallError) {
	child, err := c.child(ask)
	if err != nil {
		return nil, err
	}
	root := c.root()
	if root.nested.all.Add(1) > maxNested {
		return nil, tooDeep("%s has made %d calls already, as many as one call may", root.req.Tool.FullName(), maxNested)
	}
	defer root.nested.now.Add(-1)
	if root.nested.now.Add(1) > maxNestedNow {
		return nil, &wire.CallError{Code: wire.ErrRateLimited, Message: fmt.Sprintf(
			"%s has %d calls running at once, as many as one call may; wait for some to end", root.req.Tool.FullName(), maxNestedNow)}
	}
	result, failed := c.d.call(ctx, child)
	var e *Error
	switch {
	case errors.As(failed, &e):
		failure := &wire.CallError{Code: e.Code, Message: e.Message, Tool: e.Tool}
		if e.Tool == nil && e.Retryable { // the handler learns it, and its client if it passes the error on
			failure.Tool = &wire.ToolErrorInfo{Code: string(e.Code), Retryable: true}
		}
		return nil, failure
	case failed != nil:
		return nil, &wire.CallError{Code: wire.ErrInternal, Message: failed.Error()}
	case len(result.Output) > wire.MaxAnswerBytes:
		return nil, &wire.CallError{Code: wire.ErrResultTooLarge, Message: fmt.Sprintf(
			"%s returned %d bytes; a tool that another one calls may return %d", child.req.Tool.FullName(), len(result.Output), wire.MaxAnswerBytes)}
	}
	return result.Output, nil
}

// child makes the call that ask wants.
func (c *liveCall) child(ask *wire.AskCall) (*liveCall, *wire.CallError) {
	if c.d.opts.Resolve == nil {
		return nil, &wire.CallError{Code: wire.ErrUnknownTool, Message: "tools can't call tools here"}
	}
	tool, args, err := c.d.opts.Resolve(c.req.Tool, ask.Tool, ask.Args)
	if err != nil {
		return nil, err
	}
	if c.depth+1 > maxDepth {
		return nil, tooDeep("%s is %d calls deep, as deep as calls may go", c.req.Tool.FullName(), maxDepth)
	}
	for up := c; up != nil; up = up.parent {
		if up.req.Tool.FullName() == tool.FullName() && up.req.Tool.Prompt == tool.Prompt && bytes.Equal(up.info(nil).Args, args) {
			return nil, tooDeep("%s calls itself with the same arguments, which would never end", tool.FullName())
		}
	}
	c.mu.Lock()
	target := c.target
	c.mu.Unlock()
	tabID := ask.TabID
	if tabID == 0 && tool.Plugin == c.req.Tool.Plugin {
		tabID = target.TabID
	}
	child := newLiveCall(c.d, Call{
		Tool: tool, Args: args, Browser: target.Browser, TabID: tabID, Client: c.req.Client, Asked: c.req.Asked,
		ParentCallID: c.id, ParentNodeID: c.id, Caller: c.asCaller(target),
	})
	child.parent, child.depth = c, c.depth+1
	return child, nil
}

// asCaller describes c, which runs in target, for a call that it makes.
func (c *liveCall) asCaller(target Target) *Caller {
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

func tooDeep(format string, args ...any) *wire.CallError {
	return &wire.CallError{Code: wire.ErrNestedTooDeep, Message: fmt.Sprintf(format, args...)}
}

// root is the client's call that c comes from.
func (c *liveCall) root() *liveCall {
	for c.parent != nil {
		c = c.parent
	}
	return c
}

// onChildReports keeps a call and those above it alive because one that it made
// has reported, and passes the messages on to the client.
func (c *liveCall) onChildReports(child string, reports []wire.Report) {
	for ; c != nil; c = c.parent {
		c.clock.touch()
		said := false
		for i := range reports {
			if r := &reports[i]; r.Message != "" && c.req.Progress != nil {
				c.tell(child+": "+r.Message, r.Audience)
				said = true
			}
		}
		if !said {
			c.tell("", "")
		}
	}
}

// waitForUser suspends a running call until a person has done what the tool
// asks for.
func (c *liveCall) waitForUser(ctx context.Context, ask *wire.AskUser) *wire.CallError {
	t := Ticket{Kind: wire.TicketUser, Reason: ask.Reason, Title: ask.Title}
	open, refused := c.suspend(t, nil)
	switch {
	case refused != nil:
		return refused
	case open == nil:
		return &wire.CallError{Code: wire.ErrRateLimited, Message: "the call waits for the person already; one question at a time"}
	}
	undo := c.hush(open)
	r, decided := c.await(ctx, open, t)
	c.mu.Lock()
	if c.status == StatusSuspended || c.status == StatusResuming {
		c.status = StatusRunning
		c.publish(EventRunning, nil)
	}
	c.mu.Unlock()
	undo()
	switch {
	case !decided:
		return &wire.CallError{Code: wire.ErrApprovalTimeout, Message: "the person did not answer for " + spell(open.Until.Sub(open.Since))}
	case !r.Allow:
		return &wire.CallError{Code: wire.ErrDenied, Message: "the person said no (" + r.By + ")"}
	}
	return nil
}
