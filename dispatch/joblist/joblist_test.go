package joblist_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/dispatch/joblist"
	"opentabs/wire"
)

var exportTool = dispatch.Tool{Plugin: "messages", Name: "export"}

type fakePage struct {
	handler func(toolRun dispatch.Run, sink dispatch.Sink)
	wg      sync.WaitGroup

	mu          sync.Mutex
	stopReasons []string
}

func (p *fakePage) bridge() *dispatchtest.Bridge {
	return &dispatchtest.Bridge{
		StartFunc: func(_ context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
			if p.handler != nil {
				p.wg.Go(func() { p.handler(toolRun, sink) })
			}
			return nil
		},
		CancelFunc: func(_, cancelReason string, onOutcome func(wire.CancelOutcome)) {
			p.mu.Lock()
			p.stopReasons = append(p.stopReasons, cancelReason)
			p.mu.Unlock()
			onOutcome(wire.CancelAborted)
		},
	}
}

func (p *fakePage) receivedStopReasons() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.stopReasons)
}

func codeOf(err error) wire.ErrorCode {
	var callErr *dispatch.Error
	if !errors.As(err, &callErr) {
		return ""
	}
	return callErr.Code
}

func newProgressPage(n int, output string) *fakePage {
	return &fakePage{handler: func(_ dispatch.Run, sink dispatch.Sink) {
		for i := range n {
			time.Sleep(time.Second)
			progress, totalProgress := float64(i+1), float64(n)
			sink.Reports([]wire.Report{{Progress: &progress, Total: &totalProgress}}, 0)
		}
		sink.Finish(json.RawMessage(output), nil)
	}}
}

func TestJobOutlivesItsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgressPage(90, `"done"`)
		jobs := joblist.New(dispatch.New(p.bridge(), dispatch.Options{}), joblist.Options{})
		job := jobs.Start(dispatch.Call{Tool: exportTool, Client: dispatch.Client{Name: "a"}})
		ctx, cancelWait := context.WithTimeout(t.Context(), 20*time.Second+time.Second/2)
		defer cancelWait()
		var seenProgress []float64
		record := func(p dispatch.Progress) { seenProgress = append(seenProgress, p.Progress) }
		if err := job.Wait(ctx, record); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if len(seenProgress) < 19 || !slices.IsSorted(seenProgress) {
			t.Errorf("progress that the first client received = %v, want at least 19 increasing values", seenProgress)
		}
		if _, ok := jobs.Find(job.ID()); ok {
			t.Error("Find found a job that was not kept, want none")
		}
		if _, _, ok := job.Result(); ok {
			t.Error("the job has a result while its call runs, want none")
		}
		job.KeepResult()
		foundJob, ok := jobs.Find(job.ID())
		if !ok || foundJob.View().Status != wire.StatusRunning {
			t.Fatalf("Find returned %v and the job %+v, want true and a running job", ok, foundJob)
		}
		seenProgress = nil
		if err := foundJob.Wait(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		if len(seenProgress) == 0 || seenProgress[0] < 20 || seenProgress[len(seenProgress)-1] != 90 {
			t.Errorf("progress that the second client received = %v, want values from 20 or more to 90", seenProgress)
		}
		r, err, ok := foundJob.Result()
		if !ok || err != nil || string(r.Output) != `"done"` || r.CallID != job.ID() {
			t.Errorf("Result returned %s, error %v, ok %t; want done, no error and true", r.Output, err, ok)
		}
		if v := jobs.List()[0]; v.Status != wire.StatusDone || v.Client != "a" || v.ResultDropped || len(p.receivedStopReasons()) != 0 {
			t.Errorf("ended job = %+v, and stop requests of the page = %q; want done with its result, and no request", v, p.receivedStopReasons())
		}
	})
}

func TestAJobIsCancelledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New((&fakePage{}).bridge(), dispatch.Options{})
		jobs := joblist.New(d, joblist.Options{})
		for range 50 {
			job := jobs.Start(dispatch.Call{Tool: exportTool})
			if !job.Cancel(dispatch.Cancellation{CancelledBy: "a test"}) {
				t.Fatal("Cancel returned false for a running job, want true")
			}
			if err := job.Wait(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		seenNames := map[string]bool{}
		for _, v := range d.Calls() {
			if v.Status != wire.StatusCancelled || v.Ended == nil || seenNames[v.CallID] {
				t.Fatalf("cancelled job = %+v, want an ended call with the status cancelled and a new ID", v)
			}
			seenNames[v.CallID] = true
		}
	})
}

