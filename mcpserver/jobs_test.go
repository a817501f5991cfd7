package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/dispatch/joblist"
	"opentabs/dispatch/shape"
	"opentabs/mcpserver/transport"
	"opentabs/wire"
)

type jobServer struct {
	*testServer
	t            *testing.T
	d            *dispatch.Dispatcher
	http         *http.Client
	stopReasons  chan string // stopReasons receives the reasons with which calls in the page were cancelled
	runningPages sync.WaitGroup
}

func runWithJobs(t *testing.T, o dispatch.Options, detach func(client string) DetachPolicy, tool func(dispatch.Sink), f func(t *testing.T, s *jobServer)) {
	runWithJobOptions(t, o, Options{Detach: detach}, tool, f)
}

func runWithJobOptions(t *testing.T, o dispatch.Options, options Options, tool func(dispatch.Sink), f func(t *testing.T, s *jobServer)) {
	s := &jobServer{}
	d := dispatch.New(&dispatchtest.Bridge{
		StartFunc: func(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
			s.runningPages.Go(func() { tool(sink) })
			return nil
		},
		CancelFunc: func(_, cancelReason string, onOutcome func(wire.CancelOutcome)) {
			s.stopReasons <- cancelReason
			onOutcome(wire.CancelAborted)
		},
	}, o)
	options.Jobs, options.CallWatcher = joblist.New(d, joblist.Options{Results: 2}), d
	if options.Keys != nil {
		options.Keys.SetJobs(options.Jobs)
	}
	runInFakeTime(t, d, options, func(t *testing.T, site *testServer, _ *pipeListener, a *client) {
		s.testServer, s.t, s.d, s.http, s.stopReasons = site, t, d, a.http, make(chan string, 10)
		f(t, s)
		d.Shutdown()
		s.runningPages.Wait()
	})
}

func fixedDetachPolicy(d DetachPolicy) func(string) DetachPolicy {
	return func(string) DetachPolicy { return d }
}

func (s *jobServer) connectAs(name, version string) *client {
	return s.connectClient(name, version, `{}`)
}

func (s *jobServer) connectClient(name, version, capabilities string) *client {
	c := &client{t: s.t, url: s.url, http: s.http, headers: http.Header{}}
	initializeRequest := strings.Replace(initializeText(name), `"version":"1.2"`, `"version":"`+version+`"`, 1)
	res := c.postRequest(s.t.Context(), strings.Replace(initializeRequest, `"capabilities":{}`, `"capabilities":`+capabilities, 1))
	readMessages(s.t, res)
	c.session, c.version = res.Header.Get("Mcp-Session-Id"), "2025-11-25"
	return c
}

func newCountingTool(n int, output string) func(dispatch.Sink) {
	return func(sink dispatch.Sink) {
		totalProgress := float64(n)
		for i := range n {
			<-time.After(time.Second)
			progressDone := float64(i + 1)
			sink.Reports([]wire.Report{{Progress: &progressDone, Total: &totalProgress, Message: fmt.Sprint("page ", i+1)}}, 0)
		}
		sink.Finish(json.RawMessage(output), nil)
	}
}

const progressTokenMeta = `{"progressToken":"p"}`

func newToolCallMessage(name, args, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":%s}}`, name, args, meta)
}

func jobFromMessages(t *testing.T, msgs []receivedMessage) shape.Job {
	t.Helper()
	if len(msgs) == 0 {
		t.Fatal("the server sent no answer to the request; want at least one message")
	}
	var a shape.Job
	r := msgs[len(msgs)-1].toolResultOf(t)
	if json.Unmarshal(r.Structured, &a) != nil || a.JobID == "" || r.IsError || !strings.Contains(string(r.Meta[metaJob]), a.JobID) {
		t.Fatalf("reply = %s; want a job", msgs[len(msgs)-1].messageJSON)
	}
	return a
}

