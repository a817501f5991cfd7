package daemon

import (
	"cmp"
	"context"
	"time"

	"opentabs/browser"
	"opentabs/dispatch"
	"opentabs/internal/audit"
	"opentabs/internal/pluginlog"
	"opentabs/internal/recorder"
	"opentabs/mcpserver"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// callAuditor writes ended calls into the audit log and into the recorder, and the user's
// decisions into the audit log.
type callAuditor struct {
	log      *audit.Log
	recorder *recorder.Recorder
	policy   *policy.Policy
	enforcer *policy.Enforcer
}

var _ dispatch.AfterHook = callAuditor{}

// After implements dispatch.AfterHook. The hook After runs before the policy's hook,
// because the policy's hook discards why the call was allowed.
func (a callAuditor) After(callInfo dispatch.CallInfo, e dispatch.EndedCall) {
	r := audit.RecordOfCall(e)
	facts := a.facts(callInfo, e)
	r.Origin, r.Hash = facts.Site, facts.Hash
	if approval, ok := a.enforcer.Approval(callInfo); ok {
		r.Approved = &audit.Approval{Scope: approval.Scope, By: approval.By, At: approval.At}
		facts.Approved = (*recorder.Approval)(r.Approved)
	}
	a.recorder.Add(e, facts)
	for _, d := range e.Resolutions {
		r.Decisions = append(r.Decisions, audit.Decision{At: d.DecidedAt.UTC(), By: d.Surface, Allow: d.Allow, Scope: d.Scope, Asked: d.Gate})
		if d.Gate == "" { // a gate that asked the user writes its own record
			answer := audit.Record{Time: d.DecidedAt.UTC(), Kind: audit.KindAnswer, Tool: r.Tool, By: d.Surface, Allow: &d.Allow}
			answer.CallID = r.CallID
			a.log.Write(answer)
		}
	}
	a.log.Write(r)
}

var _ dispatch.OpenHook = callAuditor{}

// Open implements dispatch.OpenHook. After a crash, the recorder makes a record of the call.
func (a callAuditor) Open(callInfo dispatch.CallInfo, e dispatch.EndedCall) {
	a.recorder.AddOpen(e, a.facts(callInfo, e))
}

// facts returns the site and the content hash of a call.
func (a callAuditor) facts(callInfo dispatch.CallInfo, e dispatch.EndedCall) recorder.Facts {
	facts := recorder.Facts{Site: cmp.Or(browser.SiteOfCall(callInfo, e), dispatch.OriginOf(e.Target.URL))}
	if review := a.policy.State(callInfo.Tool.Plugin).Review; review != nil {
		facts.Hash = review.Hash
	}
	return facts
}

// auditInterrupted writes a call into the audit log that an earlier server did not end.
func auditInterrupted(log *audit.Log, call recorder.Record) {
	r := audit.RecordOfCall(dispatch.EndedCall{View: call.View, LastMessages: call.LastMessages})
	r.Origin, r.Hash = call.Site, call.Hash
	log.Write(r)
}

// maxAuditedEntries is how many warnings and errors of one plugin the audit gets per
// minute. The audit gets only the number of further entries; the plugin log has all
// entries.
const maxAuditedEntries = 30

// forwardLogs sends the log entries of plugins to agents, and warnings and errors to
// the audit. forwardLogs returns when logs is closed.
func forwardLogs(logs *pluginlog.Log, mcp *mcpserver.Server, auditLog *audit.Log) {
	_, follower := logs.Follow(pluginlog.Filter{}, 0)
	defer follower.Close()
	auditor := logAuditor{writeRecord: auditLog.Write, minutes: map[string]*minuteCount{}}
	for {
		entries, _, err := follower.Next(context.Background())
		if err != nil {
			return
		}
		for _, e := range entries {
			auditor.record(e)
			mcp.ForwardLog(mcpserver.LogEntry{Plugin: e.Plugin, Level: e.Level, Message: e.Message, Data: e.Data, DroppedCount: e.Dropped})
		}
	}
}

// logAuditor writes warnings and errors of plugins into the audit, at most
// maxAuditedEntries per plugin and minute.
type logAuditor struct {
	writeRecord func(audit.Record)
	minutes     map[string]*minuteCount // the current minute of each plugin
}

// minuteCount counts the entries of one plugin in the current minute.
type minuteCount struct {
	began          time.Time
	writtenEntries int
	droppedEntries int
}

func (a logAuditor) record(e pluginlog.Entry) {
	if !(pluginlog.Filter{Level: wire.LogWarning}).Selects(e) {
		return
	}
	m := a.minutes[e.Plugin]
	if m == nil {
		m = &minuteCount{began: e.Time}
		a.minutes[e.Plugin] = m
	}
	if e.Time.Sub(m.began) >= time.Minute {
		*m = minuteCount{began: e.Time, droppedEntries: m.droppedEntries}
	}
	if m.writtenEntries == maxAuditedEntries {
		m.droppedEntries++
		return
	}
	m.writtenEntries++
	r := audit.Record{Time: e.Time, Kind: audit.KindLog, Tool: e.Plugin, Level: e.Level, Message: e.Message, Dropped: m.droppedEntries}
	r.Browser, r.TabID = e.Browser, e.Tab
	a.writeRecord(r)
	m.droppedEntries = 0
}
