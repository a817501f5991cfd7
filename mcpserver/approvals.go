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

// approvals shows approval requests for suspended calls as forms in the client that made the
// calls. The methods of approvals are safe for concurrent use.
type approvals struct {
	calls     Caller
	heartbeat time.Duration
	log       zerolog.Logger
	// run executes a client's request. The caller sends the returned reply to the client.
	run func(context.Context, request) reply
	// onGiveUp is called if the client stopped waiting for the reply to its request. The
	// *progressSender stores when progress notifications were sent to the client.
	onGiveUp  func(context.Context, request, *progressSender)
	resumable *resumableCalls
}

func newApprovals(
	calls Caller, heartbeat time.Duration, log zerolog.Logger, run func(context.Context, request) reply, onGiveUp func(context.Context, request, *progressSender),
) *approvals {
	return &approvals{calls: calls, heartbeat: heartbeat, log: log, run: run, onGiveUp: onGiveUp, resumable: newResumableCalls()}
}

// serve runs a request and returns the reply to the client. While a call is suspended, a
// client that supports forms shows an approval form.
func (a *approvals) serve(ctx context.Context, q request) reply {
	if q.AsksByReply {
		return a.serveResumable(ctx, q)
	}
	f := a.newForms(ctx, q)
	defer f.close()
	q.onSuspend = f.showForm
	if f.progress != nil {
		q.progress = f.progress.send
	}
	r := a.run(ctx, q)
	if ctx.Err() != nil {
		a.onGiveUp(ctx, q, f.progress)
	}
	return r
}

// remindClient sends the client the reason why its call is waiting, at each heartbeat until ctx
// ends. Some clients cancel a call that reports no progress.
func (a *approvals) remindClient(ctx context.Context, q form.Question) {
	ticker := time.NewTicker(a.heartbeat)
	defer ticker.Stop()
	for {
		a.calls.Remind(q.WaitingTicket, q.ProgressMessage())
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// decideByAnswer resolves a ticket with the user's answer to a form. decideByAnswer returns
// false if the answer contains no decision. If the user answers the form without a decision,
// the user can still decide in the side panel or the CLI.
func (a *approvals) decideByAnswer(q form.Question, client dispatch.Client, result json.RawMessage) bool {
	resolution, isDecided, err := q.ParseAnswer(result)
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
	ask       transport.Ask // nil if the client shows no forms

	ctx context.Context // the context of the request

	mu          sync.Mutex           // guards isAnswered and cancelForms, and additions to openForms
	isAnswered  bool                 // set when the request has been answered
	cancelForms []context.CancelFunc // cancels the forms that were shown
	openForms   sync.WaitGroup       // counts the forms that are shown
}

// newForms returns the forms of a request. The caller must close the returned forms
// before it answers the request.
func (a *approvals) newForms(ctx context.Context, q request) *requestForms {
	return &requestForms{approvals: a, ctx: ctx, client: q.Client, progress: newProgressSender(ctx, q.Params, q.Send), ask: q.Ask}
}

// close cancels the request's forms, and returns when the client has received the cancellations.
func (f *requestForms) close() {
	f.mu.Lock()
	f.isAnswered = true
	for _, cancel := range f.cancelForms {
		cancel()
	}
	f.mu.Unlock()
	f.openForms.Wait()
}

// showForm shows a form for one ticket until ctx ends. ctx ends when the ticket is resolved.
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
	var reminders sync.WaitGroup
	defer reminders.Wait()
	reminders.Go(func() { f.approvals.remindClient(ctx, q) })
	if f.ask == nil {
		return
	}
	result, err := f.ask(ctx, methodElicit, q.Build())
	if err != nil {
		if ctx.Err() == nil {
			f.approvals.log.Warn().Str("call", w.CallID).Str("client", f.client.String()).Err(err).Msg("the client could not show the form")
		}
		return
	}
	f.approvals.decideByAnswer(q, f.client, result)
}