// TestJobIsPickedUpByAnotherSession checks that another session can read the progress and
// the result of a job whose session has ended.
func TestJobIsPickedUpByAnotherSession(t *testing.T) {
	runWithJobs(t, dispatch.Options{}, fixedDetachPolicy(DetachPolicy{After: 20 * time.Second}), newCountingTool(90, `{"n":90}`), func(t *testing.T, s *jobServer) {
		startTime, firstClient := time.Now(), s.connectAs("first", "1")
		msgs := firstClient.requestAndRead(callText(`1`, `{}`, progressTokenMeta))
		job := jobFromMessages(t, msgs)
		if elapsedTime := time.Since(startTime); elapsedTime != 20*time.Second || len(msgs) < 19 || msgs[0].Method != "notifications/progress" {
			t.Errorf("the client received %d messages in %s; want at least 19 in 20 s, first a progress notification", len(msgs), elapsedTime)
		}
		if job.Status != wire.StatusRunning || job.Tool != "messages__echo" || job.Loaded == nil || *job.Loaded < 19 || *job.Total != 90 || job.Message == "" {
			t.Errorf("job = %+v; want messages__echo, running, progress of at least 19 of 90", job)
		}
		resultText := msgs[len(msgs)-1].toolResultOf(t).Content[0].Text
		if !strings.HasPrefix(resultText, "Job "+job.JobID+" (messages__echo) is running, ") || !strings.Contains(resultText, ` of 90, last message: "page `) ||
			!strings.HasSuffix(resultText, `Call job_wait with {"job": "`+job.JobID+`"} for its result, or job_cancel to stop it.`) {
			t.Error(resultText)
		}
		if code, _ := firstClient.status(firstClient.newRequest(t.Context(), http.MethodDelete, "")); code != http.StatusOK {
			t.Error(code)
		}

		secondClient := s.connectAs("second", "1")
		listResponse := secondClient.call(newToolCallMessage("job_list", `{}`, `{}`))
		if !strings.Contains(listResponse.messageJSON, job.JobID) || !strings.Contains(listResponse.messageJSON, `"status":"running"`) {
			t.Error(listResponse.messageJSON)
		}
		if currentJob := jobFromMessages(t, secondClient.requestAndRead(newToolCallMessage("job_result", `{"job":"`+job.JobID+`"}`, `{}`))); currentJob.Status != wire.StatusRunning {
			t.Errorf("job that the second client reads = %+v; want a running job", currentJob)
		}
		// An unknown client is assumed to give up after 60 s.
		wait := newToolCallMessage("job_wait", `{"job":"`+job.JobID+`"}`, progressTokenMeta)
		if currentJob := jobFromMessages(t, secondClient.requestAndRead(wait)); time.Since(startTime) != 70*time.Second || *currentJob.Loaded < 69 {
			t.Errorf("job after %s = %+v; want a progress of at least 69 after 70 s", time.Since(startTime), currentJob)
		}
		msgs = secondClient.requestAndRead(wait)
		if n := len(msgs); n < 20 || msgs[n-2].Params.Progress != 90 || msgs[0].Params.Progress < 69 {
			t.Errorf("the client received %d messages, the last two %v; want at least 20, with progress from 69 to 90", len(msgs), msgs[max(len(msgs)-2, 0):])
		}
		r := msgs[len(msgs)-1].toolResultOf(t)
		if string(r.Structured) != `{"n":90}` || r.Content[0].Text != `{"n":90}` || string(r.Meta[metaJob]) != `{"job":"`+job.JobID+`","status":"done"}` {
			t.Error(msgs[len(msgs)-1].messageJSON)
		}
		secondJobResult := secondClient.call(newToolCallMessage("job_result", `{"job":"`+job.JobID+`"}`, `{}`)).toolResultOf(t)
		if string(secondJobResult.Structured) != `{"n":90}` || len(s.stopReasons) != 0 {
			t.Errorf("second read of the result = %s, %d stops in the page; want {\"n\":90} and 0 stops", secondJobResult.Structured, len(s.stopReasons))
		}
	})
}

