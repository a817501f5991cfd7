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
	"opentabs/dispatch/shape"
	"opentabs/internal/clients"
	"opentabs/internal/rawjson"
	"opentabs/mcpserver/transport"
	"opentabs/wire"
)

// Detach is the rule when a running call becomes a job, whose ID is then the answer to
// the request. With the zero value of Detach, calls never become jobs.
type Detach struct {
	// BeforeTimeout makes the call a job shortly before the client stops waiting.
	BeforeTimeout bool
	// After, if positive, is the time from the request until its call becomes a job.
	// The call becomes a job earlier if the client's timeout is earlier.
	After time.Duration
}

// noLimit is a time limit that never ends.
const noLimit = -1

// detachSchema is the schema of the argument "_detach".
const detachSchema = `{"type":"string","description":"When to stop waiting and get a job instead, if the call still runs: ` +
	`a number of seconds, auto (before this client gives up) or never. Get the job's result with job_wait."}`

// jobs are the calls that outlive their requests. jobs is safe for concurrent use.
type jobs struct {
	dispatchJobs *dispatch.Jobs // nil if calls never become jobs
	detachRule   func(client string) Detach
	// replyToEnd returns the reply for the end of a call of the named tool.
	replyToEnd func(tool string, result dispatch.Result, err error) reply
}

// detachRules returns when the calls of a client become jobs. detachRules returns false
// if calls of the client never become jobs. A client whose calls never become jobs gets
// no tools for jobs.
func (j *jobs) detachRules(client string) (Detach, bool) {
	if j.dispatchJobs == nil || j.detachRule == nil {
		return Detach{}, false
	}
	d := j.detachRule(client)
	return d, d != Detach{}
}

// detachAfter returns when a call becomes a job: after a time, before the client gives
// up (noLimit), or never (false). argument is the value of "_detach", or nil if it is
// missing.
func (j *jobs) detachAfter(q request, argument json.RawMessage) (time.Duration, bool, error) {
	rule, ok := j.detachRules(q.Info.Name)
	if !ok || argument == nil {
		if rule.After > 0 {
			return rule.After, ok, nil
		}
		return noLimit, ok, nil
	}
	value := strings.TrimSpace(strings.Trim(string(argument), `"`))
	switch value {
	case "auto":
		return noLimit, true, nil
	case "never":
		return 0, false, nil
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || !(seconds >= 0 && seconds <= maxJobSeconds) {
		return 0, false, newArgumentError(argDetach, argument, fmt.Sprintf(`"auto", "never" or a number of seconds up to %d`, maxJobSeconds))
	}
	return time.Duration(seconds * float64(time.Second)), true, nil
}

// revokeToken cancels the jobs of a client whose token was removed.
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

// answerTimer measures how long the client of one request still waits for its answer.
// answerTimer is safe for concurrent use.
type answerTimer struct {
	waitLimit         time.Duration // 0 means no limit
	restartsOnMessage bool          // set if each message to the client restarts the limit

	mu    sync.Mutex  // guards timer
	timer *time.Timer // nil before start
}

// startTimer sets q.timer if calls of the client may become jobs.
func (j *jobs) startTimer(q *request) {
	if _, ok := j.detachRules(q.Info.Name); !ok || q.Method != transport.MethodCall {
		return
	}
	profile := clients.Of(q.Info.Name, q.Info.Version)
	t := &answerTimer{waitLimit: profile.WaitLimit(q.Info.Transport != transport.OverStdio), restartsOnMessage: profile.ProgressRestartsTimeout}
	// The answer must arrive before the client's time limit ends.
	t.waitLimit -= min(t.waitLimit/6, 10*time.Second)
	q.timer = t
	if send := q.Send; send != nil && t.waitLimit > 0 && t.restartsOnMessage {
		q.Send = func(message []byte) error {
			err := send(message)
			t.restart()
			return err
		}
	}
}

// start calls onLimit when the client must get an answer, because its time limit is
// near. The returned function stops the timer.
func (t *answerTimer) start(onLimit func()) (stop func() bool) {
	if t.waitLimit <= 0 {
		return func() bool { return false }
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(t.waitLimit, onLimit)
	return t.timer.Stop
}

func (t *answerTimer) restart() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil && t.timer.Stop() { // Stop returns false if the timer has fired
		t.timer.Reset(t.waitLimit)
	}
}

// run runs a call that may become a job. run returns the job if the call becomes a job,
// and the result of the call if the call ends first.
func (j *jobs) run(ctx context.Context, q request, c dispatch.Call, detachTime time.Duration) (r dispatch.Result, job *dispatch.Job, err error) {
	job = j.dispatchJobs.Start(c)
	hasEnded := waitForJob(ctx, q, job, detachTime)
	if !hasEnded && ctx.Err() != nil {
		job.Cancel(dispatch.CancellationOf(ctx))
		hasEnded = job.Wait(context.Background(), nil) == nil
	}
	if hasEnded {
		r, err, _ = job.Result()
		return r, nil, err
	}
	job.Keep()
	return dispatch.Result{}, job, nil
}

// waitForJob waits for the end of a job and sends its progress to the client.
// waitForJob returns false if the job still runs when the client disconnects or needs
// an answer, or when maxWait (noLimit for none) ends.
func waitForJob(ctx context.Context, q request, job *dispatch.Job, maxWait time.Duration) bool {
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

// jobAnswer returns a job as agents see it, with its next step.
func jobAnswer(v dispatch.JobView) shape.Job {
	a := shape.JobForAgent(v)
	a.WaitsFor = escapeForUser(a.WaitsFor, maxShownReason)
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

// jobText describes a job in sentences for the agent.
func jobText(a shape.Job) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Job %s (%s) is %s", a.JobID, a.Tool, a.Status)
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
		fmt.Fprintf(&b, ". It is waiting for the user: %s", strings.TrimSuffix(a.WaitsFor, "."))
	}
	return b.String() + ". " + a.Hint
}

// jobReply returns the reply that contains a job's ID and status.
func jobReply(v dispatch.JobView) reply {
	a := jobAnswer(v)
	return reply{callID: a.JobID, text: jobText(a), data: rawjson.Encode(a), job: jobMeta(v)}
}

// jobMeta returns the value of metaJob.
func jobMeta(v dispatch.JobView) json.RawMessage {
	return rawjson.Encode(struct {
		Job    string          `json:"job"`
		Status wire.CallStatus `json:"status"`
	}{v.CallID, v.Status})
}
