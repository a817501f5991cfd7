package dispatch

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// These constants are the default limits of kept results.
const (
	maxJobResults     = 100
	maxJobResultBytes = 64 << 20
)

// endedJobLifetime is how long an ended job is kept.
const endedJobLifetime = time.Hour

// jobsPerResult is the number of ended jobs for each kept result. Jobs without a
// result keep their view only.
const jobsPerResult = 10

// JobOptions bound the memory of ended jobs. The zero value of each field means its
// default.
type JobOptions struct {
	// Results is the maximum of kept results, default 100. Above Results the oldest result
	// is dropped, and its job gets ResultDropped.
	Results int
	// ResultBytes is the maximum of all kept results together, default 64 MB. Above
	// ResultBytes the oldest results are dropped, but never the newest.
	ResultBytes int
}

// Jobs runs calls that may outlive their requests. Jobs is safe for concurrent use.
// NewJobs makes a Jobs.
type Jobs struct {
	d    *Dispatcher
	opts JobOptions

	mu          sync.Mutex      // guards all fields below, Job.isKept and Job.isResultDropped; taken before Job.mu
	keptJobs    map[string]*Job // all kept jobs, by the ID of the call
	endedJobs   []*Job          // kept jobs that have ended, in the order of their ends
	resultCount int             // the number of results in endedJobs
	resultBytes int             // the total size of the results in endedJobs
	expiryTimer *time.Timer     // runs while endedJobs is not empty
}

// NewJobs returns a Jobs whose calls d runs.
func NewJobs(d *Dispatcher, o JobOptions) *Jobs {
	setDefault(&o.Results, maxJobResults)
	setDefault(&o.ResultBytes, maxJobResultBytes)
	return &Jobs{d: d, opts: o, keptJobs: map[string]*Job{}}
}

// Job is one call that may outlive its request. Job is safe for concurrent use.
type Job struct {
	id   string
	jobs *Jobs
	done chan struct{} // closed at the end of the call

	// Keep sets isKept. isResultDropped is set when the result is dropped. Jobs.mu guards
	// isKept and isResultDropped.
	isKept, isResultDropped bool

	mu   sync.Mutex // guards all fields below
	call *liveCall  // nil after the call has ended
	// lastProgress is the last notification, and progressCount the number of
	// notifications. progressChanged is closed at the next notification.
	lastProgress    Progress
	progressCount   int
	progressChanged chan struct{}
	endedView       View // set when the call has ended
	result          Result
	err             error
}

// JobView is a job as lists show it.
type JobView struct {
	View
	// ResultDropped is set if the result of an ended call was dropped because of a limit.
	ResultDropped bool
}

// Start starts a call and returns at once. Only limits, Job.Cancel and Shutdown stop
// the call, not the end of its request. c.Progress is not used: see Job.Wait. Find and
// List return the job only after Keep.
func (j *Jobs) Start(c Call) *Job {
	job := &Job{jobs: j, done: make(chan struct{}), progressChanged: make(chan struct{})}
	c.Progress = job.recordProgress
	call := newLiveCall(j.d, c)
	job.id, job.call = call.id, call
	go func() {
		// context.Background lets the call outlive its request.
		result, err := j.d.call(context.Background(), call)
		job.finish(call, result, err)
	}()
	return job
}

// Find returns the kept job with this ID, if it runs or ended less than an hour ago.
func (j *Jobs) Find(id string) (*Job, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job, ok := j.keptJobs[id]
	return job, ok
}

// List returns the kept jobs, the newest first.
func (j *Jobs) List() []JobView {
	j.mu.Lock()
	jobs := slices.Collect(maps.Values(j.keptJobs))
	j.mu.Unlock()
	views := make([]JobView, 0, len(jobs))
	for _, job := range jobs {
		views = append(views, job.View())
	}
	slices.SortFunc(views, func(a, b JobView) int { return b.Created.Compare(a.Created) })
	return views
}

// ID returns the ID of the call.
func (job *Job) ID() string { return job.id }

// View returns the current state of the job.
func (job *Job) View() JobView {
	view := job.callView()
	job.jobs.mu.Lock()
	defer job.jobs.mu.Unlock()
	return JobView{view, job.isResultDropped}
}

