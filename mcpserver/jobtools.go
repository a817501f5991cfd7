package mcpserver

import (
	"context"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/joblist"
	"opentabs/dispatch/shape"
	"opentabs/internal/clients"
	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
	"opentabs/mcpserver/transport"
)

// maxJobWaitSeconds limits how long an agent may wait for a job in one call, in seconds.
const maxJobWaitSeconds = 3600

// jobArguments are the arguments of the tools that wait for a job, read its result or cancel it.
type jobArguments struct {
	JobID   string   `json:"job"`
	Seconds *float64 `json:"seconds"`
	Reason  string   `json:"reason"`
}

const (
	jobSchema     = `{"type":"object","properties":{"job":{"type":"string","description":"The job's id."}},"required":["job"]}`
	jobWaitSchema = `{"type":"object","properties":{"job":{"type":"string","description":"The job's id."},` +
		`"seconds":{"type":"number","minimum":0,"maximum":3600,"description":"How long to wait at most. Default: as long as this client can."}},"required":["job"]}`
	jobCancelSchema = `{"type":"object","properties":{"job":{"type":"string","description":"The job's id."},` +
		`"reason":{"type":"string","description":"Why, for the tool and the user's record."}},"required":["job"]}`
	emptySchema = `{"type":"object","properties":{}}`
)

var jobTools = []builtinTool{
	newJobTool("job_wait", "Wait for a job",
		"Waits until a job has ended and returns the result of its tool. If the job still runs when the time is over, returns its progress; call again then.",
		jobWaitSchema, (*jobs).jobWait),
	newJobTool("job_result", "Result of a job",
		"Returns the result of the tool of a job that has ended, or the progress of the job. Does not wait.", jobSchema, (*jobs).jobResult),
	newJobTool("job_cancel", "Stop a job", "Stops a job and the tool in the page.", jobCancelSchema, (*jobs).jobCancel),
	newJobTool("job_list", "List jobs",
		"Lists the running and ended jobs of this client, from all its sessions.", emptySchema, (*jobs).jobList),
}

func newJobTool(name, title, toolDescription, schema string, run func(*jobs, context.Context, request, jobArguments) reply) builtinTool {
	return builtinTool{
		definition: newBuiltinDefinition(name, title, toolDescription, schema, name != "job_cancel"),
		isOffered: func(s *Server, client clients.ID) bool {
			_, hasJobs := s.jobs.detachRuleOf(client)
			return hasJobs
		},
		runTool: func(s *Server, ctx context.Context, q request) reply {
			var a jobArguments
			if err := decodeArguments(q, &a); err != nil {
				return newToolErrorReply(err)
			}
			if a.Seconds != nil && !(*a.Seconds >= 0 && *a.Seconds <= maxJobWaitSeconds) {
				return newToolErrorReply(newArgumentsError(`The argument "seconds" must be a number from 0 to %d. Correct it or leave it out, then call again.`, maxJobWaitSeconds))
			}
			return run(s.jobs, ctx, q, a)
		},
	}
}

// A client with its own token sees only the jobs that it started; clients without a token see all jobs.
func canSeeJob(c dispatch.Client, v joblist.View) bool {
	return c.Credential != dispatch.CredentialToken || v.ToClient().Token == c.Token
}

func (j *jobs) findJob(c dispatch.Client, id string) (*joblist.Job, reply) {
	if id == "" {
		return nil, newToolErrorReply(newArgumentsError(`The argument "job" is missing: give the id of a job (job_list lists them), then call again.`))
	}
	job, ok := j.dispatchJobs.Find(id)
	if !ok || !canSeeJob(c, job.View()) {
		return nil, newToolErrorReply(newArgumentsError("There is no job %q: it expired, or opentabs restarted. List the jobs (job_list), or call the tool again.", id))
	}
	return job, reply{}
}

func (j *jobs) jobWait(ctx context.Context, q request, a jobArguments) reply {
	job, notFoundReply := j.findJob(q.Client, a.JobID)
	if job == nil {
		return notFoundReply
	}
	maxWait := time.Duration(noWaitLimit)
	if a.Seconds != nil {
		maxWait = time.Duration(*a.Seconds * float64(time.Second))
	}
	waitForJob(ctx, q, job, maxWait)
	return j.replyResultOrStatus(job)
}

func (j *jobs) jobResult(_ context.Context, q request, a jobArguments) reply {
	job, notFoundReply := j.findJob(q.Client, a.JobID)
	if job == nil {
		return notFoundReply
	}
	return j.replyResultOrStatus(job)
}

func jobView(job *joblist.Job) joblist.View {
	v := job.View()
	if v.Ended != nil {
		_ = job.Wait(context.Background(), nil) // the call has ended, so its result is available almost at once
	}
	return v
}

func (j *jobs) replyResultOrStatus(job *joblist.Job) reply {
	v := jobView(job)
	callResult, err, ok := job.Result()
	switch {
	case ok:
		v = job.View()
		r := j.newEndedReply(v.ToolName, callResult, err)
		r.job = newJobMeta(v)
		return r
	case v.ResultDropped:
		r := newToolErrorReply(newArgumentsError("The result of job %s (%s) is gone: it was dropped to make room for newer ones. Call the tool again if you need it.", v.CallID, v.ToolName))
		r.job = newJobMeta(v)
		return r
	default:
		return newJobReply(v)
	}
}

func (j *jobs) jobCancel(_ context.Context, q request, a jobArguments) reply {
	job, notFoundReply := j.findJob(q.Client, a.JobID)
	if job == nil {
		return notFoundReply
	}
	isCancelled := job.Cancel(dispatch.Cancellation{CancelledBy: "an agent (" + q.Client.String() + ")", Reason: plaintext.Line(a.Reason, transport.MaxReasonChars)})
	_ = job.Wait(context.Background(), nil) // a cancelled job ends at once
	v := job.View()
	jobReply := newJobAnswer(v)
	switch {
	case isCancelled && v.RunMs == 0: // the call was queued or waiting for approval
		jobReply.Hint = "It had not started, so nothing was run."
	case isCancelled:
		jobReply.Hint = "The tool in the page was stopped. Call the tool again to restart."
	}
	return reply{callID: v.CallID, replyText: formatJob(jobReply), structuredContent: rawjson.Encode(jobReply), job: newJobMeta(v)}
}

func (j *jobs) jobList(_ context.Context, q request, _ jobArguments) reply {
	jobReplies := []shape.Job{}
	lines := []string{"There are no jobs."}
	for _, v := range j.dispatchJobs.List() {
		if !canSeeJob(q.Client, v) {
			continue
		}
		a := newJobAnswer(v)
		if len(jobReplies) == 0 {
			lines = nil
		}
		jobReplies = append(jobReplies, a)
		lines = append(lines, formatJob(a))
	}
	return reply{replyText: strings.Join(lines, "\n"), structuredContent: rawjson.Encode(map[string]any{"jobs": jobReplies})}
}
