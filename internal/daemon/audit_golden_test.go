package daemon

import (
	"bytes"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/internal/audit"
	"opentabs/internal/config"
	"opentabs/internal/goldentest"
	"opentabs/internal/recorder"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// TestAuditRecordMatchesGoldenFile compares the bytes of the audit log with a golden file, for a call
// with every field and for an empty call.
func TestAuditRecordMatchesGoldenFile(t *testing.T) {
	registry, _ := testCatalog(t)
	dir := t.TempDir()
	reviews := newReviewedPolicy(t, config.Dirs{State: t.TempDir()}, registry)
	log := audit.Open(dir, zerolog.Nop())
	auditor := callAuditor{log, recorder.Open(t.TempDir(), recorder.Options{}), policy.NewEnforcer(reviews)}
	callInfo := dispatch.CallInfo{CallID: "call_1", Tool: dispatch.Tool{Plugin: "messages", Name: "export"}}
	viewWithoutToken := dispatchtest.View()
	viewWithoutToken.Client, viewWithoutToken.ClientCredential, viewWithoutToken.ClaimedName = "claude-code", dispatch.CredentialStdio, ""
	for _, v := range []dispatch.View{dispatchtest.View(), viewWithoutToken, {}} {
		auditor.AfterCall(callInfo, dispatch.EndedCall{
			View: v, Target: dispatch.Target{URL: "https://messages.example/a?b"}, Resolutions: []dispatch.Resolution{*dispatchtest.Resolution()},
			LastMessages: []dispatch.ToolMessage{{Time: dispatchtest.ArrivalTime, Message: "half", Audience: dispatch.AudienceUser}},
		})
	}
	yes := true
	at := dispatchtest.ArrivalTime
	decision := audit.Record{
		Time: at, Kind: audit.KindDecision, Tool: "messages__export", Hash: "abc", By: "the side panel", Allow: &yes, Scope: wire.ScopeTime, DurationMs: 1000,
	}
	decision.CallID, decision.Client, decision.Caller = "call_1", "laptop", dispatchtest.View().Caller
	log.Write(decision)
	logRecord := audit.Record{Time: at, Kind: audit.KindLog, Tool: "messages", Level: wire.LogWarning, Message: "slow", Dropped: 2}
	logRecord.Browser, logRecord.TabID = "b1", 7
	log.Write(logRecord)
	log.Write(audit.Record{Time: at, Kind: audit.KindPermission, Tool: "messages", By: "the command line", Old: "ask", New: "always"})
	log.Close()
	auditEntries, _, err := audit.Read(dir, 0, func(audit.Record) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for i, e := range auditEntries {
		_, line, _ := bytes.Cut(e.Line, []byte(`"time":`)) // removes the sequence numbers and hashes, which differ in each run
		line = append([]byte(`{"time":`), line...)
		if i < 3 { // the recording time differs in each run
			_, textAfter, _ := bytes.Cut(line, []byte(`"kind":`))
			line = append([]byte(`{"time":"...","kind":`), textAfter...)
		}
		b.Write(append(bytes.TrimSpace(line), '\n'))
	}
	goldentest.Compare(t, "testdata/audit.jsonl", b.Bytes())
}
