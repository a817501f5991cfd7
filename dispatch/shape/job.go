package shape

import (
	"opentabs/dispatch"
	"opentabs/dispatch/joblist"
)

// Job is the form in which agents see a call that continues after its request was answered.
type Job struct {
	JobID string `json:"job"`
	Tool  string `json:"tool"`
	dispatch.Progression
	// WaitsFor is what the user must do before the call continues.
	WaitsFor string  `json:"waits_for,omitempty"`
	RanMs    float64 `json:"ran_ms"`
	// The field Result is empty until the job ends. Result is "kept" while the job's
	// result is available, and "gone" after the job's result was dropped.
	Result string `json:"result,omitempty"`
	// Hint is advice for the agent. The caller of JobForAgent sets the Hint.
	Hint string `json:"hint"`
}

// JobForAgent converts a job to the form that agents see, without a Hint.
func JobForAgent(v joblist.View) Job {
	v.Status = v.Status.ProgressStatus()
	j := Job{JobID: v.CallID, Tool: v.ToolName, Progression: v.Progression, RanMs: v.RunMs}
	if v.Waiting != nil {
		j.WaitsFor = v.Waiting.Reason
	}
	switch {
	case !v.Status.HasEnded():
	case v.ResultDropped:
		j.Result = "gone"
	default:
		j.Result = "kept"
	}
	return j
}
