package shape

import (
	"opentabs/dispatch"
	"opentabs/dispatch/joblist"
	"opentabs/wire"
)

// Job is a call that outlives its request, as agents see it.
type Job struct {
	JobID string `json:"job"`
	Tool  string `json:"tool"`
	dispatch.Progression
	// WaitsFor is what the user has to do before the call continues.
	WaitsFor string  `json:"waits_for,omitempty"`
	RanMs    float64 `json:"ran_ms"`
	// Result is "kept" or "gone" after the end of the job.
	Result string `json:"result,omitempty"`
	// Hint is the next step for the agent; the caller of JobForAgent sets it.
	Hint string `json:"hint"`
}

// JobForAgent returns a job as agents see it, without a hint.
func JobForAgent(v joblist.View) Job {
	v.Status = v.Status.ForProgress()
	j := Job{JobID: v.CallID, Tool: v.ToolName, Progression: v.Progression, RanMs: v.RunMs}
	if v.Waiting != nil {
		j.WaitsFor = v.Waiting.Reason
	}
	switch {
	case v.Status == wire.StatusPending || v.Status == wire.StatusRunning:
	case v.ResultDropped:
		j.Result = "gone"
	default:
		j.Result = "kept"
	}
	return j
}
