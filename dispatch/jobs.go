package dispatch

import (
	"context"
	"slices"
	"sync"
	"time"
)

// The limits of jobs whose options do not name others.
const (
	DefaultJobResults     = 100
	DefaultJobResultBytes = 64 << 20
	DefaultJobKeep        = time.Hour
)

// jobsPerResult is how many jobs that ended are known for each result that is
// kept: of the others only how they ended.
const jobsPerResult = 10

// JobOptions bound what is kept of jobs that ended. The zero value of each
// field means its default.
type JobOptions struct {
	// Results is how many results are kept, default 100. Beyond that the oldest
	// is dropped; its job then says so.
	Results int
	// ResultBytes is how large the kept results are together, default 64 MiB.
	// Beyond that the oldest are dropped, but never the last one.
	ResultBytes int
	// Keep is how long a job is known after its end, default 1 h.
	Keep time.Duration
}

// Jobs holds calls that may outlive the requests that made them. It is safe for
// concurrent use. Make one with NewJobs.
type Jobs struct {
	d    *Dispatcher
	opts JobOptions

	mu      sync.Mutex      // guards all below and the fields of jobs named so; taken before Job.mu
	byID    map[string]*Job // what was kept, by the id of its call
	ended   []*Job          // of these what has ended, in the order of their ends
	results int             // results of ended
	bytes   int             // their size
	sweep   *time.Timer     // runs while there is something in ended
}

// NewJobs returns jobs that d runs.
func NewJobs(d *Dispatcher, o JobOptions) *Jobs {
	setDefault(&o.Results, DefaultJobResults)
	setDefault(&o.ResultBytes, DefaultJobResultBytes)
	setDefault(&o.Keep, DefaultJobKeep)
	return &Jobs{d: d, opts: o, byID: map[string]*Job{}}
}

// Job is one call that may outlive its request. It is safe for concurrent use.
type Job struct {
	id   string
	jobs *Jobs
	done chan struct{} // closed when the call has ended

	// kept and gone are guarded by Jobs.mu: whether Keep was called, and whether
	// the result was dropped.
	kept, gone bool

	mu   sync.Mutex // guards all below
	call *liveCall  // nil once it has ended
	// last is what clients were last to be told, told how often there was
	// something new; changed is closed at the next.
	last    Progress
	told    int
	changed chan struct{}
	view    View // how the call ended
	result  Result
	err     error
}

// JobView is a job as lists show it.
type JobView struct {
	View
	// Gone is set if the call has ended but its result was dropped, because it
	// was one too many.
	Gone bool
}

// Start begins a call and returns at once. The call ends under its own limits
// or by Job.Cancel, whatever becomes of the caller. c.Progress is not used:
// see Job.Wait. Unless Keep is called, only the caller knows the job.
func (j *Jobs) Start(c Call) *Job {
	job := &Job{jobs: j, done: make(chan struct{}), changed: make(chan struct{})}
	c.Progress = job.progress
	call := newLiveCall(j.d, c)
	job.id, job.call = call.id, call
	go func() {
		// Not tied to a request: the limits of the call, a cancel and Shutdown end it.
		result, err := j.d.call(context.Background(), call)
		job.finish(call, result, err)
	}()
	return job
}

// Find returns the job with this id, if it was kept and runs or ended less than
// an hour (JobOptions.Keep) ago.
func (j *Jobs) Find(id string) (*Job, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job, ok := j.byID[id]
	return job, ok
}

// List returns the jobs that were kept, the one that began last first.
func (j *Jobs) List() []JobView {
	j.mu.Lock()
	views := make([]JobView, 0, len(j.byID))
	for _, job := range j.byID {
		views = append(views, JobView{job.viewNow(), job.gone})
	}
	j.mu.Unlock()
	slices.SortFunc(views, func(a, b JobView) int { return b.Created.Compare(a.Created) })
	return views
}

// ID is the id of the job's call.
func (job *Job) ID() string { return job.id }

// View returns how things stand.
func (job *Job) View() JobView {
	job.jobs.mu.Lock()
	defer job.jobs.mu.Unlock()
	return JobView{job.viewNow(), job.gone}
}

