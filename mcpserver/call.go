package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

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
	// send is nil if the client can't be told about progress.
	send notify
}

// serve runs a request to its end.
func (s *Server) serve(ctx context.Context, q request) (r reply) {
	defer func() {
		if v := recover(); v != nil {
			s.opts.Log.Error().Str("name", q.params.Name).Bytes("stack", debug.Stack()).Msg(fmt.Sprint("panic in a call: ", v))
			r = failure(errors.New("panic"))
			if q.method != methodCall {
				r = faultOf(r)
			}
		}
	}()
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
func (q request) newCall(ctx context.Context, t dispatch.Tool, a arguments) dispatch.Call {
	c := dispatch.Call{Tool: t, Args: a.tool, Browser: a.browser, TabID: a.tabID, Client: q.client}
	if token := q.params.token(); token != nil && q.send != nil {
		c.Progress = progressTo(ctx, q.send, token)
	}
	return c
}

// callTool runs a tools/call.
func (s *Server) callTool(ctx context.Context, q request) reply {
	p := q.params
	l, ok := (*s.tools.Load())[p.Name]
	if !ok {
		return fault(wire.CodeInvalidParams, "There is no tool %q. List the tools (tools/list), then call one of those.", p.Name)
	}
	args, err := splitArguments(p.Arguments, l.own, false)
	if err == nil {
		err = l.tool.Validate(args.tool)
	}
	if err != nil {
		return s.failed(err)
	}
	result, err := s.calls.Call(ctx, q.newCall(ctx, l.tool.Dispatch(), args))
	declared := l.shown.RawOutputSchema != nil
	if err == nil && declared {
		err = checkResult(l.tool, &result)
	}
	if err != nil {
		return s.failed(err)
	}
	r := success(result.CallID, result.Output)
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

// progressTo returns a function that tells a client progress under its token,
// until ctx ends: a client that has cancelled hears nothing more. What can't be
// sent is dropped: progress never changes a call, and a transport whose client
// is gone cancels the call itself.
func progressTo(ctx context.Context, send notify, token json.RawMessage) func(dispatch.Progress) {
	var buf []byte
	return func(p dispatch.Progress) {
		if ctx.Err() != nil {
			return
		}
		var total *float64
		if p.HasTotal {
			total = &p.Total
		}
		audience := p.Audience
		if audience == "" {
			audience = "internal"
		}
		buf = appendProgress(buf[:0], token, p.Progress, total, p.Message, audience)
		_ = send(buf)
	}
}
