package mcpserver

import (
	"context"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/joblist"
	"opentabs/internal/idempotency"
	"opentabs/internal/rawjson"
	"opentabs/plugin"
	"opentabs/wire"
)

const (
	metaReplayed   = "opentabs/replayed"   // the key of the ID of the earlier call whose result or error is repeated
	metaResultLost = "opentabs/resultLost" // the key of a mark for a result that is not stored
	metaUndo       = "opentabs/undo"       // the key of the tool that undoes a call
)

// idempotencyKeyOf returns "" for a read-only tool, which can safely run again. The text of its error is for the agent.
func idempotencyKeyOf(s *Server, q request, l *listedTool) (string, error) {
	key, err := idempotency.ParseKey(q.Params.Meta.IdempotencyKey)
	if err != nil || s.opts.Keys == nil || l.tool.IsReadOnly() {
		return "", err
	}
	return key, nil
}

func callWithKey(ctx context.Context, s *Server, q request, l *listedTool, c dispatch.Call, key string, detachDelay time.Duration, canDetach bool) reply {
	use, err := s.opts.Keys.Start(ctx, key, c)
	switch {
	case err != nil && ctx.Err() != nil:
		return s.newErrorReply(&dispatch.Error{Code: wire.ErrCancelled, Message: "This request was cancelled (cancelled). It started no call."})
	case err != nil:
		return s.newErrorReply(err)
	}
	hasEnded := true
	switch {
	case use.Job == nil:
	case canDetach:
		hasEnded = waitForJob(ctx, q, use.Job, detachDelay)
	default:
		hasEnded = use.Job.Wait(ctx, q.progress) == nil
	}
	if !hasEnded && ctx.Err() != nil {
		if !use.Leave(dispatch.CancellationFrom(ctx)) {
			return s.newErrorReply(&dispatch.Error{Code: wire.ErrCancelled, CallID: use.CallID, Message: "This request was cancelled (cancelled). The call goes on for another request with its idempotency key."})
		}
		hasEnded = use.Job.Wait(context.Background(), nil) == nil
	}
	if use.IsReplay {
		c.Trace = nil
	}
	var r reply
	if hasEnded {
		r = newEndedCallReply(s, q, l, c, use)
	} else {
		r = newStartedJobReply(s, q, l, use.Job)
	}
	if use.IsReplay {
		r.replayedCall, r.onUndelivered = use.CallID, nil // another request also uses the job
	}
	return r
}

func newEndedCallReply(s *Server, q request, l *listedTool, c dispatch.Call, use *idempotency.Use) reply {
	ending := use.CallResult()
	if !ending.IsResultLost {
		return s.replyWithTrace(l, c, ending.Result, ending.Err)
	}
	replyText := "The call " + use.CallID + " with this idempotency key is done, and was not made again. Its result is not stored: " +
		"the setting recordResults is off, or the result has secrets, is long or arrived after a lost link."
	r := reply{callID: use.CallID, replyText: replyText, isError: l.isListedWithOutputSchema(s, &q), isResultLost: true}
	if !r.isError { // a client rejects structured content that violates the output schema
		r.structuredContent = rawjson.Encode(missingResultReply{CallID: use.CallID, Status: wire.StatusDone})
	}
	return r
}

// missingResultReply is the structured content of the reply when the result of a call is not stored.
type missingResultReply struct {
	CallID         string          `json:"call_id"`
	Status         wire.CallStatus `json:"status"`
	IsResultStored bool            `json:"result_stored"`
}

func newStartedJobReply(s *Server, q request, l *listedTool, job *joblist.Job) reply {
	job.KeepResult()
	r := newJobReply(jobView(job))
	r.isError = l.isListedWithOutputSchema(s, &q)
	// A client that does not receive the job's ID cannot fetch the result, so the job is cancelled.
	r.onUndelivered = func() { job.Cancel(dispatch.Cancellation{CancelledBy: "the client"}) }
	return r
}

func newListedToolMeta(t *plugin.Tool) map[string]any {
	meta := map[string]any{}
	if t.Group != "" {
		meta[metaCategory] = t.Group
	}
	if undoTool := t.UndoTool(); undoTool != nil {
		meta[metaUndo] = undoTool.FullName()
	}
	if len(meta) == 0 {
		return nil
	}
	return meta
}
