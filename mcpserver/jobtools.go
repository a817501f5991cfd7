package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"opentabs/dispatch"
	"opentabs/wire"
)

// maxJobSeconds is the longest time that an agent may name.
const maxJobSeconds = 3600

// jobArguments are the arguments of the tools of jobs.
type jobArguments struct {
	Job     string   `json:"job"`
	Seconds *float64 `json:"seconds"`
}

// jobTool is one tool that opentabs has itself.
type jobTool struct {
	shown mcp.Tool
	run   func(s *Server, ctx context.Context, q request, a jobArguments) reply
}

const (
	jobSchema     = `{"type":"object","properties":{"job":{"type":"string","description":"The job's id."}},"required":["job"]}`
	jobWaitSchema = `{"type":"object","properties":{"job":{"type":"string","description":"The job's id."},` +
		`"seconds":{"type":"number","minimum":0,"maximum":3600,"description":"How long to wait at most. Default: as long as this client can."}},"required":["job"]}`
	noArguments = `{"type":"object","properties":{}}`
)

// jobTools are the tools of clients whose calls may become jobs, by name. No
// tool of a plugin can have such a name: it has none without "__".
var jobTools = map[string]jobTool{
	"job_wait": newJobTool("job_wait", "Wait for a job",
		"Waits until a job has ended and returns the result of its tool. If the job still runs when the time is over, returns how far it is; call again then.",
		jobWaitSchema, (*Server).jobWait),
	"job_result": newJobTool("job_result", "Result of a job",
		"Returns the result of the tool of a job that has ended, or how far the job is. Does not wait.", jobSchema, (*Server).jobResult),
	"job_cancel": newJobTool("job_cancel", "Stop a job", "Stops a job: its page is told to stop.", jobSchema, (*Server).jobCancel),
	"job_list": newJobTool("job_list", "List jobs",
		"Lists the jobs that run and those that have ended, whichever session began them.", noArguments, (*Server).jobList),
}

func newJobTool(name, title, description, schema string, run func(*Server, context.Context, request, jobArguments) reply) jobTool {
	shown := mcp.NewToolWithRawSchema(name, description, json.RawMessage(schema))
	shown.Title = title
	readOnly, open := name != "job_cancel", false
	shown.Annotations = mcp.ToolAnnotation{ReadOnlyHint: &readOnly, OpenWorldHint: &open}
	return jobTool{shown, run}
}

// jobToolOf returns the tool of this name, if the client of a request has it.
func (s *Server) jobToolOf(q request) (jobTool, bool) {
	t, ok := jobTools[q.params.Name]
	if ok {
		_, ok = s.jobsOf(q.info.Name)
	}
	return t, ok
}

// callJobTool runs a tools/call of a tool of jobs.
func (s *Server) callJobTool(ctx context.Context, q request, t jobTool) reply {
	var a jobArguments
	if len(q.params.Arguments) > 0 {
		if err := json.Unmarshal(q.params.Arguments, &a); err != nil {
			return s.failed(invalidJob("The arguments of %s are not what its schema allows (%v). Correct them, then call again.", q.params.Name, err))
		}
	}
	if a.Seconds != nil && !(*a.Seconds >= 0 && *a.Seconds <= maxJobSeconds) {
		return s.failed(invalidJob(`The argument "seconds" must be a number from 0 to %d. Correct it or leave it out, then call again.`, maxJobSeconds))
	}
	return t.run(s, ctx, q, a)
}

func invalidJob(format string, args ...any) error {
	return &dispatch.Error{Code: wire.ErrInvalidArguments, Message: fmt.Sprintf(format, args...)}
}

// findJob returns a job, or the reply for one that is not known.
func (s *Server) findJob(id string) (*dispatch.Job, reply) {
	if id == "" {
		return nil, s.failed(invalidJob(`The argument "job" is missing: give the id of a job (job_list lists them), then call again.`))
	}
	job, ok := s.opts.Jobs.Find(id)
	if !ok {
		return nil, s.failed(invalidJob("There is no job %q: its time is over, or opentabs was started anew since. List the jobs (job_list), or call the tool again.", id))
	}
	return job, reply{}
}

func (s *Server) jobWait(ctx context.Context, q request, a jobArguments) reply {
	job, unknown := s.findJob(a.Job)
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

func (s *Server) jobResult(_ context.Context, _ request, a jobArguments) reply {
	job, unknown := s.findJob(a.Job)
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
		r := s.failed(invalidJob("The result of job %s (%s) is gone: it was dropped to make room for newer ones. Call the tool again if you need it.", v.CallID, v.ToolName))
		r.job = jobMeta(v)
		return r
	default:
		return handle(v)
	}
}

func (s *Server) jobCancel(_ context.Context, q request, a jobArguments) reply {
	job, unknown := s.findJob(a.Job)
	if job == nil {
		return unknown
	}
	cancelled := job.Cancel("an agent (" + q.info.Name + ")")
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

func (s *Server) jobList(context.Context, request, jobArguments) reply {
	jobs := []jobAnswer{}
	lines := []string{"There are no jobs."}
	for i, v := range s.opts.Jobs.List() {
		a := answerOf(v)
		jobs = append(jobs, a)
		if i == 0 {
			lines = nil
		}
		lines = append(lines, a.text())
	}
	return reply{text: strings.Join(lines, "\n"), data: mustJSON(map[string]any{"jobs": jobs})}
}

// showJobs is the filter of mcp-go's list of tools: clients whose calls may
// become jobs see the tools of jobs, and "_detach" in every other. The answer
// may be a job then, so these have no output schema: clients would refuse it.
func (s *Server) showJobs(ctx context.Context, tools []mcp.Tool) []mcp.Tool {
	_, on := s.jobsOf(clientOf(ctx))
	table := *s.tools.Load()
	kept := tools[:0]
	for _, t := range tools {
		if _, own := jobTools[t.Name]; own && !on {
			continue
		}
		if l, ok := table[t.Name]; ok && on {
			t = l.detachable
		}
		kept = append(kept, t)
	}
	return kept
}

// clientOf is the name of the client whose request mcp-go serves.
func clientOf(ctx context.Context) string {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern && info.ClientInfo != nil {
		return info.ClientInfo.Name
	}
	if l, ok := server.ClientSessionFromContext(ctx).(*listener); ok {
		return l.GetClientInfo().Name
	}
	return ""
}

// withProperty adds a property to the schema of an object.
func withProperty(schema json.RawMessage, name, property string) json.RawMessage {
	root, ok := membersOf(schema)
	if !ok {
		return schema
	}
	added := member{name: name, key: appendString(nil, name), value: json.RawMessage(property)}
	for i, m := range root {
		if m.name != "properties" {
			continue
		}
		if properties, ok := membersOf(m.value); ok {
			root[i].value = joinMembers(append(properties, added))
		}
		return joinMembers(root)
	}
	return joinMembers(append(root, member{name: "properties", key: []byte(`"properties"`), value: joinMembers([]member{added})}))
}
