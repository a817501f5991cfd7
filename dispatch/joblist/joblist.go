// Package joblist runs calls as jobs. A job is a call that can continue after its client's
// request was answered.
//
// A [List] keeps the jobs that clients can still ask for, and the newest results. Each [Job] passes
// its progress to any number of waiting requests. With a [Tracker], a hook of the dispatcher finds
// the job of a call.
//
// # Concurrency
//
// The types [List] and [Job] are safe for concurrent use. List.mu guards the kept jobs, and
// Job.mu guards the state of one job. Job.mu may be locked while List.mu is held, but
// List.mu must not be locked while Job.mu is held. No method of the dispatcher is called
// while List.mu or Job.mu is held. Tracker.mu is held while a job starts, and no other lock
// is acquired while Tracker.mu is held.
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

const (
	maxResults     = 100
	maxResultBytes = 64 << 20
)

// endedJobLifetime is how long a List keeps a job after its end.
const endedJobLifetime = time.Hour

// jobsPerResult is how many ended jobs a List keeps for each result that it keeps. A job
// whose result was dropped keeps only its View.
const jobsPerResult = 10

// Options limit the memory of ended jobs. If a field is zero, its default applies.
type Options struct {
	// Results is the maximum number of kept results; the default is 100. If more results are
	// kept, the oldest result is dropped, and its job's View has ResultDropped set.
	Results int
	// ResultBytes is the maximum total size of all kept results; the default is 64 MB. If the total
	// exceeds ResultBytes, the oldest results are dropped, but the newest is always kept.
	ResultBytes int
}

// List runs calls as jobs and keeps the jobs that clients can still ask for. Use New to
// create a List.
type List struct {
	dispatcher *dispatch.Dispatcher
	opts       Options

	mu          sync.Mutex // mu guards all fields below, Job.isKept and Job.isResultDropped; mu is locked before Job.mu
	keptJobs    map[string]*Job
	endedJobs   []*Job
	resultCount int
	resultBytes int
	expiryTimer *time.Timer
}

// New returns an empty List that runs its calls with the dispatcher d.
func New(d *dispatch.Dispatcher, o Options) *List {
	o.Results = cmp.Or(o.Results, maxResults)
	o.ResultBytes = cmp.Or(o.ResultBytes, maxResultBytes)
	return &List{dispatcher: d, opts: o, keptJobs: map[string]*Job{}}
}

// Job is one call that can continue after its client's request was answered.
type Job struct {
	id      string
	jobList *List
	done    chan struct{}

	// List.mu guards isKept and isResultDropped.
	isKept, isResultDropped bool

	mu              sync.Mutex // the mutex guards all fields below
	call            *dispatch.PreparedCall
	recentProgress  []numberedProgress // the field recentProgress contains at most maxRecentProgress notifications
	progressCount   int
	progressChanged chan struct{}
	endedView       dispatch.View
	result          dispatch.Result
	err             error
}

// maxRecentProgress limits how many notifications a slow client can lag behind without a loss.
const maxRecentProgress = 16

// numberedProgress is the notification with the given number; the first notification of a job has the number 1.
type numberedProgress struct {
	number int
	dispatch.Progress
}

// View is a job as surfaces show it: its call, and whether the result was dropped.
type View struct {
	dispatch.View
	// ResultDropped is true if the result of an ended call was dropped because of a memory
	// limit.
	ResultDropped bool
}

// Start starts a call as a job and returns at once. The call continues after the client's request
// ends; only time limits, Job.Cancel and Dispatcher.Shutdown stop a job. c.Progress is ignored; use
// Job.Wait to receive progress. List.Find and List.List return the job only after Job.KeepResult was
// called.
func (l *List) Start(c dispatch.Call) *Job {
	job := &Job{jobList: l, done: make(chan struct{}), progressChanged: make(chan struct{})}
	c.Progress = job.recordProgress
	call := l.dispatcher.Prepare(c)
	job.id, job.call = call.ID(), call
	go func() {
		// context.Background lets the call continue when the client's request ends.
		callResult, err := call.Run(context.Background())
		job.finish(call.View(), callResult, err)
	}()
	return job
}

// Find returns a kept job by its ID, if the job runs or ended less than an hour ago.
func (l *List) Find(id string) (*Job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	job, ok := l.keptJobs[id]
	return job, ok
}

// List returns the Views of all kept jobs, newest first.
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

// ID returns the ID of the job, which is the ID of its call.
func (job *Job) ID() string { return job.id }

// View returns the current state of the job, as surfaces show it.
func (job *Job) View() View {
	callView := job.callView()
	job.jobList.mu.Lock()
	defer job.jobList.mu.Unlock()
	return View{callView, job.isResultDropped}
}