// Keep makes the job known to Find and List, and keeps its result. It may be
// called before or after the end, and more than once.
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

// Cancel ends the call as cancelled. It reports false if the call had ended.
func (job *Job) Cancel(why Cancellation) bool {
	job.mu.Lock()
	call := job.call
	job.mu.Unlock()
	return call != nil && call.cancel(why)
}

// Wait waits until the call has ended and hands tell its progress meanwhile,
// the last known first; nil means that nobody wants to know. It calls tell on
// its own goroutine, never after it returned, and if tell is slow leaves out
// what is not the latest. It returns ctx's error if ctx ends first. Any number
// of goroutines may wait.
func (job *Job) Wait(ctx context.Context, tell func(Progress)) error {
	told := 0
	for {
		select {
		case <-ctx.Done(): // a tell that takes long must not go on past it
			return ctx.Err()
		default:
		}
		job.mu.Lock()
		changed, last, now := job.changed, job.last, job.told
		job.mu.Unlock()
		if now > told && tell != nil {
			told = now
			tell(last)
			continue
		}
		select {
		case <-changed:
		case <-job.done:
			job.mu.Lock()
			news := job.told > told && tell != nil
			job.mu.Unlock()
			if !news {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Result returns how the call ended, as Dispatcher.Call does. It reports false
// while the call runs and once its result was dropped.
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

// progress takes what a client should be told.
func (job *Job) progress(p Progress) {
	job.mu.Lock()
	defer job.mu.Unlock()
	job.last = p
	job.told++
	close(job.changed)
	job.changed = make(chan struct{})
}

// finish takes the end of the call.
func (job *Job) finish(call *liveCall, r Result, err error) {
	j := job.jobs
	j.mu.Lock()
	defer j.mu.Unlock()
	job.mu.Lock()
	// What a call holds beside these (activities) is not held by its job.
	job.call, job.view, job.result, job.err = nil, call.view(), r, err
	job.mu.Unlock()
	close(job.done)
	if job.kept {
		j.add(job)
	}
}

// viewNow returns the call as it stands.
func (job *Job) viewNow() View {
	job.mu.Lock()
	call, view := job.call, job.view
	job.mu.Unlock()
	if call != nil {
		return call.view()
	}
	return view
}

// add takes in a kept job that has ended, and drops what is then too much. The
// caller holds mu.
func (j *Jobs) add(job *Job) {
	j.ended = append(j.ended, job)
	j.results++
	j.bytes += len(job.result.Output)
	for i := 0; j.results > j.opts.Results || j.bytes > j.opts.ResultBytes && j.results > 1; i++ {
		j.drop(j.ended[i])
	}
	if len(j.ended) > j.opts.Results*jobsPerResult {
		j.forget(1)
	}
	if j.sweep == nil {
		j.sweep = time.AfterFunc(j.opts.Keep, j.expire)
	}
}

// drop drops the result of a job, if it is still there. The caller holds mu.
func (j *Jobs) drop(job *Job) {
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

// forget forgets the n jobs that ended first. The caller holds mu.
func (j *Jobs) forget(n int) {
	for _, job := range j.ended[:n] {
		j.drop(job)
		delete(j.byID, job.id)
	}
	j.ended = slices.Delete(j.ended, 0, n)
}

// expire forgets the jobs whose time is over.
func (j *Jobs) expire() {
	j.mu.Lock()
	defer j.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(j.ended) && now.Sub(j.ended[n].endedAt()) >= j.opts.Keep {
		n++
	}
	j.forget(n)
	if len(j.ended) == 0 {
		j.sweep = nil
		return
	}
	j.sweep.Reset(j.opts.Keep - now.Sub(j.ended[0].endedAt()))
}

// endedAt is when the call ended.
func (job *Job) endedAt() time.Time {
	job.mu.Lock()
	defer job.mu.Unlock()
	if job.view.Ended == nil { // it was refused before it was taken in
		return job.view.Created
	}
	return *job.view.Ended
}