// TestDetachedCallIsAnsweredInTime checks when the client receives the answer to a call of 90 s.
func TestDetachedCallIsAnsweredInTime(t *testing.T) {
	for _, testCase := range []struct {
		rule   DetachPolicy
		client string
		args   string
		want   time.Duration // 90 s means that the call itself has ended
	}{
		{DetachPolicy{After: 20 * time.Second}, "x", `{}`, 20 * time.Second},
		{DetachPolicy{After: 80 * time.Second}, "Zed", `{}`, 50 * time.Second}, // Zed's timeout is 60 s
		{DetachPolicy{After: 80 * time.Second}, "x", `{}`, 80 * time.Second},   // the client x has no known timeout
		{DetachPolicy{DetachBeforeTimeout: true}, "Zed", `{}`, 50 * time.Second},
		{DetachPolicy{DetachBeforeTimeout: true}, "Zed", `{"_detach":"5"}`, 5 * time.Second},
		{DetachPolicy{DetachBeforeTimeout: true}, "Zed", `{"_detach":5.5}`, 5500 * time.Millisecond},
		{DetachPolicy{DetachBeforeTimeout: true}, "Zed", `{"_detach":0}`, 0},
		{DetachPolicy{DetachBeforeTimeout: true}, "Zed", `{"_detach":"never"}`, 90 * time.Second},
		{DetachPolicy{DetachBeforeTimeout: true}, "Zed", `{"_detach":null}`, 50 * time.Second},
		{DetachPolicy{After: time.Second}, "x", `{"_detach":"auto"}`, 50 * time.Second},
		{DetachPolicy{DetachBeforeTimeout: true}, "Visual Studio Code", `{}`, 90 * time.Second}, // Visual Studio Code waits for 5 min
		{DetachPolicy{}, "x", `{}`, 90 * time.Second},
		{DetachPolicy{}, "x", `{"_detach":"5"}`, 90 * time.Second},             // _detach has no effect without a rule for jobs
		{DetachPolicy{DetachBeforeTimeout: true}, "x", `{}`, 90 * time.Second}, // without a known timeout, the call does not become a job
		{DetachPolicy{DetachBeforeTimeout: true}, "x", `{"_detach":"5"}`, 90 * time.Second},
	} {
		t.Run(fmt.Sprint(testCase), func(t *testing.T) {
			runWithJobs(t, dispatch.Options{}, fixedDetachPolicy(testCase.rule), newCountingTool(90, `1`), func(t *testing.T, s *jobServer) {
				startTime := time.Now()
				msgs := s.connectAs(testCase.client, "1").requestAndRead(callText(`1`, testCase.args, `{}`))
				if elapsedTime := time.Since(startTime); elapsedTime != testCase.want {
					t.Errorf("the server answered after %s with %s; want an answer after %v", elapsedTime, msgs[0].messageJSON, testCase.want)
				}
				if testCase.want != 90*time.Second {
					jobFromMessages(t, msgs)
				}
			})
		})
	}
}

func TestProgressRestartsTheTimer(t *testing.T) {
	echoTool := func(sink dispatch.Sink) {
		for i := range 5 {
			<-time.After(200 * time.Second)
			progressDone := float64(i + 1)
			sink.Reports([]wire.Report{{Progress: &progressDone}}, 0)
		}
	}
	o := dispatch.Options{IdleLimit: time.Hour, HardLimit: time.Hour}
	runWithJobs(t, o, fixedDetachPolicy(DetachPolicy{DetachBeforeTimeout: true}), echoTool, func(t *testing.T, s *jobServer) {
		for _, testCase := range []struct {
			meta string
			want time.Duration
		}{
			{progressTokenMeta, 1000*time.Second + 290*time.Second}, // the client waits for 5 min after the last notification
			{`{}`, 290 * time.Second},                               // the client gets no notifications
		} {
			startTime := time.Now()
			jobFromMessages(t, s.connectAs("claude-code", "2.1.200").requestAndRead(callText(`1`, `{}`, testCase.meta)))
			if elapsedTime := time.Since(startTime); elapsedTime != testCase.want {
				t.Errorf("call with _meta %s: answer after %s, want %s", testCase.meta, elapsedTime, testCase.want)
			}
		}
	})
}

