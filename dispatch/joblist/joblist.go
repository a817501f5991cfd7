// Package joblist runs calls as jobs. A job is a call that may outlive the request that
// made the call.
//
// A [List] keeps the jobs that a client may still ask for, with the newest results. Each
// [Job] passes its progress to any number of waiting requests. A [Tracker] finds jobs in
// the hooks of the dispatcher.
//
// # Concurrency
//
// A [List] and a [Job] are safe for concurrent use. List.mu guards the kept jobs, Job.mu
// the state of one job. Job.mu may be locked while List.mu is locked, not the other way
// round. No method of the dispatcher runs under either lock. Tracker.mu is locked while a
// job starts, and no other lock is taken while it is held.
package joblist

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
)

// These constants are the default limits of kept results.
const (
	maxResults     = 100
	maxResultBytes = 64 << 20
)

// endedLifetime is how long an ended job is kept.
const endedLifetime = time.Hour

// jobsPerResult is the number of ended jobs for each kept result. Jobs without a
// result keep their view only.
const jobsPerResult = 10

// Options bound the memory of ended jobs. The zero value of each field means its
// default.
type Options struct {
	// Results is the maximum of kept results, default 100. Above Results the oldest result
	// is dropped, and its job gets ResultDropped.
	Results int
	// ResultBytes is the maximum of all kept results together, default 64 MB. Above
	// ResultBytes the oldest results are dropped, but never the newest.
	ResultBytes int
}

// List runs calls as jobs and keeps the jobs that clients may ask for. New makes a List.
type List struct {
	dispatcher *dispatch.Dispatcher
	opts       Options

	mu          sync.Mutex      // guards all fields below, Job.isKept and Job.isResultDropped; taken before Job.mu
	keptJobs    map[string]*Job // all kept jobs, by the ID of the call
	endedJobs   []*Job          // kept jobs that have ended, in the order of their ends
	resultCount int             // the number of results in endedJobs
	resultBytes int             // the total size of the results in endedJobs
	expiryTimer *time.Timer     // runs while endedJobs is not empty
}

// New returns a List whose calls d runs.
func New(d *dispatch.Dispatcher, o Options) *List {
	o.Results = cmp.Or(o.Results, maxResults)
	o.ResultBytes = cmp.Or(o.ResultBytes, maxResultBytes)
	return &List{dispatcher: d, opts: o, keptJobs: map[string]*Job{}}
}

// Job is one call that may outlive its request.
type Job struct {
	id   string
	list *List
	done chan struct{} // closed at the end of the call

	// Keep sets isKept. isResultDropped is set when the result is dropped. List.mu guards
	// isKept and isResultDropped.
	isKept, isResultDropped bool

	mu   sync.Mutex             // guards all fields below
	call *dispatch.PreparedCall // nil after the call has ended
	// lastProgress is the last notification, and progressCount the number of
	// notifications. progressChanged is closed at the next notification.
	lastProgress    dispatch.Progress
	progressCount   int
	progressChanged chan struct{}
	endedView       dispatch.View // set when the call has ended
	result          dispatch.Result
	err             error
}

// View is a job as surfaces show it.
type View struct {
	dispatch.View
	// ResultDropped is set if the result of an ended call was dropped because of a limit.
	ResultDropped bool
}

// Start starts a call and returns at once. Only limits, Job.Cancel and Dispatcher.Shutdown stop
// the call, not the end of its request. c.Progress is not used: see Job.Wait. Find and
// List return the job only after Keep.
func (l *List) Start(c dispatch.Call) *Job {
	job := &Job{list: l, done: make(chan struct{}), progressChanged: make(chan struct{})}
	c.Progress = job.recordProgress
	call := l.dispatcher.Prepare(c)
	job.id, job.call = call.ID(), call
	go func() {
		// context.Background lets the call outlive its request.
		result, err := call.Run(context.Background())
		job.finish(call.View(), result, err)
	}()
	return job
}

// Find returns the kept job with this ID, if it runs or ended less than an hour ago.
func (l *List) Find(id string) (*Job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	job, ok := l.keptJobs[id]
	return job, ok
}

// List returns the kept jobs, the newest first.
func (l *List) List() []View {
	l.mu.Lock()
	jobs := slices.Collect(maps.Values(l.keptJobs))
	l.mu.Unlock()
	views := make([]View, 0, len(jobs))
	for _, job := range jobs {
		views = append(views, job.View())
	}
	slices.SortFunc(views, func(a, b View) int { return b.Created.Compare(a.Created) })
	return views
}

// ID returns the ID of the call.
func (job *Job) ID() string { return job.id }

// View returns the current state of the job.
func (job *Job) View() View {
	view := job.callView()
	job.list.mu.Lock()
	defer job.list.mu.Unlock()
	return View{view, job.isResultDropped}
}

// Keep adds the job to Find and List, and keeps its result. Keep may be called before
// or after the end, and more than once.
func (job *Job) Keep() {
	l := job.list
	l.mu.Lock()
	defer l.mu.Unlock()
	if job.isKept {
		return
	}
	job.isKept = true
	l.keptJobs[job.id] = job
	select {
	case <-job.done:
		l.addEnded(job)
	default:
	}
}

