package dispatch

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// The default limits of kept results.
const (
	maxJobResults     = 100
	maxJobResultBytes = 64 << 20
)

// jobKeep is how long an ended job is kept.
const jobKeep = time.Hour

// jobsPerResult is the number of ended jobs for each kept result. Jobs without a
// result keep their view only.
const jobsPerResult = 10

// JobOptions bound the memory of ended jobs. The zero value of each field means its
// default.
type JobOptions struct {
	// Results is the maximum of kept results, default 100. Beyond that the oldest is
	// dropped, and its job is Gone.
	Results int
	// ResultBytes is the maximum of all kept results together, default 64 MB. Above
	// this limit the oldest results are dropped, but never the newest.
	ResultBytes int
}

// Jobs runs calls that may outlive their requests. Jobs is safe for concurrent use.
// NewJobs makes a Jobs.
type Jobs struct {
	d    *Dispatcher
	opts JobOptions

	mu      sync.Mutex      // guards all fields below, Job.kept and Job.gone; taken before Job.mu
	byID    map[string]*Job // kept jobs, by the ID of the call
	ended   []*Job          // kept jobs that have ended, in that order
	results int             // the number of results in ended
	bytes   int             // the total size of the results in ended
	sweep   *time.Timer     // the timer runs while ended is not empty
}

// NewJobs returns jobs that run through d.
func NewJobs(d *Dispatcher, o JobOptions) *Jobs {
	setDefault(&o.Results, maxJobResults)
	setDefault(&o.ResultBytes, maxJobResultBytes)
	return &Jobs{d: d, opts: o, byID: map[string]*Job{}}
}

// Job is one call that may outlive its request. Job is safe for concurrent use.
type Job struct {
	id   string
	jobs *Jobs
	done chan struct{} // closed at the end of the call

	// kept is set by Keep, gone when the result is dropped. Guarded by Jobs.mu.
	kept, gone bool

	mu   sync.Mutex // guards all fields below
	call *liveCall  // nil after the end
	// last is the last notification, notified their number. changed is closed at the
	// next one.
	last     Progress
	notified int
	changed  chan struct{}
	view     View // after the end
	result   Result
	err      error
}

// JobView is a job as lists show it.
type JobView struct {
	View
	// Gone is set if the result of an ended call was dropped because of a limit.
	Gone bool
}

// Start starts a call and returns at once. The call ends by its limits, by Job.Cancel
// or by Shutdown, not with the request. c.Progress is not used: see Job.Wait. Without
// Keep, only the caller can access the job.
func (j *Jobs) Start(c Call) *Job {
	job := &Job{jobs: j, done: make(chan struct{}), changed: make(chan struct{})}
	c.Progress = job.recordProgress
	call := newLiveCall(j.d, c)
	job.id, job.call = call.id, call
	go func() {
		// Background: the call must outlive its request.
		result, err := j.d.call(context.Background(), call)
		job.finish(call, result, err)
	}()
	return job
}

// Find returns the kept job with this ID, if it runs or ended less than an hour ago.
func (j *Jobs) Find(id string) (*Job, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job, ok := j.byID[id]
	return job, ok
}

// List returns the kept jobs, the newest first.
func (j *Jobs) List() []JobView {
	j.mu.Lock()
	jobs := slices.Collect(maps.Values(j.byID))
	j.mu.Unlock()
	views := make([]JobView, 0, len(jobs))
	for _, job := range jobs {
		views = append(views, job.View())
	}
	slices.SortFunc(views, func(a, b JobView) int { return b.Created.Compare(a.Created) })
	return views
}

// ID returns the ID of the job's call.
func (job *Job) ID() string { return job.id }

// View returns the current state of the job.
func (job *Job) View() JobView {
	view := job.callView()
	job.jobs.mu.Lock()
	defer job.jobs.mu.Unlock()
	return JobView{view, job.gone}
}

// Keep adds the job to Find and List, and keeps its result. Keep may be called before
// or after the end, and more than once.
func (job *Job) Keep() {
	j := job.jobs
	j.mu.Lock()
	defer j.mu.Unlock()
	if job.kept {
		return
	}
	job.kept = true
	j.byID[job.id] = job
	select {
	case <-job.done:
		j.add(job)
	default:
	}
}