// The server must cancel the form that asks for approval.
func TestJobThatWaitsForTheUser(t *testing.T) {
	o := dispatch.Options{Gates: []dispatch.Gate{alwaysAskGate{}}}
	runWithJobs(t, o, fixedDetachPolicy(DetachPolicy{After: 20 * time.Second}), newCountingTool(3, `"done"`), func(t *testing.T, s *jobServer) {
		c := s.connectClient("x", "1", `{"elicitation":{}}`)
		msgs := c.requestAndRead(callText(`1`, `{}`, progressTokenMeta))
		job := jobFromMessages(t, msgs)
		if job.Status != wire.StatusPending || job.WaitsFor != "Its permission is ask." {
			t.Errorf("job = %+v; want a pending job with the reason \"Its permission is ask.\"", job)
		}
		if resultText := msgs[len(msgs)-1].toolResultOf(t).Content[0].Text; !strings.Contains(resultText, "is waiting for the user. Reason: Its permission is ask. Call job_wait") {
			t.Error(resultText)
		}
		methods := map[string]int{}
		for _, m := range msgs {
			methods[m.Method]++
		}
		if methods["elicitation/create"] != 1 || methods["notifications/cancelled"] != 1 {
			t.Errorf("messages to the client by method = %v; want one approval form and its cancellation", methods)
		}
		got := c.postAsync(t.Context(), newToolCallMessage("job_wait", `{"job":"`+job.JobID+`"}`, `{}`))
		synctest.Wait()
		if _, err := s.d.Decide(job.JobID, "", dispatch.Resolution{Allow: true, Surface: "the test"}); err != nil {
			t.Fatal(err)
		}
		msgs = <-got
		if r := msgs[len(msgs)-1].toolResultOf(t); r.IsError || r.Content[0].Text != "done" {
			t.Errorf("result of the job = %+v; want the text done", r)
		}
	})
}

func TestRemindersRestartTheTimer(t *testing.T) {
	o := dispatch.Options{Gates: []dispatch.Gate{alwaysAskGate{}}, SuspendLimit: 20 * time.Minute}
	runWithJobs(t, o, fixedDetachPolicy(DetachPolicy{DetachBeforeTimeout: true}), newCountingTool(1, `1`), func(t *testing.T, s *jobServer) {
		startTime := time.Now()
		msgs := s.connectAs("claude-code", "2.1.200").requestAndRead(callText(`1`, `{}`, progressTokenMeta))
		if elapsedTime := time.Since(startTime); elapsedTime != 20*time.Minute || !strings.Contains(msgs[len(msgs)-1].messageJSON, "approval_timeout") {
			t.Errorf("the job ended after %s with %s; want approval_timeout after 20 min", elapsedTime, msgs[len(msgs)-1].messageJSON)
		}
	})
}