// Cancel ends the call as cancelled and reports false if the call had ended.
func (job *Job) Cancel(cancellation dispatch.Cancellation) bool {
	job.mu.Lock()
	call := job.call
	job.mu.Unlock()
	return call != nil && call.Cancel(cancellation)
}

// Wait waits for the end of the call and passes its progress to notify, starting with
// the last known; notify may be nil. notify runs on the goroutine of Wait. A slow
// notify gets only the latest progress. Wait returns ctx's error if ctx ends first. Any
// number of goroutines may call Wait.
func (job *Job) Wait(ctx context.Context, notify func(dispatch.Progress)) error {
	notifiedCount := 0
	for {
		select {
		case <-ctx.Done(): // notify must not run again after Wait has returned
			return ctx.Err()
		default:
		}
		job.mu.Lock()
		progressChanged, lastProgress, progressCount := job.progressChanged, job.lastProgress, job.progressCount
		job.mu.Unlock()
		if progressCount > notifiedCount && notify != nil {
			notifiedCount = progressCount
			notify(lastProgress)
			continue
		}
		select {
		case <-progressChanged:
		case <-job.done:
			job.mu.Lock()
			hasNewProgress := job.progressCount > notifiedCount && notify != nil
			job.mu.Unlock()
			if !hasNewProgress {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Result returns what Dispatcher.Call returned. Result returns false while the call
// runs and after its result was dropped.
func (job *Job) Result() (r dispatch.Result, err error, ok bool) {
	select {
	case <-job.done:
	default:
		return dispatch.Result{}, nil, false
	}
	job.list.mu.Lock()
	defer job.list.mu.Unlock()
	if job.isResultDropped {
		return dispatch.Result{}, nil, false
	}
	job.mu.Lock()
	defer job.mu.Unlock()
	return job.result, job.err, true
}

// recordProgress records a notification for the clients that wait.
func (job *Job) recordProgress(p dispatch.Progress) {
	job.mu.Lock()
	defer job.mu.Unlock()
	job.lastProgress = p
	job.progressCount++
	close(job.progressChanged)
	job.progressChanged = make(chan struct{})
}

// finish records the end of the call.
func (job *Job) finish(view dispatch.View, r dispatch.Result, err error) {
	l := job.list
	l.mu.Lock()
	defer l.mu.Unlock()
	job.mu.Lock()
	// A reference to the call would keep its activities in memory.
	job.call, job.endedView, job.result, job.err = nil, view, r, err
	job.mu.Unlock()
	close(job.done)
	if job.isKept {
		l.addEnded(job)
	}
}

// callView returns the current state of the call.
func (job *Job) callView() dispatch.View {
	job.mu.Lock()
	call, view := job.call, job.endedView
	job.mu.Unlock()
	if call != nil {
		return call.View()
	}
	return view
}

// addEnded records a kept job that has ended, and applies the limits. The caller has locked
// mu.
func (l *List) addEnded(job *Job) {
	l.endedJobs = append(l.endedJobs, job)
	l.resultCount++
	l.resultBytes += len(job.result.Output)
	for i := 0; l.resultCount > l.opts.Results || l.resultBytes > l.opts.ResultBytes && l.resultCount > 1; i++ {
		l.dropResult(l.endedJobs[i])
	}
	if len(l.endedJobs) > l.opts.Results*jobsPerResult {
		l.removeOldest(1)
	}
	if l.expiryTimer == nil {
		l.expiryTimer = time.AfterFunc(endedLifetime, l.removeExpired)
	}
}

// dropResult drops the result of a job, if it has one. The caller has locked mu.
func (l *List) dropResult(job *Job) {
	if job.isResultDropped {
		return
	}
	job.isResultDropped = true
	l.resultCount--
	job.mu.Lock()
	defer job.mu.Unlock()
	l.resultBytes -= len(job.result.Output)
	job.result, job.err = dispatch.Result{}, nil
}

// removeOldest removes the n jobs that ended first. The caller has locked mu.
func (l *List) removeOldest(n int) {
	for _, job := range l.endedJobs[:n] {
		l.dropResult(job)
		delete(l.keptJobs, job.id)
	}
	l.endedJobs = slices.Delete(l.endedJobs, 0, n)
}

// removeExpired removes the jobs that ended more than endedLifetime ago.
func (l *List) removeExpired() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(l.endedJobs) && now.Sub(l.endedJobs[n].endedAt()) >= endedLifetime {
		n++
	}
	l.removeOldest(n)
	if len(l.endedJobs) == 0 {
		l.expiryTimer = nil
		return
	}
	l.expiryTimer.Reset(endedLifetime - now.Sub(l.endedJobs[0].endedAt()))
}

// endedAt returns when the call ended.
func (job *Job) endedAt() time.Time {
	job.mu.Lock()
	defer job.mu.Unlock()
	if job.endedView.Ended == nil { // the dispatcher rejected the call
		return job.endedView.Created
	}
	return *job.endedView.Ended
}
