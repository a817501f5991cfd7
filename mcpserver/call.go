package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/wire"
)

// notify sends one message to the client that waits for a call, ahead of the
// answer. It has sent it when it returns.
type notify func(message []byte) error

// request is one tools/call, prompts/get or resources/read on its way.
type request struct {
	method string
	params *params
	client dispatch.Client
	info   ClientInfo // what is known of the client, set by serve; its ID may be empty
	// session is the client's, or that of all clients without one.
	session *session
	// send is nil if the client can't be told anything ahead of the answer.
	send notify
	// elicit asks the client's person; nil if the client can't.
	elicit elicitor
	// held says that the client is asked by the answer to its request.
	held bool
	// patience is how long the client waits; set by serve if its calls may become
	// jobs.
	patience *patience

	// progress and asked are set by serve, for the call that is made.
	progress func(dispatch.Progress)
	asked    func(context.Context, dispatch.Waiting)
}

// mayHold reports whether the request, one of protocol version 2026-07-28 or
// later, may be answered by a question: it makes a call, and its client shows
// forms.
func (q request) mayHold() bool {
	return q.method != methodRead && canElicit(q.params.Meta.Capabilities)
}

// serve serves a request.
func (s *Server) serve(ctx context.Context, q request) reply {
	q.info = s.infoOf(q)
	s.minePatience(&q)
	if s.opts.NoForms {
		q.held, q.elicit = false, nil
	}
	if q.held {
		return s.serveHeld(ctx, q)
	}
	a := s.newAsker(ctx, q)
	defer a.finish()
	q.asked = a.asked
	if a.teller != nil {
		q.progress = a.teller.progress
	}
	return s.run(ctx, q)
}

// run runs a request to its end.
func (s *Server) run(ctx context.Context, q request) (r reply) {
	defer func() {
		if v := recover(); v != nil {
			s.opts.Log.Error().Str("name", q.params.Name).Bytes("stack", debug.Stack()).Msg(fmt.Sprint("panic in a call: ", v))
			r = failure(errors.New("panic"))
			if q.method != methodCall {
				r = faultOf(r)
			}
		}
	}()
	if err := s.waitReady(ctx, q.method); err != nil {
		return fault(wire.CodeInternal, "%v", err)
	}
	switch {
	case q.method == methodPrompt:
		return s.getPrompt(ctx, q)
	case q.method == methodRead && s.watch == nil:
		return fault(wire.CodeMethodNotFound, "There are no resources here. Call tools instead.")
	case q.method == methodRead:
		return s.readResource(q)
	default:
		return s.callTool(ctx, q)
	}
}

// newCall makes the call of a request.
func (q request) newCall(t dispatch.Tool, a arguments) dispatch.Call {
	return dispatch.Call{
		Tool: t, Args: a.tool, Browser: a.browser, TabID: a.tabID, Instance: a.instance,
		Client: q.client, Progress: q.progress, Asked: q.asked,
	}
}

// callTool runs a tools/call.
func (s *Server) callTool(ctx context.Context, q request) reply {
	if t, ok := s.ownToolOf(q); ok {
		return t.run(s, ctx, q)
	}
	l, ok := (*s.tools.Load())[q.params.Name]
	if failed := s.brokenPlugin(q.params.Name); !ok && failed != nil {
		return s.failed(failed)
	}
	if !ok {
		return fault(wire.CodeInvalidParams, "There is no tool %q. List the tools (tools/list), then call one of those.", q.params.Name)
	}
	own := l.own
	own.detach = own.detach || q.patience == nil // the argument means nothing without jobs
	args, err := splitArguments(q.params.Arguments, own, false)
	if err == nil {
		err = l.tool.Validate(args.tool)
	}
	if err != nil {
		if refused := s.refusedError(l.tool.Plugin, l.tool.Dispatch()); refused != nil {
			err = refused
		}
	}
	var after time.Duration
	detaches := false
	if err == nil {
		after, detaches, err = s.detachAfter(q, args.detach)
	}
	if err != nil {
		return s.failed(err)
	}
	c := q.newCall(l.tool.Dispatch(), args)
	if !detaches {
		result, err := s.calls.Call(ctx, c)
		return s.toolReply(l, result, err)
	}
	result, job, err := s.runDetachable(ctx, q, c, after)
	if job != nil {
		r := handle(job.View())
		// A client that never hears of the job has left its call.
		r.lost = func() { job.Cancel(dispatch.Cancellation{By: "the client"}) }
		return r
	}
	return s.toolReply(l, result, err)
}

// toolReply is the reply for how a call of a tool ended. l is nil for a tool
// that is not listed any more.
func (s *Server) toolReply(l *listedTool, result dispatch.Result, err error) reply {
	declared := l != nil && l.shown.RawOutputSchema != nil
	if err == nil && declared {
		err = checkResult(l.tool, &result)
	}
	if err != nil {
		return s.failed(err)
	}
	r := success(result.CallID, result.Output)
	r.audience = result.Audience
	// A schema may want more of a block's data than that it is a string. Clients
	// refuse what does not match, so such a tool's data stays in both places.
	if declared && r.blocks != nil && l.tool.ValidateResult(r.data) != nil {
		r.data = objectOnly(oneLine(result.Output))
	}
	return r
}

// checkResult checks what a tool returned against the schema that agents were
// shown: clients refuse a result that does not match it, with a text that names
// neither the plugin nor what to do.
func checkResult(t *plugin.Tool, r *dispatch.Result) error {
	err := t.ValidateResult(r.Output)
	var e *dispatch.Error
	if errors.As(err, &e) {
		e.CallID, e.Ran, e.Reports = r.CallID, r.Ran, r.Reports
	}
	return err
}

// failed is failure, and logs what the agent is not told.
func (s *Server) failed(err error) reply {
	var e *dispatch.Error
	if !errors.As(err, &e) {
		s.opts.Log.Error().Err(err).Msg("call failed inside opentabs")
	}
	return failure(err)
}
