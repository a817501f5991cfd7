package mcpserver

import (
	"bytes"
	"fmt"
	"testing"

	"opentabs/dispatch/dispatchtest"
	"opentabs/dispatch/joblist"
	"opentabs/internal/goldentest"
	"opentabs/wire"
)

func TestJobResultsForAgents(t *testing.T) {
	var b bytes.Buffer
	for _, callStatus := range []wire.CallStatus{"waiting for approval", wire.StatusRunning, wire.StatusDone, wire.StatusFailed, wire.StatusCancelled, wire.StatusTimedOut} {
		for _, isResultDropped := range []bool{false, true} {
			v := joblist.View{View: dispatchtest.View(), ResultDropped: isResultDropped}
			if v.Status = callStatus; callStatus != "waiting for approval" {
				v.Waiting = nil
			}
			r := newJobReply(v)
			fmt.Fprintf(&b, "%s, gone: %v\n%s\n%s\n%s\n", callStatus, isResultDropped, r.replyText, r.structuredContent, r.job)
		}
	}
	r := newJobReply(joblist.View{})
	fmt.Fprintf(&b, "empty\n%s\n%s\n%s\n", r.replyText, r.structuredContent, r.job)
	goldentest.Compare(t, "testdata/jobs.txt", b.Bytes())
}
