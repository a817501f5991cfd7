package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"opentabs/dispatch/progress"
	"opentabs/internal/humanize"
	"opentabs/wire"
)

const (
	// maxNestingDepth is the maximum depth of nested calls; a call of a client has depth 0.
	maxNestingDepth = 8
	// maxNestedCalls limits the nested calls of one client call, at all depths together.
	// maxRunningNestedCalls limits how many nested calls of one client call run at once.
	maxNestedCalls        = 1000
	maxRunningNestedCalls = 64
)

// endedParentCanceller is the canceller in the error of a nested call whose parent call ended.
const endedParentCanceller = "the call that made it, which has ended"

var errParentEnded = &Cancellation{CancelledBy: endedParentCanceller}

var errWithdrawn = &Cancellation{CancelledBy: "the tool that made it"}

// toolRequests tracks the requests of one running tool: nested calls, and requests for an
// action of the user.
type toolRequests struct {
	mu          sync.Mutex // the mutex guards cancelFuncs and isClosed; no other lock is acquired while mu is held
	cancelFuncs map[int]context.CancelCauseFunc
	isClosed    bool
	failures    []requestFailure

	hasMadeRequests          atomic.Bool
	totalCalls, runningCalls atomic.Int64
}

const maxRequestFailures = 20

// requestFailure has the two texts of a tool's failed request. The page of the tool receives only
// the field message, which is the text for the agent. If the tool's error repeats this text, the
// text for the user contains the field userText instead.
type requestFailure struct{ errorMessage, userText string }

func (n *toolRequests) addFailure(err *wire.CallError) {
	if err == nil || err.UserText == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	keptFailures := n.failures[max(0, len(n.failures)-maxRequestFailures+1):]
	n.failures = append(keptFailures, requestFailure{err.Message, firstSentence(err.UserText)})
}

func (n *toolRequests) replaceTexts(errorText string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range n.failures {
		errorText = strings.ReplaceAll(errorText, f.errorMessage, f.userText)
	}
	return errorText
}

func firstSentence(errorText string) string {
	sentence, _, _ := strings.Cut(errorText, ". ")
	return strings.TrimRight(sentence, ".")
}

func (n *toolRequests) begin(requestID int) (context.Context, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, isDuplicate := n.cancelFuncs[requestID]; isDuplicate || n.isClosed {
		return nil, false
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	if n.cancelFuncs == nil {
		n.cancelFuncs = map[int]context.CancelCauseFunc{}
	}
	n.cancelFuncs[requestID] = cancel
	n.hasMadeRequests.Store(true)
	return ctx, true
}

// The method finish keeps the request's entry in cancelFuncs, so that begin can detect a duplicate of
// the request.
func (n *toolRequests) finish(requestID int, cause error) {
	n.mu.Lock()
	cancel := n.cancelFuncs[requestID]
	n.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

func (n *toolRequests) rejectRequests(cancelReason string) {
	n.mu.Lock()
	n.isClosed = true
	cancelFuncs := n.cancelFuncs
	n.cancelFuncs = nil
	n.mu.Unlock()
	for _, cancel := range cancelFuncs {
		cancel(&Cancellation{CancelledBy: endedParentCanceller, Reason: cancelReason})
	}
}

// toolRequest is one request of a running tool, such as for a nested call.
type toolRequest struct {
	call   *liveCall
	runID  string
	params wire.ToolAskParams
}

func (a toolRequest) serve(ctx context.Context) {
	c := a.call
	var toolOutput json.RawMessage
	var err *wire.CallError
	switch {
	case a.params.Call != nil:
		c.clock.AddNestedCalls(1)
		defer c.clock.AddNestedCalls(-1)
		toolOutput, err = a.callTool(ctx, a.params.Call)
	case a.params.User != nil:
		err = a.waitForUser(ctx, a.params.User)
	default:
		err = &wire.CallError{Code: wire.ErrInvalidArguments, Message: "the tool made an unknown request"}
	}
	c.clock.RestartIdle()
	if ctx.Err() == nil {
		c.requests.addFailure(err)
		c.d.bridge.Answer(a.runID, a.params.Ask, toolOutput, err)
	}
	c.requests.finish(a.params.Ask, nil)
}

func (a toolRequest) callTool(ctx context.Context, req *wire.AskCall) (json.RawMessage, *wire.CallError) {
	childCall, err := a.newChild(req)
	if err != nil {
		return nil, err
	}
	root := a.call.root
	if root.requests.totalCalls.Add(1) > maxNestedCalls {
		return nil, newNestingError("%s has made %d calls, the maximum for one call", root.req.Tool.FullName(), maxNestedCalls)
	}
	defer root.requests.runningCalls.Add(-1)
	if root.requests.runningCalls.Add(1) > maxRunningNestedCalls {
		return nil, &wire.CallError{Code: wire.ErrRateLimited, Message: fmt.Sprintf(
			"%s has %d calls running at once, the maximum for one call; wait for some to end", root.req.Tool.FullName(), maxRunningNestedCalls)}
	}
	callResult, childErr := a.call.d.call(ctx, childCall)
	var e *Error
	switch {
	case errors.As(childErr, &e):
		// The error of the nested call contains no advice, because the error of the calling tool contains
		// the advice.
		prefix := childCall.req.Tool.FullName() + " failed: "
		requestErr := &wire.CallError{Code: e.Code, Message: prefix + e.Cause, Tool: e.ToolError, PageText: e.PageText, UntrustedPages: e.UntrustedPages}
		if userText := userTextIfDifferent(childCall); userText != "" {
			requestErr.UserText = prefix + userText
		}
		if e.ToolError == nil && e.Retryable {
			requestErr.Tool = &wire.ToolErrorInfo{Code: string(e.Code), Retryable: true}
		}
		return nil, requestErr
	case childErr != nil:
		return nil, &wire.CallError{Code: wire.ErrInternal, Message: childErr.Error()}
	case len(callResult.Output) > wire.MaxAnswerBytes:
		return nil, &wire.CallError{Code: wire.ErrResultTooLarge, Message: fmt.Sprintf(
			"%s returned %s; the maximum for a nested call is %s", childCall.req.Tool.FullName(), humanize.Bytes(len(callResult.Output)), humanize.Bytes(wire.MaxAnswerBytes))}
	}
	return callResult.Output, nil
}

func (a toolRequest) newChild(req *wire.AskCall) (*liveCall, *wire.CallError) {
	c := a.call
	if c.d.opts.ResolveTool == nil {
		return nil, &wire.CallError{Code: wire.ErrUnknownTool, Message: "tools can't call other tools here"}
	}
	tool, args, err := c.d.opts.ResolveTool(c.req.Tool, req.Tool, req.Args)
	if err != nil {
		return nil, err
	}
	if c.depth+1 > maxNestingDepth {
		return nil, newNestingError("%s is nested %d calls deep, which is the maximum; a tool at this depth can't call other tools", c.req.Tool.FullName(), maxNestingDepth)
	}
	for ancestor := c; ancestor != nil; ancestor = ancestor.parent {
		if ancestor.req.Tool.FullName() == tool.FullName() && ancestor.req.Tool.Prompt == tool.Prompt && bytes.Equal(ancestor.arguments(), args) {
			return nil, newNestingError("%s calls itself with the same arguments, which would never end", tool.FullName())
		}
	}
	c.mu.Lock()
	target := c.attempts.runTarget
	c.mu.Unlock()
	tabID := req.TabID
	if tabID == 0 && tool.Plugin == c.req.Tool.Plugin {
		tabID = target.TabID
	}
	caller := c.req.Caller // a batch of browser tools makes nested calls on behalf of the tool that called the batch
	if !c.req.Tool.TargetKind.isChosenBeforeGates() {
		caller = describeCaller(c, target)
	}
	childCall := newLiveCall(c.d, Call{
		Tool: tool, Args: args, Browser: target.Browser, TabID: tabID, Client: c.req.Client, OnTicket: c.req.OnTicket,
		ParentCallID: c.id, ParentNodeID: c.id, Caller: caller,
	})
	childCall.parent, childCall.root, childCall.depth = c, c.root, c.depth+1
	return childCall, nil
}

func describeCaller(c *liveCall, target Target) *Caller {
	caller := &Caller{
		Plugin: c.req.Tool.Plugin, Tool: c.req.Tool.FullName(),
		Browser: target.Browser, TabID: target.TabID, Origin: OriginOf(target.URL),
	}
	for ancestor := c.parent; ancestor != nil; ancestor = ancestor.parent {
		caller.ParentTools = append(caller.ParentTools, ancestor.req.Tool.FullName())
	}
	return caller
}

// OriginOf returns the scheme, host and port of a URL in the form in which browsers write them,
// such as "https://example.com:8443": in lower case, and without the default port of the scheme.
// For a URL without a host, OriginOf returns an empty string.
func OriginOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	defaultPort := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(u.Host), defaultPort), ":")
}

