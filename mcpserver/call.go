package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/internal/clients"
	"opentabs/mcpserver/content"
	"opentabs/mcpserver/gateway"
	"opentabs/mcpserver/transport"
	"opentabs/wire"
)

// The type request is a transport.Request with the timer and the callbacks of its call.
type request struct {
	transport.Request
	receivedAt time.Time
	// The field timer is nil if the client's calls never become jobs.
	timer *answerTimer
	// The fields progress and onSuspend are callbacks of the dispatcher: it calls progress for
	// each progress report, and onSuspend when it suspends the call.
	progress  func(dispatch.Progress)
	onSuspend func(context.Context, dispatch.WaitingTicket)
	// gatewayCall is nil unless the client called the tool through a tool of the gateway.
	gatewayCall *gatewayCall
}

var _ transport.Handler = (*Server)(nil)

// The method Serve implements transport.Handler by running tool calls, prompts and reads of
// resources.
func (s *Server) Serve(ctx context.Context, r transport.Request) transport.Reply {
	q := request{Request: r, receivedAt: time.Now()}
	if err := q.resolveGatewayCall(); err != nil {
		return newToolErrorReply(err)
	}
	if s.jobs.mayLearnTimeout(&q) {
		// If a client repeats a call right after the call timed out, the repeated call must become
		// a job before it times out, too.
		s.ending.WaitForCancelled(ctx, q.clientID())
		defer s.ending.Begin(ctx, q.clientID()).End()
	}
	s.jobs.startTimer(&q)
	if s.opts.DisableForms {
		q.CanAskInReply, q.Ask = false, nil
	}
	callReply := s.approvals.serveWithApproval(ctx, q)
	if len(callReply.output) > maxRepeatedTextBytes && callReply.isStructuredContentText() && q.needsStructuredOnly() {
		callReply.output = nil
	}
	return callReply
}

// maxRepeatedTextBytes is the maximum length, in bytes, of structured content that a result repeats
// as text for every client. If structured content is longer than maxRepeatedTextBytes, clients that use only
// structured content receive no text.
const maxRepeatedTextBytes = 16 << 10

// needsStructuredOnly reports whether the client uses only the structured content of a result
// and ignores the text.
func (q request) needsStructuredOnly() bool {
	return q.ReadsOnlyStructuredContent || clients.Of(q.Info.Name, q.Info.Version).ReadsOnlyStructuredContent
}

// pluginMethods are the MCP methods whose results depend on plugins.
var pluginMethods = []string{transport.MethodCall, transport.MethodPrompt, string(mcp.MethodToolsList), string(mcp.MethodPromptsList)}

// The method ReadinessReady implements transport.Handler. Requests about plugins wait until the plugins
// are loaded, because an early list would be empty.
func (s *Server) WaitUntilReady(ctx context.Context, method string) error {
	if s.opts.WaitUntilLoaded == nil || !slices.Contains(pluginMethods, method) {
		return nil
	}
	return s.opts.WaitUntilLoaded(ctx)
}

// FindToolWithHeaders implements transport.Handler by returning a tool whose arguments clients repeat in
// HTTP headers.
func (s *Server) FindToolWithHeaders(name string) *mcp.Tool {
	if l, ok := s.catalog.findTool(name); ok && l.hasHeaderArguments {
		return &l.definition
	}
	return nil
}

// The method run handles a request, and replies with an error if the handling code
// panics.
func (s *Server) run(ctx context.Context, q request) (finalReply reply) {
	defer func() {
		if v := recover(); v != nil {
			s.opts.Log.Error().Str("name", q.Params.Name).Bytes("stack", debug.Stack()).Msg(fmt.Sprint("panic in a call: ", v))
			finalReply = newToolErrorReply(errors.New("panic"))
			if q.Method != transport.MethodCall {
				finalReply = toProtocolErrorReply(finalReply)
			}
		}
	}()
	if err := s.WaitUntilReady(ctx, q.Method); err != nil {
		return newProtocolErrorReply(wire.CodeInternal, "%v", err)
	}
	switch {
	case q.Method == transport.MethodPrompt:
		return s.getPrompt(ctx, q)
	case q.Method == transport.MethodRead && s.resources == nil:
		return newProtocolErrorReply(wire.CodeMethodNotFound, "There are no resources here. Call tools instead.")
	case q.Method == transport.MethodRead:
		return s.resources.read(q)
	default:
		return s.callTool(ctx, q)
	}
}

func (q request) newCall(t dispatch.Tool, a arguments) dispatch.Call {
	return dispatch.Call{
		Tool: t, Args: a.toolArgs, Browser: a.browser, TabID: a.tabID, Instance: a.instance,
		Client: q.Client, Progress: q.progress, OnTicket: q.onSuspend,
	}
}