// KeepResult makes the job available through List.Find and List.List, and keeps its result. KeepResult
// may be called before or after the job ends, and more than once.
func (job *Job) KeepResult() {
	l := job.jobList
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

// Cancel cancels the call of the job, or returns false if the call had already ended.
func (job *Job) Cancel(cancellation dispatch.Cancellation) bool {
	job.mu.Lock()
	call := job.call
	job.mu.Unlock()
	return call != nil && call.Cancel(cancellation)
}

// Wait waits for the end of the call and passes each progress notification to the function
// notify, starting with the latest one so far. The function notify may be nil, and runs on
// the goroutine of Wait. If notify lags behind by more than 16 notifications, the oldest ones
// are lost, those for the user last. If ctx ends before the job's call, Wait returns the
// error of ctx. Any number of goroutines may call Wait.
func (job *Job) Wait(ctx context.Context, notify func(dispatch.Progress)) error {
	job.mu.Lock()
	lastNumber := max(0, job.progressCount-1)
	job.mu.Unlock()
	for {
		if ctx.Err() != nil { // notify must not run after Wait has returned
			return ctx.Err()
		}
		p, isNew, progressChanged := job.progressAfter(lastNumber)
		if isNew && notify != nil {
			lastNumber = p.number
			notify(p.Progress)
			continue
		}
		select {
		case <-progressChanged:
		case <-job.done:
			if _, isNew, _ := job.progressAfter(lastNumber); !isNew || notify == nil {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// progressAfter returns the oldest recent notification with a number above lastNumber. The channel progressChanged is
// closed at the next notification.
func (job *Job) progressAfter(lastNumber int) (p numberedProgress, ok bool, progressChanged <-chan struct{}) {
	job.mu.Lock()
	defer job.mu.Unlock()
	i := slices.IndexFunc(job.recentProgress, func(p numberedProgress) bool { return p.number > lastNumber })
	if i < 0 {
		return numberedProgress{}, false, job.progressChanged
	}
	return job.recentProgress[i], true, job.progressChanged
}

// Result returns the result or the error of the job's call. While the call runs, and after
// its result was dropped, Result returns false.
func (job *Job) Result() (r dispatch.Result, err error, ok bool) {
	select {
	case <-job.done:
	default:
		return dispatch.Result{}, nil, false
	}
	job.jobList.mu.Lock()
	defer job.jobList.mu.Unlock()
	if job.isResultDropped {
		return dispatch.Result{}, nil, false
	}
	job.mu.Lock()
	defer job.mu.Unlock()
	return job.result, job.err, true
}

func (job *Job) recordProgress(p dispatch.Progress) {
	job.mu.Lock()
	defer job.mu.Unlock()
	job.progressCount++
	job.recentProgress = append(job.recentProgress, numberedProgress{job.progressCount, p})
	if len(job.recentProgress) > maxRecentProgress {
		isInternal := func(p numberedProgress) bool { return p.Audience != dispatch.AudienceUser }
		i := max(0, slices.IndexFunc(job.recentProgress[:maxRecentProgress], isInternal))
		job.recentProgress = slices.Delete(job.recentProgress, i, i+1)
	}
	close(job.progressChanged)
	job.progressChanged = make(chan struct{})
}

func (job *Job) finish(callView dispatch.View, r dispatch.Result, err error) {
	l := job.jobList
	l.mu.Lock()
	defer l.mu.Unlock()
	job.mu.Lock()
	// Clear job.call, because a reference to the call would keep its activities in memory.
	job.call, job.endedView, job.result, job.err = nil, callView, r, err
	job.mu.Unlock()
	close(job.done)
	if job.isKept {
		l.addEnded(job)
	}
}

func (job *Job) callView() dispatch.View {
	job.mu.Lock()
	call, callView := job.call, job.endedView
	job.mu.Unlock()
	if call != nil {
		return call.View()
	}
	return callView
}

// The caller of addEnded holds List.mu.
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
		l.expiryTimer = time.AfterFunc(endedJobLifetime, l.removeExpired)
	}
}

// The caller of dropResult holds List.mu.
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

// The caller of removeOldest holds List.mu.
func (l *List) removeOldest(n int) {
	for _, job := range l.endedJobs[:n] {
		l.dropResult(job)
		delete(l.keptJobs, job.id)
	}
	l.endedJobs = slices.Delete(l.endedJobs, 0, n)
}

func (l *List) removeExpired() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(l.endedJobs) && now.Sub(l.endedJobs[n].endedAt()) >= endedJobLifetime {
		n++
	}
	l.removeOldest(n)
	if len(l.endedJobs) == 0 {
		l.expiryTimer = nil
		return
	}
	l.expiryTimer.Reset(endedJobLifetime - now.Sub(l.endedJobs[0].endedAt()))
}

func (job *Job) endedAt() time.Time {
	job.mu.Lock()
	defer job.mu.Unlock()
	if job.endedView.Ended == nil { // a call that the dispatcher rejected at once has no end time
		return job.endedView.Created
	}
	return *job.endedView.Ended
}