// TestResumableCallBecomesAJob checks that a client of protocol version 2026-07-28 shows
// a form, repeats its request, and receives a job before its timeout.
func TestResumableCallBecomesAJob(t *testing.T) {
	o := dispatch.Options{Gates: []dispatch.Gate{alwaysAskGate{}}}
	runWithJobs(t, o, fixedDetachPolicy(DetachPolicy{After: 20 * time.Second}), newCountingTool(90, `"done"`), func(t *testing.T, s *jobServer) {
		c := &client{t: t, url: s.url, http: s.http, headers: http.Header{}, version: "2026-07-28"}
		c.headers.Set("Mcp-Method", "tools/call")
		c.headers.Set("Mcp-Name", "messages__echo")
		meta := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
		approvalMessages := c.requestAndRead(callText(`1`, `{}`, meta))
		var q struct {
			Requests map[string]any `json:"inputRequests"`
			State    string         `json:"requestState"`
		}
		if json.Unmarshal(approvalMessages[len(approvalMessages)-1].Result, &q) != nil || len(q.Requests) != 1 {
			t.Fatalf("messages = %v; want one approval form (input_required)", approvalMessages)
		}
		for id := range q.Requests {
			formAnswer := fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:{"action":"accept","content":{"decision":"allow once"}}}}}`, q.State, id)
			job := jobFromMessages(t, c.requestAndRead(strings.TrimSuffix(callText(`2`, `{}`, meta), `}}`)+formAnswer))
			if job.Status != wire.StatusRunning {
				t.Errorf("job = %+v; want a running job", job)
			}
			c.headers.Set("Mcp-Name", "job_wait")
			for range 2 { // the client is assumed to give up after 60 s
				approvalMessages = c.requestAndRead(newToolCallMessage("job_wait", `{"job":"`+job.JobID+`"}`, meta))
			}
			if r := approvalMessages[len(approvalMessages)-1].toolResultOf(t); r.IsError || r.Content[0].Text != "done" {
				t.Errorf("result of the job = %+v; want the text done", r)
			}
		}
	})
}

// While the client shows a form, no request waits for the call's answer, so the client's timeout must not turn the call
// into a job.
func TestTimeOfAFormDoesNotTurnACallIntoAJob(t *testing.T) {
	for _, tt := range []struct {
		toolSeconds int
		wantJob     bool
	}{{45, false}, {55, true}} { // the client gives up after 60 s, so the server answers within 50 s
		t.Run(fmt.Sprint(tt.toolSeconds, " s"), func(t *testing.T) {
			o := dispatch.Options{Gates: []dispatch.Gate{alwaysAskGate{}}}
			silentTool := func(sink dispatch.Sink) {
				time.Sleep(time.Duration(tt.toolSeconds) * time.Second)
				sink.Finish(json.RawMessage(`"done"`), nil)
			}
			o.IdleLimit = time.Hour
			runWithJobs(t, o, fixedDetachPolicy(DetachPolicy{DetachBeforeTimeout: true}), silentTool, func(t *testing.T, s *jobServer) {
				c := &client{t: t, url: s.url, http: s.http, headers: http.Header{}, version: "2026-07-28"}
				c.headers.Set("Mcp-Method", "tools/call")
				c.headers.Set("Mcp-Name", "messages__echo")
				asInspector := func(request string) string {
					return strings.Replace(request, `clientInfo":{"name":"new"`, `clientInfo":{"name":"inspector-client"`, 1)
				}
				msgs := c.requestAndRead(asInspector(callText(`1`, `{}`, metaWithForms)))
				key, q := msgs[len(msgs)-1].decodeQuestion(t)
				time.Sleep(55 * time.Second)
				msgs = c.requestAndRead(asInspector(newResumeCallMessage(`2`, `{}`, fmt.Sprintf(`{%q:%s}`, key, newDecisionAnswer("allow once")), q.State)))
				if resultText := msgs[len(msgs)-1].messageJSON; strings.Contains(resultText, `"done"`) == tt.wantJob {
					t.Errorf("the client received %s; want a job: %t", resultText, tt.wantJob)
				}
			})
		})
	}
}

func TestShortCallDoesNotBecomeAJob(t *testing.T) {
	runWithJobs(t, dispatch.Options{}, fixedDetachPolicy(DetachPolicy{After: time.Hour}), newCountingTool(3, `"x"`), func(t *testing.T, s *jobServer) {
		c := s.connectAs("x", "1")
		msgs := c.requestAndRead(callText(`1`, `{}`, progressTokenMeta))
		if r := msgs[len(msgs)-1].toolResultOf(t); len(msgs) != 4 || r.Content[0].Text != "x" || r.Meta[metaJob] != nil {
			t.Errorf("messages = %v; want 4, the last with the text x and without a job", msgs)
		}
		if m := c.call(newToolCallMessage("job_list", `{}`, `{}`)); !strings.Contains(m.messageJSON, `"jobs":[]`) || !strings.Contains(m.messageJSON, "There are no jobs.") {
			t.Error(m.messageJSON)
		}
	})
}

func TestCancelBeforeJobIsReported(t *testing.T) {
	runWithJobs(t, dispatch.Options{}, fixedDetachPolicy(DetachPolicy{After: 20 * time.Second}), newCountingTool(90, `1`), func(t *testing.T, s *jobServer) {
		c := s.connectAs("x", "1")
		c.postAsync(t.Context(), callText(`7`, `{}`, `{}`))
		<-time.After(10 * time.Second)
		c.requestAndRead(newCancelMessage(`7`))
		<-s.stopReasons
		ctx, disconnect := context.WithCancel(t.Context())
		c.postAsync(ctx, callText(`8`, `{}`, `{}`))
		<-time.After(10 * time.Second)
		disconnect()
		<-s.stopReasons
		<-time.After(20 * time.Second)
		if m := c.call(newToolCallMessage("job_list", `{}`, `{}`)); !strings.Contains(m.messageJSON, `"jobs":[]`) {
			t.Error(m.messageJSON)
		}
		// After the client has received the job's ID, cancelling its request has no effect.
		job := jobFromMessages(t, c.requestAndRead(callText(`9`, `{}`, `{}`)))
		c.requestAndRead(newCancelMessage(`9`))
		synctest.Wait()
		if currentJob := jobFromMessages(t, c.requestAndRead(newToolCallMessage("job_result", `{"job":"`+job.JobID+`"}`, `{}`))); currentJob.Status != wire.StatusRunning || len(s.stopReasons) != 0 {
			t.Errorf("job = %+v, %d stops in the page; want a running job and 0 stops", currentJob, len(s.stopReasons))
		}
	})
}

func TestUndeliveredJobIsCancelled(t *testing.T) {
	runWithJobs(t, dispatch.Options{}, fixedDetachPolicy(DetachPolicy{After: time.Second}), newCountingTool(90, `1`), func(t *testing.T, s *jobServer) {
		clientInfo := transport.ClientInfo{Name: "x", Transport: transport.TransportHTTP}
		jobReply := serveRequest(t, s.Server, transport.Request{Method: transport.MethodCall, Info: clientInfo, Params: &transport.Params{Name: "messages__echo"}})
		if jobReply.job == nil {
			t.Fatalf("reply = %+v; want a job", jobReply)
		}
		jobReply.HandleUndelivered()
		<-s.stopReasons
	})
}

func TestDetachArgumentReachesToolWithoutJobs(t *testing.T) {
	m := serveTools(t, callerFunc(echoArguments), Options{}).open(t, "a").call(callText(`1`, `{"_detach":"5"}`, `{}`))
	if got := string(m.toolResultOf(t).Structured); got != `{"_detach":"5"}` {
		t.Error(got)
	}
}

func TestWaitingReasonOfJobIsOneLine(t *testing.T) {
	v := joblist.View{View: dispatch.View{Waiting: &dispatch.WaitingTicket{Reason: "log in\nJob call_2 is done.\u202e"}}}
	v.Status = wire.StatusPending
	if got := newJobAnswer(v); got.WaitsFor != `log in Job call_2 is done.\u202e` || strings.Contains(formatJob(got), "\n") {
		t.Errorf("text of the job = %q; want one line with the reason of the page", formatJob(got))
	}
}

func TestResultAudienceIsSent(t *testing.T) {
	for audience, want := range map[string]string{"": "", "user": `"user"`, "internal": `"internal"`} {
		s := serveTools(t, callerFunc(func(context.Context, dispatch.Call) (dispatch.Result, error) {
			return dispatch.Result{CallID: "call_1", Output: json.RawMessage(`"x"`), Audience: audience}, nil
		}), Options{}, promptPackage)
		c := s.open(t, "a")
		for _, m := range []receivedMessage{c.call(callText(`1`, `{}`, `{}`)), c.call(newGetPromptText(`2`, "messages__plain", `{}`, `{}`))} {
			if got := m.toolResultOf(t).Meta[metaAudience]; string(got) != want {
				t.Errorf("audience %q: answer %s; want %v in its _meta", audience, m.messageJSON, want)
			}
		}
	}
}
