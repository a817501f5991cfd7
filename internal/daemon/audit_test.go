package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/internal/audit"
	"opentabs/internal/config"
	"opentabs/internal/recorder"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// For each of the user's answers to a tool, the audit log must have a separate record.
func TestEachUserAnswerIsAudited(t *testing.T) {
	registry, _ := testCatalog(t, plugintest.Package{Name: "one"})
	dir := t.TempDir()
	reviews := newReviewedPolicy(t, config.Dirs{State: t.TempDir()}, registry)
	log := audit.Open(dir, zerolog.Nop())
	startTime := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	endTime := startTime.Add(time.Minute)
	callInfo := dispatch.CallInfo{CallID: "call_1", Tool: dispatch.Tool{Plugin: "one", Name: "echo"}}
	records := recorder.Open(dir, recorder.Options{})
	defer records.Close()
	callAuditor{log, records, policy.NewEnforcer(reviews)}.AfterCall(callInfo, dispatch.EndedCall{
		View: dispatch.View{
			Snapshot: dispatch.Snapshot{CallID: "call_1", ToolName: "one__echo", Progression: dispatch.Progression{Status: wire.StatusFailed}, ParentCallID: "call_0"},
			Plugin:   "one", Tool: "echo", Requester: dispatch.Requester{Client: "C", Session: "session-1"}, Browser: "b", TabID: 3, Created: startTime, Ended: &endTime,
			RunMs: 1500, ReportCount: 7, ErrorCode: wire.ErrToolError, Error: "S3CRET", EndAudience: "user", StopOutcome: wire.CancelAborted,
		},
		Target: dispatch.Target{URL: "https://user:S3CRET@example.com:8443/S3CRET?q=S3CRET#S3CRET"},
		Output: []byte(`"S3CRET"`),
		Resolutions: []dispatch.Resolution{
			{Gate: "permission", Allow: true, Scope: wire.ScopeOnce, Surface: "the side panel", DecidedAt: startTime},
			{Allow: false, Surface: "opentabs calls deny", DecidedAt: startTime, Data: []byte(`"S3CRET"`)},
		},
		LastMessages: []dispatch.ToolMessage{{Message: "half", Audience: "user"}},
	})
	log.Close()
	auditEntries, _, err := audit.Read(dir, 0, func(audit.Record) bool { return true })
	if err != nil || len(auditEntries) != 2 {
		t.Fatalf("the audit log has %d records, error %v; want 2", len(auditEntries), err)
	}
	decisionRecord, call := auditEntries[0].Record, auditEntries[1]
	if decisionRecord.Kind != audit.KindAnswer || decisionRecord.By != "opentabs calls deny" || *decisionRecord.Allow || !decisionRecord.Time.Equal(startTime) || decisionRecord.CallID != "call_1" {
		t.Errorf("record of the answer = %+v; want a denial by opentabs calls deny for call_1", decisionRecord)
	}
	const want = `"kind":"call","tool":"one__echo","hash":"HASH","call_id":"call_1","parent_call_id":"call_0","client":"C","session":"session-1",` +
		`"browser":"b","tab":3,"origin":"https://example.com:8443","came":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:05:05Z","ran_ms":1500,` +
		`"status":"failed","code":"tool_error","stopped":"aborted","reports":7,"approved":{"scope":"always","by":"test","at":"AT"},` +
		`"decisions":[{"at":"2026-01-02T03:04:05Z","by":"the side panel","allow":true,"scope":"once","asked":"permission"},` +
		`{"at":"2026-01-02T03:04:05Z","by":"opentabs calls deny","allow":false}],` +
		`"audience":"user"`
	testPlugin, _ := registry.Set().Plugin("one")
	permissionSetTime := reviews.State("one").PermissionOrigin.At.Format(time.RFC3339)
	if got := string(call.Line); !strings.Contains(got, strings.NewReplacer("HASH", testPlugin.ContentHash(), "AT", permissionSetTime).Replace(want)) {
		t.Errorf("record of the call =\n%s\nwant in it\n%s", got, want)
	}
	if got := string(call.Line); strings.Contains(got, "S3CRET") || !strings.HasSuffix(got, `[{"time":"0001-01-01T00:00:00Z","message":"half","audience":"user"}]}`) {
		t.Errorf("record of the call = %s; want no secret, and the last message at the end", got)
	}
}