type countingHook struct{ endedCallCount int }

func (h *countingHook) AfterCall(dispatch.CallInfo, dispatch.EndedCall) { h.endedCallCount++ }

func TestWaitForHooksIncludesHooksOfJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &countingHook{}
		p := newProgressPage(90, `1`)
		d := dispatch.New(p.bridge(), dispatch.Options{AfterHooks: []dispatch.AfterHook{h}})
		joblist.New(d, joblist.Options{}).Start(dispatch.Call{Tool: exportTool})
		time.Sleep(time.Second / 2)
		d.Shutdown()
		if err := d.WaitForHooks(t.Context()); err != nil || h.endedCallCount != 1 {
			t.Errorf("WaitForHooks returned the error %v, and the hook ran for %d ended calls; want no error and 1 call", err, h.endedCallCount)
		}
		p.wg.Wait()
	})
}

func TestLastReportComesBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := joblist.New(dispatch.New(newProgressPage(2, `1`).bridge(), dispatch.Options{}), joblist.Options{})
		for range 50 {
			lastProgress := 0.0
			if err := jobs.Start(dispatch.Call{Tool: exportTool}).Wait(t.Context(), func(p dispatch.Progress) { lastProgress = p.Progress }); err != nil || lastProgress != 2 {
				t.Fatalf("last progress = %v, error %v; want 2 and no error", lastProgress, err)
			}
		}
	})
}

// A tool can report several times before a slow client has read the first notification.
func TestSlowClientReceivesReportsThatFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saved := wire.Report{Message: "Saved", Audience: "user"}
		for _, laterReports := range []int{1, 15, 100} {
			page := &fakePage{handler: func(_ dispatch.Run, sink dispatch.Sink) {
				time.Sleep(time.Second)
				sink.Reports([]wire.Report{{Message: "first"}}, 0)
				time.Sleep(time.Second)
				sink.Reports([]wire.Report{saved}, 0)
				for i := range laterReports {
					time.Sleep(time.Second)
					sink.Reports([]wire.Report{{Message: fmt.Sprint("step ", i+1)}}, 0)
				}
				sink.Finish(json.RawMessage(`1`), nil)
			}}
			jobs := joblist.New(dispatch.New(page.bridge(), dispatch.Options{}), joblist.Options{})
			var messages []string
			err := jobs.Start(dispatch.Call{Tool: exportTool}).Wait(t.Context(), func(p dispatch.Progress) {
				if messages = append(messages, p.Message); len(messages) == 1 {
					time.Sleep(time.Hour) // the client does not read
				}
			})
			if err != nil || !slices.Contains(messages, "Saved") || messages[len(messages)-1] != fmt.Sprint("step ", laterReports) {
				t.Errorf("after %d later reports, the client received %q, error %v; want the message Saved and the last step", laterReports, messages, err)
			}
		}
	})
}

func TestJobRunsUnderTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := joblist.New(dispatch.New(newProgressPage(400, `1`).bridge(), dispatch.Options{}), joblist.Options{})
		jobsWithoutReports := joblist.New(dispatch.New((&fakePage{}).bridge(), dispatch.Options{}), joblist.Options{})
		for code, job := range map[wire.ErrorCode]*joblist.Job{
			wire.ErrDeadlineExceeded: jobs.Start(dispatch.Call{Tool: exportTool}),
			wire.ErrIdleTimeout:      jobsWithoutReports.Start(dispatch.Call{Tool: exportTool}),
		} {
			job.KeepResult()
			if err := job.Wait(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if _, err, _ := job.Result(); codeOf(err) != code {
				t.Errorf("error of the job = %v, want %s", err, code)
			}
		}
		time.Sleep(10 * time.Minute)
	})
}

func TestJobIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{}
		jobs := joblist.New(dispatch.New(p.bridge(), dispatch.Options{}), joblist.Options{})
		job := jobs.Start(dispatch.Call{Tool: exportTool})
		job.KeepResult()
		synctest.Wait()
		if !job.Cancel(dispatch.Cancellation{CancelledBy: "an agent"}) || job.Wait(t.Context(), nil) != nil || job.Cancel(dispatch.Cancellation{CancelledBy: "an agent"}) {
			t.Error("results of Cancel, Wait and a second Cancel are wrong, want true, no error and false")
		}
		_, err, _ := job.Result()
		if stopReasons := p.receivedStopReasons(); codeOf(err) != wire.ErrCancelled || len(stopReasons) != 1 || !strings.Contains(stopReasons[0], "by an agent") {
			t.Errorf("the job ended with the error %v, and the page received the stop requests %q; want cancelled, and one request by an agent", err, stopReasons)
		}
	})
}

func TestJobsEndWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New((&fakePage{}).bridge(), dispatch.Options{})
		jobs := joblist.New(d, joblist.Options{})
		job := jobs.Start(dispatch.Call{Tool: exportTool})
		synctest.Wait()
		d.Shutdown()
		jobAfterShutdown := jobs.Start(dispatch.Call{Tool: exportTool})
		for _, job := range []*joblist.Job{job, jobAfterShutdown} {
			job.KeepResult()
			if err := job.Wait(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if _, err, _ := job.Result(); codeOf(err) != wire.ErrShutdown {
				t.Error(err)
			}
		}
	})
}

func startFinishedJob(t *testing.T, jobs *joblist.List) *joblist.Job {
	t.Helper()
	job := jobs.Start(dispatch.Call{Tool: exportTool})
	if err := job.Wait(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	job.KeepResult()
	return job
}

func TestJobsKeepABoundedNumberOfResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New(newProgressPage(0, `"12345678"`).bridge(), dispatch.Options{})
		jobs := joblist.New(d, joblist.Options{Results: 3})
		var allJobs []*joblist.Job
		for range 40 {
			allJobs = append(allJobs, startFinishedJob(t, jobs))
		}
		for i, job := range allJobs {
			_, isKnown := jobs.Find(job.ID())
			_, _, ok := job.Result()
			if isKnown != (i >= 10) || ok != (i >= 37) || job.View().ResultDropped != (i < 37) {
				t.Errorf("job %d: found %t, has a result %t, result dropped %t; want %t, %t, %t", i, isKnown, ok, job.View().ResultDropped, i >= 10, i >= 37, i < 37)
			}
		}
		if n := len(jobs.List()); n != 30 {
			t.Errorf("the list contains %d jobs, want 30", n)
		}
	})
}

func TestJobsKeepABoundedSizeOfResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		output := `"12345678"`
		d := dispatch.New((&fakePage{handler: func(_ dispatch.Run, sink dispatch.Sink) { sink.Finish(json.RawMessage(output), nil) }}).bridge(), dispatch.Options{})
		jobs := joblist.New(d, joblist.Options{ResultBytes: 25})
		a, b, c := startFinishedJob(t, jobs), startFinishedJob(t, jobs), startFinishedJob(t, jobs)
		output = `"` + strings.Repeat("x", 100) + `"`
		has := func(job *joblist.Job) bool { _, _, ok := job.Result(); return ok }
		if has(a) || !has(b) || !has(c) {
			t.Error("the wrong results are kept, want the first of three results dropped")
		}
		// The newest result is kept even if it alone exceeds the limit of all results.
		if largePatch := startFinishedJob(t, jobs); !has(largePatch) || has(b) || has(c) {
			t.Error("the wrong results are kept, want only the large result")
		}
		output = `1`
		if d := startFinishedJob(t, jobs); !has(d) || len(jobs.List()) != 5 {
			t.Error("the wrong results or jobs are kept, want the newest result and all 5 jobs")
		}
	})
}

func TestJobsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := joblist.New(dispatch.New(newProgressPage(0, `1`).bridge(), dispatch.Options{}), joblist.Options{})
		firstJob := startFinishedJob(t, jobs)
		time.Sleep(30 * time.Minute)
		secondJob := startFinishedJob(t, jobs)
		time.Sleep(31 * time.Minute)
		_, one := jobs.Find(firstJob.ID())
		_, two := jobs.Find(secondJob.ID())
		if one || !two {
			t.Errorf("after an hour the first job exists: %t, and the second: %t; want false and true", one, two)
		}
		time.Sleep(30 * time.Minute)
		if len(jobs.List()) != 0 {
			t.Error("the list still contains the second job, want no jobs")
		}
	})
}
