package mcpserver

import (
	"context"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
)

// maxJobSeconds is the longest time that an agent may name.
const maxJobSeconds = 3600

// jobArguments are the arguments of the tools of jobs.
type jobArguments struct {
	Job     string   `json:"job"`
	Seconds *float64 `json:"seconds"`
	Reason  string   `json:"reason"`
}

const (
	jobSchema     = `{"type":"object","properties":{"job":{"type":"string","description":"The job's id."}},"required":["job"]}`
	jobWaitSchema = `{"type":"object","properties":{"job":{"type":"string","description":"The job's id."},` +
		`"seconds":{"type":"number","minimum":0,"maximum":3600,"description":"How long to wait at most. Default: as long as this client can."}},"required":["job"]}`
	jobCancelSchema = `{"type":"object","properties":{"job":{"type":"string","description":"The job's id."},` +
		`"reason":{"type":"string","description":"Why, for the tool and the user's record."}},"required":["job"]}`
	noArguments = `{"type":"object","properties":{}}`
)

// jobTools are the tools of clients whose calls may become jobs.
var jobTools = []ownTool{
	jobTool("job_wait", "Wait for a job",
		"Waits until a job has ended and returns the result of its tool. If the job still runs when the time is over, returns how far it is; call again then.",
		jobWaitSchema, (*Server).jobWait),
	jobTool("job_result", "Result of a job",
		"Returns the result of the tool of a job that has ended, or how far the job is. Does not wait.", jobSchema, (*Server).jobResult),
	jobTool("job_cancel", "Stop a job", "Stops a job: its page is told to stop.", jobCancelSchema, (*Server).jobCancel),
	jobTool("job_list", "List jobs",
		"Lists the jobs of this client that run and those that have ended, whichever session began them.", noArguments, (*Server).jobList),
}

func jobTool(name, title, description, schema string, run func(*Server, context.Context, request, jobArguments) reply) ownTool {
	return ownTool{
		shown: showOwn(name, title, description, schema, name != "job_cancel"),
		offered: func(s *Server, client string) bool {
			_, on := s.jobsOf(client)
			return on
		},
		run: func(s *Server, ctx context.Context, q request) reply {
			var a jobArguments
			if err := readOwn(q, &a); err != nil {
				return s.failed(err)
			}
			if a.Seconds != nil && !(*a.Seconds >= 0 && *a.Seconds <= maxJobSeconds) {
				return s.failed(invalidArguments(`The argument "seconds" must be a number from 0 to %d. Correct it or leave it out, then call again.`, maxJobSeconds))
			}
			return run(s, ctx, q, a)
		},
	}
}

// mayPickUp reports whether a client may see a job. One with a token of its own
// sees the jobs that it began; the user's other programs see all.
func mayPickUp(c dispatch.Client, v dispatch.JobView) bool {
	return c.Via != dispatch.ViaToken || v.Who().Token == c.Token
}

// findJob returns a job of the client, or the reply for one that is not known.
func (s *Server) findJob(c dispatch.Client, id string) (*dispatch.Job, reply) {
	if id == "" {
		return nil, s.failed(invalidArguments(`The argument "job" is missing: give the id of a job (job_list lists them), then call again.`))
	}
	job, ok := s.opts.Jobs.Find(id)
	if !ok || !mayPickUp(c, job.View()) {
		return nil, s.failed(invalidArguments("There is no job %q: its time is over, or opentabs was started anew since. List the jobs (job_list), or call the tool again.", id))
	}
	return job, reply{}
}

func (s *Server) jobWait(ctx context.Context, q request, a jobArguments) reply {
	job, unknown := s.findJob(q.client, a.Job)
	if job == nil {
		return unknown
	}
	after := time.Duration(untilItEnds)
	if a.Seconds != nil {
		after = time.Duration(*a.Seconds * float64(time.Second))
	}
	attend(ctx, q, job, after)
	return s.howItStands(job)
}

func (s *Server) jobResult(_ context.Context, q request, a jobArguments) reply {
	job, unknown := s.findJob(q.client, a.Job)
	if job == nil {
		return unknown
	}
	return s.howItStands(job)
}

// howItStands is the reply with a job's result, or how far it is.
func (s *Server) howItStands(job *dispatch.Job) reply {
	result, err, ok := job.Result()
	v := job.View()
	switch {
	case ok:
		r := s.toolReply((*s.tools.Load())[v.ToolName], result, err)
		r.job = jobMeta(v)
		return r
	case v.Gone:
		r := s.failed(invalidArguments("The result of job %s (%s) is gone: it was dropped to make room for newer ones. Call the tool again if you need it.", v.CallID, v.ToolName))
		r.job = jobMeta(v)
		return r
	default:
		return handle(v)
	}
}

func (s *Server) jobCancel(_ context.Context, q request, a jobArguments) reply {
	job, unknown := s.findJob(q.client, a.Job)
	if job == nil {
		return unknown
	}
	cancelled := job.Cancel(dispatch.Cancellation{By: "an agent (" + q.client.String() + ")", Reason: plaintext.Line(a.Reason, maxReason)})
	_ = job.Wait(context.Background(), nil) // it has ended or ends at once
	v := job.View()
	answer := answerOf(v)
	switch {
	case cancelled && v.RunMs == 0: // it waited for its turn, or for the person
		answer.Hint = "It had not begun: nothing was run."
	case cancelled:
		answer.Hint = "The page was told to stop. Call the tool again to begin anew."
	}
	return reply{callID: v.CallID, text: answer.text(), data: mustJSON(answer), job: jobMeta(v)}
}

func (s *Server) jobList(_ context.Context, q request, _ jobArguments) reply {
	jobs := []jobAnswer{}
	lines := []string{"There are no jobs."}
	for _, v := range s.opts.Jobs.List() {
		if !mayPickUp(q.client, v) {
			continue
		}
		a := answerOf(v)
		if len(jobs) == 0 {
			lines = nil
		}
		jobs = append(jobs, a)
		lines = append(lines, a.text())
	}
	return reply{text: strings.Join(lines, "\n"), data: mustJSON(map[string]any{"jobs": jobs})}
}
