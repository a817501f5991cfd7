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
	"opentabs/dispatch/joblist"
	"opentabs/dispatch/shape"
	"opentabs/internal/clients"
	"opentabs/internal/rawjson"
	"opentabs/mcpserver/form"
	"opentabs/mcpserver/transport"
	"opentabs/wire"
)

// DetachPolicy determines when a running call becomes a job. When a call becomes a job, its client
// receives the job's ID as the answer to the request. With the zero value of DetachPolicy, calls
// never become jobs.
type DetachPolicy struct {
	// DetachBeforeTimeout is true to turn a call into a job shortly before the client's timeout. For
	// a client with an unknown timeout, DetachBeforeTimeout has no effect.
	DetachBeforeTimeout bool
	// The field After, if positive, is the time after which a call becomes a job. If the
	// client's timeout is known and expires before After, the call becomes a job shortly
	// before the timeout.
	After time.Duration
}

const noWaitLimit = -1

const detachSchema = `{"type":"string","description":"When to get a job (see job_wait): seconds, auto or never."}`

// The type jobs handles calls that outlive their requests. The methods of jobs are safe for
// concurrent use.
type jobs struct {
	dispatchJobs    *joblist.List // nil if calls never become jobs
	detachPolicyFor func(client string) DetachPolicy
	learnedTimeouts LearnedTimeouts // nil disables learned timeouts
	newEndedReply   func(tool string, callResult dispatch.Result, err error) reply
}

// detachRuleOf returns false if the client's calls never become jobs; such a client gets no tools for jobs.
func (j *jobs) detachRuleOf(id clients.ID) (DetachPolicy, bool) {
	if j.dispatchJobs == nil || j.detachPolicyFor == nil {
		return DetachPolicy{}, false
	}
	d := j.detachPolicyFor(id.Name)
	if d.DetachBeforeTimeout && d.After == 0 {
		t := j.clientTimeout(id, false)
		return d, t.isKnown && t.Limit > 0
	}
	return d, d != DetachPolicy{}
}

// detachDelayOf returns the time after which a call becomes a job, or noWaitLimit to wait until shortly before the client's timeout.
// The result is false if the call never becomes a job.
func (t *answerTimer) detachDelayOf(argument json.RawMessage) (time.Duration, bool, error) {
	if t == nil {
		return 0, false, nil
	}
	if argument == nil {
		if !t.isKnown { // without a known timeout, only the time in the user's settings applies
			t.waitLimit = 0
		}
		if t.rule.After > 0 {
			return t.rule.After, true, nil
		}
		return noWaitLimit, true, nil
	}
	value := strings.TrimSpace(strings.Trim(string(argument), `"`))
	switch value {
	case "auto":
		return noWaitLimit, true, nil
	case "never":
		return 0, false, nil
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || !(seconds >= 0 && seconds <= maxJobWaitSeconds) {
		return 0, false, newArgumentError(detachArgument, argument, fmt.Sprintf(`"auto", "never" or a number of seconds up to %d`, maxJobWaitSeconds))
	}
	return time.Duration(seconds * float64(time.Second)), true, nil
}

func (j *jobs) revokeToken(token string) {
	if j.dispatchJobs == nil {
		return
	}
	for _, v := range j.dispatchJobs.List() {
		if job, ok := j.dispatchJobs.Find(v.CallID); ok && v.ToClient().Token == token {
			job.Cancel(dispatch.Cancellation{CancelledBy: "the removal of its client's token"})
		}
	}
}

// answerTimer measures how much longer the client of a request waits for the answer. An
// answerTimer is safe for concurrent use after detachDelayOf has returned.
type answerTimer struct {
	rule      DetachPolicy
	isKnown   bool          // isKnown is true if the client's timeout is known
	waitLimit time.Duration // a waitLimit of 0 means no limit

	// progressRestarts is true if each notification restarts the client's timeout.
	progressRestarts bool

	mu       sync.Mutex  // the mutex guards the fields below
	timer    *time.Timer // the field timer is nil before start is called
	isPaused bool
}

func (j *jobs) startTimer(q *request) {
	if q.Method != transport.MethodCall {
		return
	}
	rule, ok := j.detachRuleOf(q.clientID())
	if !ok {
		return
	}
	knownTimeout := j.clientTimeout(q.clientID(), q.Info.Transport != transport.TransportStdio)
	t := &answerTimer{rule: rule, isKnown: knownTimeout.isKnown, waitLimit: knownTimeout.Limit, progressRestarts: knownTimeout.ProgressRestarts}
	// The reply must arrive at the client before the client's timeout expires.
	t.waitLimit -= min(t.waitLimit/6, 10*time.Second)
	q.timer = t
	q.Send = t.restartAfter(q.Send)
}

// restartAfter returns a function that calls sendMessage and then restarts the timer, if notifications restart the
// client's timeout. The argument sendMessage may be nil.
func (t *answerTimer) restartAfter(sendMessage func([]byte) error) func([]byte) error {
	if t == nil || sendMessage == nil || t.waitLimit <= 0 || !t.progressRestarts {
		return sendMessage
	}
	return func(notificationJSON []byte) error {
		err := sendMessage(notificationJSON)
		t.restart()
		return err
	}
}

// start starts a timer that calls onLimit shortly before the client's timeout expires.
func (t *answerTimer) start(onLimit func()) (stopWatching func() bool) {
	if t.waitLimit <= 0 {
		return func() bool { return false }
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(t.waitLimit, onLimit)
	if t.isPaused {
		t.timer.Stop()
	}
	return t.timer.Stop
}

// pause stops the timer, because the client has received an answer and shows a form to the user.
func (t *answerTimer) pause() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isPaused = t.timer == nil || t.timer.Stop() // Stop returns false if the timer has fired
}

// resume starts the timer of a paused call again, because the client has sent another request for the call's answer.
func (t *answerTimer) resume() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isPaused && t.timer != nil {
		t.timer.Reset(t.waitLimit)
	}
	t.isPaused = false
}