func (s *Server) callTool(ctx context.Context, q request) reply {
	if t, ok := s.builtinTool(q); ok {
		if err := q.gatewayCall.checkReadOnly(t.definition); err != nil {
			return newToolErrorReply(err)
		}
		if q.gatewayCall != nil {
			q.gatewayCall.schemaText = gateway.SchemaText(t.definition.Name, t.definition.RawInputSchema)
		}
		return t.runTool(s, ctx, q)
	}
	l, ok := s.catalog.findTool(q.Params.Name)
	switch {
	case !ok && q.gatewayCall != nil:
		return newToolErrorReply(s.lists.unknownToolError(q, q.Params.Name))
	case !ok:
		if err := s.catalog.brokenPluginError(q.Params.Name); err != nil {
			return s.newErrorReply(err)
		}
		similarNames := s.lists.finder.FindSimilarNames(s.lists.searchableSites(q.clientID()), q.Params.Name, s.lists.availability())
		return newProtocolErrorReply(wire.CodeInvalidParams, "%s", gateway.UnknownToolText(q.Params.Name, similarNames, s.ListModeOf(q.Info) == gateway.ListGatewayTools))
	}
	definedByTool := l.definedByTool
	definedByTool.definesDetach = definedByTool.definesDetach || q.timer == nil // without jobs, the argument _detach belongs to the tool
	args, err := splitArguments(q.Params.Arguments, definedByTool, false)
	if err == nil {
		err = args.addTargetArguments(q.gatewayCall, len(l.tool.Plugin.Instances) > 0)
	}
	if err == nil {
		err = l.tool.Validate(args.toolArgs)
	}
	var detachDelay time.Duration
	canDetach := false
	if err == nil {
		detachDelay, canDetach, err = q.timer.detachDelayOf(args.detach)
	}
	argumentsHint := ""
	if q.gatewayCall != nil && isInvalidArguments(err) {
		argumentsHint = gateway.SchemaText(l.definition.Name, l.definition.RawInputSchema)
	}
	if err == nil {
		err = q.gatewayCall.checkReadOnly(l.definition)
	}
	if err != nil {
		if refusalErr := s.catalog.refusedError(l.tool.Plugin, l.tool.Dispatch()); refusalErr != nil {
			err, argumentsHint = refusalErr, ""
		}
		r := s.newErrorReply(err)
		r.replyText += argumentsHint
		return r
	}
	key, err := idempotencyKeyOf(s, q, l)
	if err != nil {
		return newProtocolErrorReply(wire.CodeInvalidParams, `The value of _meta["opentabs/idempotencyKey"] is invalid: %v.`, err)
	}
	trace := s.opts.TraceSampler.TraceOf(ctx)
	trace.SetParentSpan(q.Params.Meta.TraceParent)
	trace.Record(hops.CheckpointValidated)
	c := q.newCall(l.tool.Dispatch(), args)
	c.Trace = trace
	if key != "" {
		return callWithKey(ctx, s, q, l, c, key, detachDelay, canDetach)
	}
	if !canDetach {
		callResult, err := s.calls.Call(ctx, c)
		return s.replyWithTrace(l, c, callResult, err)
	}
	callResult, job, err := s.jobs.run(ctx, q, c, detachDelay)
	if job != nil {
		r := newStartedJobReply(s, q, l, job)
		if callResult, err, hasEnded := job.Result(); hasEnded { // the call ended just after it became a job
			return s.replyWithTrace(l, c, callResult, err)
		}
		return r
	}
	return s.replyWithTrace(l, c, callResult, err)
}

func (s *Server) replyWithTrace(l *listedTool, c dispatch.Call, callResult dispatch.Result, err error) reply {
	c.Trace.Record(hops.CheckpointEnded)
	r := s.replyForToolResult(l, callResult, err)
	r.trace = c.Trace
	return r
}

// replyForToolResult returns the reply for an ended call of a tool; l is nil if the tool is no longer listed.
func (s *Server) replyForToolResult(l *listedTool, callResult dispatch.Result, err error) reply {
	hasSchema := l != nil && l.definition.RawOutputSchema != nil
	if err != nil {
		return s.newErrorReply(err)
	}
	if l != nil && l.tool.Plugin.IsBuiltin() {
		return newBrowserReply(callResult)
	}
	r := newSuccessReply(callResult.CallID, callResult.Output)
	r.audience = callResult.Audience
	// The structured content omits the data of content blocks, such as the bytes of an image. If
	// the tool's output schema requires the data of content blocks, the structured content includes
	// the data, because clients reject structured content that violates the output schema.
	if hasSchema && r.blocks != nil && l.tool.ValidateResult(r.structuredContent) != nil {
		r.structuredContent = content.StructuredContent(content.RemoveLineBreaks(callResult.Output))
	}
	return r
}

// newErrorReply returns the reply to a failed call, and logs internal errors, whose details agents do not receive.
func (s *Server) newErrorReply(err error) reply {
	var e *dispatch.Error
	if !errors.As(err, &e) {
		s.opts.Log.Error().Err(err).Msg("call failed inside opentabs")
	}
	return newToolErrorReply(err)
}

func isInvalidArguments(err error) bool {
	var e *dispatch.Error
	return errors.As(err, &e) && e.Code == wire.ErrInvalidArguments
}
