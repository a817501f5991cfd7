package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/mcpserver/form"
	"opentabs/mcpserver/transport"
)

// methodElicit is the MCP request that makes a client show its user a form.
const methodElicit = "elicitation/create"

// The type approvals shows approval requests for suspended calls as forms in the client that
// made the calls. The methods of approvals are safe for concurrent use.
type approvals struct {
	calls     Caller
	heartbeat time.Duration
	log       zerolog.Logger
	runCall   func(context.Context, request) reply
	// onClientTimeout is called if the client stopped waiting for the reply. The *progressSender contains the times of the
	// call's progress notifications.
	onClientTimeout func(context.Context, request, *progressSender)
	resumableCalls  *resumableCalls
}

func newApprovals(
	calls Caller, heartbeat time.Duration, log zerolog.Logger, run func(context.Context, request) reply, onClientTimeout func(context.Context, request, *progressSender),
) *approvals {
	return &approvals{calls: calls, heartbeat: heartbeat, log: log, runCall: run, onClientTimeout: onClientTimeout, resumableCalls: newResumableCalls()}
}

func (a *approvals) serveWithApproval(ctx context.Context, q request) reply {
	if q.CanAskInReply {
		return a.serveResumable(ctx, q)
	}
	f := a.newForms(ctx, q)
	defer f.close()
	q.onSuspend = f.showForm
	if f.progress != nil {
		q.progress = f.progress.send
	}
	r := a.runCall(ctx, q)
	if ctx.Err() != nil {
		a.onClientTimeout(ctx, q, f.progress)
	}
	return r
}

// remindClient sends progress at each heartbeat until ctx ends, because some clients cancel a call that reports no
// progress.
func (a *approvals) remindClient(ctx context.Context, q form.Question) {
	ticker := time.NewTicker(a.heartbeat)
	defer ticker.Stop()
	for {
		a.calls.SendReminder(q.WaitingTicket, q.ProgressMessage())
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (a *approvals) decideByAnswer(q form.Question, client dispatch.Client, toolResult json.RawMessage) bool {
	resolution, isDecided, err := q.ParseAnswer(toolResult)
	if isDecided {
		resolution.Surface = cmp.Or(client.VerifiedName(), strings.TrimSpace("the client "+client.Name))
		_, err = a.calls.Decide(q.CallID, q.TicketID, resolution)
	}
	if err != nil {
		a.log.Warn().Str("call", q.CallID).Str("client", client.String()).Err(err).Msg("the client's answer to the form decides nothing")
		return false
	}
	return isDecided
}

// requestForms shows the tickets of one call as forms in the client that made the call. A
// client without forms receives only the reason why its call is waiting.
type requestForms struct {
	approvals *approvals
	client    dispatch.Client
	progress  *progressSender
	askClient transport.Ask // nil if the client shows no forms

	ctx context.Context // ctx is the context of the request

	mu          sync.Mutex // the mutex guards isAnswered and cancelForms, and additions to openForms
	isAnswered  bool
	cancelForms []context.CancelFunc
	openForms   sync.WaitGroup
}

// newForms returns the forms of a request, which the caller must close before answering the request.
func (a *approvals) newForms(ctx context.Context, q request) *requestForms {
	return &requestForms{approvals: a, ctx: ctx, client: q.Client, progress: newProgressSender(ctx, q.Params, q.Send), askClient: q.Ask}
}

// The method close cancels the request's forms, and returns when the client has received the
// cancellations.
func (f *requestForms) close() {
	f.mu.Lock()
	f.isAnswered = true
	for _, cancel := range f.cancelForms {
		cancel()
	}
	f.mu.Unlock()
	f.openForms.Wait()
}

// showForm shows a form until ctx ends, which is when the ticket is resolved.
func (f *requestForms) showForm(ctx context.Context, w dispatch.WaitingTicket) {
	f.mu.Lock()
	if f.isAnswered {
		f.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.cancelForms = append(f.cancelForms, cancel)
	f.openForms.Add(1)
	f.mu.Unlock()
	defer f.openForms.Done()
	defer context.AfterFunc(f.ctx, cancel)()
	q := form.Question{WaitingTicket: w}
	var reminderGroup sync.WaitGroup
	defer reminderGroup.Wait()
	reminderGroup.Go(func() { f.approvals.remindClient(ctx, q) })
	if f.askClient == nil {
		return
	}
	toolResult, err := f.askClient(ctx, methodElicit, q.Build())
	if err != nil {
		if ctx.Err() == nil {
			f.approvals.log.Warn().Str("call", w.CallID).Str("client", f.client.String()).Err(err).Msg("the client could not show the form")
		}
		return
	}
	f.approvals.decideByAnswer(q, f.client, toolResult)
}