func newNestingError(format string, args ...any) *wire.CallError {
	return &wire.CallError{Code: wire.ErrNestedTooDeep, Message: fmt.Sprintf(format, args...)}
}

// Each report restarts the idle limits of all parent calls.
func (c *liveCall) onChildProgress(toolName string, reports []wire.Report) {
	for ; c != nil; c = c.parent {
		c.clock.RestartIdle()
		if !c.sender.HasRecipient() {
			continue
		}
		hasMessage := false
		for i := range reports {
			if r := &reports[i]; r.Message != "" {
				c.sender.AddReport(time.Now(), progress.Numbers{}, progress.Text{Message: toolName + ": " + r.Message, Audience: r.Audience})
				hasMessage = true
			}
		}
		if !hasMessage {
			c.sender.AddReport(time.Now(), progress.Numbers{}, progress.Text{})
		}
	}
}

// waitForUser suspends a running call until the user confirms or denies what the tool
// requested, such as a login.
func (a toolRequest) waitForUser(ctx context.Context, req *wire.AskUser) *wire.CallError {
	c := a.call
	userTicket, rejection := c.suspend(Ticket{Kind: wire.TicketUser, Reason: req.Reason, Title: req.Title}, nil)
	switch {
	case rejection != nil:
		return rejection
	case userTicket == nil:
		return &wire.CallError{
			Code: wire.ErrRateLimited, Message: "the call is already waiting for the user; request one thing at a time",
			UserText: "The call is already waiting for you, and its tool asked for one more thing. Report this to the author of the plugin.",
		}
	}
	resumeTimers := userTicket.pauseTimers()
	r, isDecided := userTicket.awaitDecision(ctx)
	isDecided = isDecided && userTicket.resume(r)
	c.mu.Lock()
	if c.state.status == statusSuspended || c.state.status == statusResuming {
		c.state.status = statusRunning
		c.publish(EventRunning, time.Now(), nil)
	}
	c.mu.Unlock()
	resumeTimers()
	switch {
	case !isDecided:
		limitText := humanize.Duration(userTicket.ExpiresAt.Sub(userTicket.StartedAt))
		return &wire.CallError{
			Code: wire.ErrApprovalTimeout, Message: "no answer from the user within " + limitText,
			UserText: "You did not answer the tool's request within " + limitText + ". Retry the call, and answer the request in time.",
		}
	case !r.Allow:
		return newDeniedError(r.Surface)
	}
	return nil
}
