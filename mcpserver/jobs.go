package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/clients"
	"opentabs/wire"
)

// Detach says when a call that still runs is answered with the handle of a job.
// The zero value is never.
type Detach struct {
	// Auto detaches before the client would give up.
	Auto bool
	// After detaches so long after the call came in, if it is positive, or
	// before the client would give up.
	After time.Duration
}

// untilItEnds is a limit that never comes.
const untilItEnds = -1

// jobArgument describes the argument "_detach" to agents.
const jobArgument = `{"type":"string","description":"When to stop waiting and get a job instead, if the call still runs: ` +
	`a number of seconds, auto (before this client gives up) or never. Get the job's result with job_wait."}`

// jobsOf says when the calls of a client are detached; false if they never are
// and the client is shown nothing of jobs.
func (s *Server) jobsOf(client string) (Detach, bool) {
	if s.opts.Jobs == nil || s.opts.Detach == nil {
		return Detach{}, false
	}
	d := s.opts.Detach(client)
	return d, d != Detach{}
}

// detachAfter says when a call is detached: after a time, before the client
// gives up (untilItEnds), or never (false). asked is the argument "_detach", nil
// if the agent gave none.
func (s *Server) detachAfter(q request, asked json.RawMessage) (time.Duration, bool, error) {
	d, ok := s.jobsOf(q.info.Name)
	if !ok || asked == nil {
		if d.After > 0 {
			return d.After, ok, nil
		}
		return untilItEnds, ok, nil
	}
	word := strings.TrimSpace(strings.Trim(string(asked), `"`))
	switch word {
	case "auto":
		return untilItEnds, true, nil
	case "never":
		return 0, false, nil
	}
	seconds, err := strconv.ParseFloat(word, 64)
	if err != nil || !(seconds >= 0 && seconds <= maxJobSeconds) {
		return 0, false, badArgument(argDetach, asked, fmt.Sprintf(`"auto", "never" or a number of seconds up to %d`, maxJobSeconds))
	}
	return time.Duration(seconds * float64(time.Second)), true, nil
}

// infoOf is what is known of the client of a request.
func (s *Server) infoOf(q request) ClientInfo {
	info := s.sessions.client(q.session)
	if q.params.modern() {
		info.Name, info.Version = q.params.Meta.ClientInfo.Name, q.params.Meta.ClientInfo.Version
	}
	return info
}

// patience is how long the client of one request waits for its answer. It is
// safe for concurrent use.
type patience struct {
	limit   time.Duration // 0 for ever
	renewed bool          // begins anew when the client is told something

	mu    sync.Mutex  // guards timer
	timer *time.Timer // nil while nobody waits
}

// minePatience notes how long the client of q waits, if its calls may become
// jobs.
func (s *Server) minePatience(q *request) {
	if _, ok := s.jobsOf(q.info.Name); !ok || q.method != methodCall {
		return
	}
	profile := clients.Of(q.info.Name, q.info.Version)
	p := &patience{limit: profile.WaitLimit(q.info.Transport != transportStdio), renewed: profile.Resets}
	// The answer has to be there by then.
	p.limit -= min(p.limit/6, 10*time.Second)
	q.patience = p
	if send := q.send; send != nil && p.limit > 0 && p.renewed {
		q.send = func(message []byte) error {
			err := send(message)
			p.renew()
			return err
		}
	}
}

// begin calls over when the client should have its answer, unless the function
// that it returns is called before.
func (p *patience) begin(over func()) (end func() bool) {
	if p.limit <= 0 {
		return func() bool { return false }
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(p.limit, over)
	return p.timer.Stop
}

func (p *patience) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil && p.timer.Stop() { // one that has fired stays over
		p.timer.Reset(p.limit)
	}
}

