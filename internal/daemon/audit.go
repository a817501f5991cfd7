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

// callAuditor writes ended calls to the audit log and to the recorder, and the user's
// decisions to the audit log.
type callAuditor struct {
	log      *audit.Log
	recorder *recorder.Recorder
	enforcer *policy.Enforcer
}

var _ dispatch.AfterHook = callAuditor{}

// AfterCall must run before the policy's hook, which discards the reason why the call was allowed.
func (a callAuditor) AfterCall(callInfo dispatch.CallInfo, e dispatch.EndedCall) {
	r := audit.RecordOfCall(e)
	facts := a.facts(callInfo, e)
	r.Origin, r.Hash = facts.Site, facts.Hash
	if approval, ok := a.enforcer.Approval(callInfo); ok {
		r.Approval = &audit.Approval{Scope: approval.Scope, By: approval.By, At: approval.At}
		facts.Approval = (*recorder.Approval)(r.Approval)
	}
	a.recorder.Add(e, facts)
	for _, d := range e.Resolutions {
		r.Decisions = append(r.Decisions, audit.Decision{At: d.DecidedAt.UTC(), By: d.Surface, Allow: d.Allow, Scope: d.Scope, RequestReason: d.Gate})
		if d.Gate == "" { // a gate that required approval writes a separate record
			decisionRecord := audit.Record{Time: d.DecidedAt.UTC(), Kind: audit.KindAnswer, Tool: r.Tool, By: d.Surface, Allow: &d.Allow}
			decisionRecord.CallID = r.CallID
			a.log.Write(decisionRecord)
		}
	}
	a.log.Write(r)
}

var _ dispatch.OpenCallHook = callAuditor{}

// Open writes unfinished calls to the recorder's file, which records them as interrupted after a crash.
func (a callAuditor) Open(callInfo dispatch.CallInfo, e dispatch.EndedCall) {
	a.recorder.AddOpenCall(e, a.facts(callInfo, e))
}

var _ dispatch.BeforeHook = callAuditor{}

// BeforeCall records that a call begins: if the daemon crashes later, the tool may have taken effect.
func (a callAuditor) BeforeCall(callInfo dispatch.CallInfo) *wire.CallError {
	a.recorder.Begin(callInfo.CallID)
	return nil
}

func (a callAuditor) facts(callInfo dispatch.CallInfo, e dispatch.EndedCall) recorder.CallFacts {
	facts := recorder.CallFacts{Site: cmp.Or(browser.SiteOfCall(callInfo, e), dispatch.OriginOf(e.Target.URL))}
	if review := a.enforcer.LatestState(callInfo.Tool.Plugin).Review; review != nil {
		facts.Hash = review.Hash
	}
	return facts
}

// An interrupted call was running when an earlier server process crashed or was killed.
func auditInterruptedCall(log *audit.Log, call recorder.Record) {
	r := audit.RecordOfCall(dispatch.EndedCall{View: call.View, LastMessages: call.LastMessages})
	r.Origin, r.Hash = call.Site, call.Hash
	log.Write(r)
}

// Beyond maxAuditedEntriesPerMinute per plugin and minute, the audit log has only the number of warnings and errors.
const maxAuditedEntriesPerMinute = 30

// forwardLogs returns when logs is closed.
func forwardLogs(logs *pluginlog.Log, mcp *mcpserver.Server, auditLog *audit.Log) {
	_, subscription := logs.Follow(pluginlog.Filter{}, 0)
	defer subscription.Close()
	auditor := logAuditor{writeRecord: auditLog.Write, countersByPlugin: map[string]*minuteEntryCount{}}
	for {
		logEntries, _, err := subscription.Next(context.Background())
		if err != nil {
			return
		}
		for _, e := range logEntries {
			auditor.record(e)
			mcp.ForwardLog(mcpserver.LogEntry{Plugin: e.Plugin, Level: e.Level, Message: e.Message, Data: e.Data, DroppedCount: e.Dropped})
		}
	}
}

// logAuditor writes warnings and errors of plugins to the audit log, at most
// maxAuditedEntriesPerMinute per plugin and minute.
type logAuditor struct {
	writeRecord      func(audit.Record)
	countersByPlugin map[string]*minuteEntryCount
}

// minuteEntryCount counts the log entries of one plugin in the current minute.
type minuteEntryCount struct {
	minuteStart    time.Time
	writtenEntries int
	droppedEntries int
}

func (a logAuditor) record(e pluginlog.Entry) {
	if !(pluginlog.Filter{Level: wire.LogWarning}).Matches(e) {
		return
	}
	m := a.countersByPlugin[e.Plugin]
	if m == nil {
		m = &minuteEntryCount{minuteStart: e.Time}
		a.countersByPlugin[e.Plugin] = m
	}
	if e.Time.Sub(m.minuteStart) >= time.Minute {
		*m = minuteEntryCount{minuteStart: e.Time, droppedEntries: m.droppedEntries}
	}
	if m.writtenEntries == maxAuditedEntriesPerMinute {
		m.droppedEntries++
		return
	}
	m.writtenEntries++
	r := audit.Record{Time: e.Time, Kind: audit.KindLog, Tool: e.Plugin, Level: e.Level, Message: e.Message, Dropped: m.droppedEntries}
	r.Browser, r.TabID = e.Browser, e.Tab
	a.writeRecord(r)
	m.droppedEntries = 0
}