func (t *answerTimer) restart() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil && t.timer.Stop() { // Stop returns false if the timer has fired
		t.timer.Reset(t.waitLimit)
	}
}

func (j *jobs) run(ctx context.Context, q request, c dispatch.Call, detachDelay time.Duration) (r dispatch.Result, job *joblist.Job, err error) {
	job = j.dispatchJobs.Start(c)
	hasEnded := waitForJob(ctx, q, job, detachDelay)
	if !hasEnded && ctx.Err() != nil {
		job.Cancel(dispatch.CancellationFrom(ctx))
		hasEnded = job.Wait(context.Background(), nil) == nil
	}
	if hasEnded {
		r, err, _ = job.Result()
		return r, nil, err
	}
	return dispatch.Result{}, job, nil
}

// waitForJob returns false if the job still runs when the client needs an answer, or when maxWait has passed.
// If maxWait is noWaitLimit, only the client's timeout limits the wait.
func waitForJob(ctx context.Context, q request, job *joblist.Job, maxWait time.Duration) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if maxWait >= 0 {
		defer time.AfterFunc(maxWait, cancel).Stop()
	}
	defer q.timer.start(cancel)()
	if job.Wait(ctx, q.progress) == nil {
		return true
	}
	_, _, hasEnded := job.Result()
	return hasEnded
}

func newJobAnswer(v joblist.View) shape.Job {
	a := shape.JobForAgent(v)
	a.WaitsFor = form.EscapeReason(a.WaitsFor)
	switch {
	case a.Result == "":
		a.Hint = fmt.Sprintf(`Call job_wait with {"job": %q} for its result, or job_cancel to stop it.`, a.JobID)
	case v.ResultDropped:
		a.Hint = "Its result was dropped to make room. Call the tool again if you need it."
	default:
		a.Hint = fmt.Sprintf(`Call job_result with {"job": %q} for its result.`, a.JobID)
	}
	return a
}

func formatJob(a shape.Job) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Job %s (%s) %s", a.JobID, a.Tool, jobStateText(a))
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
		fmt.Fprintf(&b, ". Reason: %s", strings.TrimSuffix(a.WaitsFor, "."))
	}
	return b.String() + ". " + a.Hint
}

func jobStateText(a shape.Job) string {
	switch {
	case a.Status == wire.StatusPending && a.WaitsFor != "":
		return "is waiting for the user"
	case a.Status == wire.StatusPending:
		return "is queued"
	case a.Status == wire.StatusFailed:
		return "has failed"
	}
	return "is " + string(a.Status)
}

func newJobReply(v joblist.View) reply {
	a := newJobAnswer(v)
	return reply{callID: a.JobID, replyText: formatJob(a), structuredContent: rawjson.Encode(a), job: newJobMeta(v)}
}

func newJobMeta(v joblist.View) json.RawMessage {
	return rawjson.Encode(struct {
		Job    string          `json:"job"`
		Status wire.CallStatus `json:"status"`
	}{v.CallID, v.Status.ProgressStatus()})
}