// Cancel ends the call as cancelled. Cancel reports false if the call had ended.
func (job *Job) Cancel(why Cancellation) bool {
	job.mu.Lock()
	call := job.call
	job.mu.Unlock()
	return call != nil && call.cancel(why)
}

// Wait waits for the end of the call and passes its progress to notify, starting with
// the last known; notify may be nil. notify runs on the goroutine of Wait, and if it is
// slow, only the latest progress follows. Wait returns ctx's error if ctx ends first.
// Any number of goroutines may wait.
func (job *Job) Wait(ctx context.Context, notify func(Progress)) error {
	seen := 0
	for {
		select {
		case <-ctx.Done(): // notify must not run again after Wait has returned
			return ctx.Err()
		default:
		}
		job.mu.Lock()
		changed, last, now := job.changed, job.last, job.notified
		job.mu.Unlock()
		if now > seen && notify != nil {
			seen = now
			notify(last)
			continue
		}
		select {
		case <-changed:
		case <-job.done:
			job.mu.Lock()
			hasNew := job.notified > seen && notify != nil
			job.mu.Unlock()
			if !hasNew {
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
	if job.gone {
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
	job.last = p
	job.notified++
	close(job.changed)
	job.changed = make(chan struct{})
}

// finish records the end of the call.
func (job *Job) finish(call *liveCall, r Result, err error) {
	j, view := job.jobs, call.listView()
	j.mu.Lock()
	defer j.mu.Unlock()
	job.mu.Lock()
	// The job releases the call with its activities.
	job.call, job.view, job.result, job.err = nil, view, r, err
	job.mu.Unlock()
	close(job.done)
	if job.kept {
		j.add(job)
	}
}

// callView returns the current state of the call.
func (job *Job) callView() View {
	job.mu.Lock()
	call, view := job.call, job.view
	job.mu.Unlock()
	if call != nil {
		return call.listView()
	}
	return view
}

// add records a kept job that has ended, and applies the limits. The caller has locked
// mu.
func (j *Jobs) add(job *Job) {
	j.ended = append(j.ended, job)
	j.results++
	j.bytes += len(job.result.Output)
	for i := 0; j.results > j.opts.Results || j.bytes > j.opts.ResultBytes && j.results > 1; i++ {
		j.dropResult(j.ended[i])
	}
	if len(j.ended) > j.opts.Results*jobsPerResult {
		j.removeOldest(1)
	}
	if j.sweep == nil {
		j.sweep = time.AfterFunc(jobKeep, j.expire)
	}
}

// dropResult drops the result of a job, if it has one. The caller has locked mu.
func (j *Jobs) dropResult(job *Job) {
	if job.gone {
		return
	}
	job.gone = true
	j.results--
	job.mu.Lock()
	defer job.mu.Unlock()
	j.bytes -= len(job.result.Output)
	job.result, job.err = Result{}, nil
}

// removeOldest removes the n jobs that ended first. The caller has locked mu.
func (j *Jobs) removeOldest(n int) {
	for _, job := range j.ended[:n] {
		j.dropResult(job)
		delete(j.byID, job.id)
	}
	j.ended = slices.Delete(j.ended, 0, n)
}

// expire removes the jobs that ended more than jobKeep ago.
func (j *Jobs) expire() {
	j.mu.Lock()
	defer j.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(j.ended) && now.Sub(j.ended[n].endedAt()) >= jobKeep {
		n++
	}
	j.removeOldest(n)
	if len(j.ended) == 0 {
		j.sweep = nil
		return
	}
	j.sweep.Reset(jobKeep - now.Sub(j.ended[0].endedAt()))
}

// endedAt returns when the call ended.
func (job *Job) endedAt() time.Time {
	job.mu.Lock()
	defer job.mu.Unlock()
	if job.view.Ended == nil { // the dispatcher rejected the call
		return job.view.Created
	}
	return *job.view.Ended
}