// Keep adds the job to Find and List, and keeps its result. Keep may be called before
// or after the end, and more than once.
func (job *Job) Keep() {
	j := job.jobs
	j.mu.Lock()
	defer j.mu.Unlock()
	if job.isKept {
		return
	}
	job.isKept = true
	j.keptJobs[job.id] = job
	select {
	case <-job.done:
		j.addEnded(job)
	default:
	}
}

// Cancel ends the call as cancelled and reports false if the call had ended.
func (job *Job) Cancel(cancellation Cancellation) bool {
	job.mu.Lock()
	call := job.call
	job.mu.Unlock()
	return call != nil && call.cancel(cancellation)
}

// Wait waits for the end of the call and passes its progress to notify, starting with
// the last known; notify may be nil. notify runs on the goroutine of Wait. A slow
// notify gets only the latest progress. Wait returns ctx's error if ctx ends first. Any
// number of goroutines may call Wait.
func (job *Job) Wait(ctx context.Context, notify func(Progress)) error {
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
func (job *Job) Result() (r Result, err error, ok bool) {
	select {
	case <-job.done:
	default:
		return Result{}, nil, false
	}
	job.jobs.mu.Lock()
	defer job.jobs.mu.Unlock()
	if job.isResultDropped {
		return Result{}, nil, false
	}
	job.mu.Lock()
	defer job.mu.Unlock()
	return job.result, job.err, true
}

// recordProgress records a notification for the clients that wait.
func (job *Job) recordProgress(p Progress) {
	job.mu.Lock()
	defer job.mu.Unlock()
	job.lastProgress = p
	job.progressCount++
	close(job.progressChanged)
	job.progressChanged = make(chan struct{})
}

// finish records the end of the call.
func (job *Job) finish(call *liveCall, r Result, err error) {
	j, view := job.jobs, call.listView()
	j.mu.Lock()
	defer j.mu.Unlock()
	job.mu.Lock()
	// A reference to the call would keep its activities in memory.
	job.call, job.endedView, job.result, job.err = nil, view, r, err
	job.mu.Unlock()
	close(job.done)
	if job.isKept {
		j.addEnded(job)
	}
}

// callView returns the current state of the call.
func (job *Job) callView() View {
	job.mu.Lock()
	call, view := job.call, job.endedView
	job.mu.Unlock()
	if call != nil {
		return call.listView()
	}
	return view
}

// addEnded records a kept job that has ended, and applies the limits. The caller has locked
// mu.
func (j *Jobs) addEnded(job *Job) {
	j.endedJobs = append(j.endedJobs, job)
	j.resultCount++
	j.resultBytes += len(job.result.Output)
	for i := 0; j.resultCount > j.opts.Results || j.resultBytes > j.opts.ResultBytes && j.resultCount > 1; i++ {
		j.dropResult(j.endedJobs[i])
	}
	if len(j.endedJobs) > j.opts.Results*jobsPerResult {
		j.removeOldest(1)
	}
	if j.expiryTimer == nil {
		j.expiryTimer = time.AfterFunc(endedJobLifetime, j.removeExpired)
	}
}

// dropResult drops the result of a job, if it has one. The caller has locked mu.
func (j *Jobs) dropResult(job *Job) {
	if job.isResultDropped {
		return
	}
	job.isResultDropped = true
	j.resultCount--
	job.mu.Lock()
	defer job.mu.Unlock()
	j.resultBytes -= len(job.result.Output)
	job.result, job.err = Result{}, nil
}

// removeOldest removes the n jobs that ended first. The caller has locked mu.
func (j *Jobs) removeOldest(n int) {
	for _, job := range j.endedJobs[:n] {
		j.dropResult(job)
		delete(j.keptJobs, job.id)
	}
	j.endedJobs = slices.Delete(j.endedJobs, 0, n)
}

// removeExpired removes the jobs that ended more than endedJobLifetime ago.
func (j *Jobs) removeExpired() {
	j.mu.Lock()
	defer j.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(j.endedJobs) && now.Sub(j.endedJobs[n].endedAt()) >= endedJobLifetime {
		n++
	}
	j.removeOldest(n)
	if len(j.endedJobs) == 0 {
		j.expiryTimer = nil
		return
	}
	j.expiryTimer.Reset(endedJobLifetime - now.Sub(j.endedJobs[0].endedAt()))
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