// runDetachable runs a call that may become a job: then job is set, and the
// client has to be told of it.
func (s *Server) runDetachable(ctx context.Context, q request, c dispatch.Call, after time.Duration) (r dispatch.Result, job *dispatch.Job, err error) {
	job = s.opts.Jobs.Start(c)
	ended := attend(ctx, q, job, after)
	if !ended && ctx.Err() != nil {
		job.Cancel(dispatch.CancellationOf(ctx))
		ended = job.Wait(context.Background(), nil) == nil
	}
	if ended {
		r, err, _ = job.Result()
		return r, nil, err
	}
	job.Keep()
	return dispatch.Result{}, job, nil
}

// attend waits for a job on behalf of a client and tells it the progress. It
// reports false if the job still runs when the client left, when the client
// should have an answer, or after a time (untilItEnds for none).
func attend(ctx context.Context, q request, job *dispatch.Job, after time.Duration) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if after >= 0 {
		defer time.AfterFunc(after, stop).Stop()
	}
	defer q.patience.begin(stop)()
	if job.Wait(ctx, q.progress) == nil {
		return true
	}
	_, _, ended := job.Result()
	return ended
}

// jobAnswer is a job as agents see it.
type jobAnswer struct {
	Job    string          `json:"job"`
	Tool   string          `json:"tool"`
	Status wire.CallStatus `json:"status"`
	// Progress is from 0 to 1.
	Progress *float64 `json:"progress,omitempty"`
	Loaded   *float64 `json:"loaded,omitempty"`
	Total    *float64 `json:"total,omitempty"`
	Message  string   `json:"message,omitempty"`
	// WaitsFor says what a person has to do before it goes on.
	WaitsFor string  `json:"waits_for,omitempty"`
	RanMs    float64 `json:"ran_ms"`
	// Result is "kept" or "gone" once the job has ended.
	Result string `json:"result,omitempty"`
	Hint   string `json:"hint"`
}

func answerOf(v dispatch.JobView) jobAnswer {
	a := jobAnswer{
		Job: v.CallID, Tool: v.ToolName, Status: v.Status, Progress: v.Progress, Loaded: v.Loaded, Total: v.Total,
		Message: v.Message, RanMs: v.RunMs,
	}
	if v.Waiting != nil {
		a.WaitsFor = visible(v.Waiting.Reason, shownReason)
	}
	switch v.Status {
	case wire.StatusPending, wire.StatusRunning:
		a.Hint = fmt.Sprintf(`Call job_wait with {"job": %q} for its result, or job_cancel to stop it.`, v.CallID)
		return a
	}
	a.Result, a.Hint = "kept", fmt.Sprintf(`Call job_result with {"job": %q} for its result.`, v.CallID)
	if v.Gone {
		a.Result, a.Hint = "gone", "Its result was dropped to make room. Call the tool again if you need it."
	}
	return a
}

// text is the answer in words.
func (a jobAnswer) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Job %s (%s) is %s", a.Job, a.Tool, a.Status)
	switch {
	case a.Loaded != nil && a.Total != nil:
		fmt.Fprintf(&b, ", %s of %s", appendNumber(nil, *a.Loaded), appendNumber(nil, *a.Total))
	case a.Loaded != nil:
		fmt.Fprintf(&b, ", %s done so far", appendNumber(nil, *a.Loaded))
	}
	if a.Message != "" {
		fmt.Fprintf(&b, ", last message: %s", strconv.Quote(a.Message))
	}
	if a.WaitsFor != "" {
		fmt.Fprintf(&b, ". It waits for the person: %s", strings.TrimSuffix(a.WaitsFor, "."))
	}
	return b.String() + ". " + a.Hint
}

// handle is the reply that names a job.
func handle(v dispatch.JobView) reply {
	a := answerOf(v)
	return reply{callID: a.Job, text: a.text(), data: mustJSON(a), job: jobMeta(v)}
}

// jobMeta is the value of metaJob.
func jobMeta(v dispatch.JobView) json.RawMessage {
	return mustJSON(struct {
		Job    string          `json:"job"`
		Status wire.CallStatus `json:"status"`
	}{v.CallID, v.Status})
}

// mustJSON is the JSON of what can't fail.
func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("mcpserver: " + err.Error())
	}
	return b
}
