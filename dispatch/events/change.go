package events

import (
	"time"

	"opentabs/dispatch/progress"
	"opentabs/wire"
)

// CallFacts contains what never changes about a call, such as its tool and client. All
// changes of a call share one CallFacts.
type CallFacts struct {
	CallID, ParentCallID, ParentNodeID string
	Plugin, Tool                       string
	Client                             Client
	Caller                             *Caller
	Created                            time.Time
	NestingDepth                       int
	Prompt                             bool
	// IsBrowserTool is true for a browser tool, whose full name is Tool without the name of a
	// plugin.
	IsBrowserTool bool
	// End is memory for the Details of the ended event, allocated in advance so that the publication of the event
	// allocates nothing.
	End Details
}

// ToolName returns the full name of a plugin's tool, which agents use: <plugin>__<tool>.
func ToolName(plugin, tool string) string { return plugin + "__" + tool }

// State contains the facts about a call that can change, such as its status and progress.
// A State is a copy, so later changes of the call do not affect it.
type State struct {
	Status wire.CallStatus
	// Browser is the ID, and BrowserName the name, of the browser in which the call runs.
	Browser     string
	BrowserName string
	TabID       int
	URL         string
	ArgsStart   string
	RunTime     time.Duration
	Ended       time.Time // Ended is the zero time until the call has ended
	Reports     ReportSummary
	EndAudience string
	Result      ResultStart
	// The field Waiting is the open ticket of the call, or nil. Decision is the user's
	// last decision about the call, or nil. Several copies of a State share Waiting and
	// Decision, so no code may modify the values behind these pointers.
	Waiting  *WaitingTicket
	Decision *Resolution
	// ErrorCode and Error are the code and the message of a failed call's error. NextStep is
	// advice for the user, or empty if Error already contains advice.
	ErrorCode       wire.ErrorCode
	Error, NextStep string
	CancelReason    string
	StopOutcome     wire.CancelOutcome
}

// ReportSummary is what surfaces show of a call's progress reports.
type ReportSummary struct {
	// Count is the number of progress reports, and InvalidCount is the number of reports with
	// invalid numbers.
	Count, InvalidCount int
	// AnyAudience summarizes the progress reports for all audiences, and UserAudience only the
	// reports for the user.
	AnyAudience, UserAudience LastReportValues
}

// LastReportValues contains the last valid numbers, the last message and the last status word
// that a tool reported.
type LastReportValues struct {
	Numbers             progress.Numbers
	Message, StatusWord string
}

// Change is one change of a call, from which an [Event] is built when a subscriber reads.
// Creating a Change is cheap, so that calls are hardly delayed. A published Change, its
// CallFacts and its Details are read-only.
type Change struct {
	Kind Kind
	Time time.Time
	Call *CallFacts
	// The field Details is nil for the created event and for the first running event of a
	// call.
	Details *Details
}

// Details contain the state of a call after a change, and what caused the change.
type Details struct {
	State State
	// Report is the tool's report without its activity, if Kind is KindProgress.
	Report *wire.Report
	// Activity is the changed content, if Kind is KindActivity.
	Activity *wire.Activity
	// Resolution is the user's decision, if Kind is KindResumed.
	Resolution *Resolution
	Audience   string
}

var initialDetails = map[Kind]*Details{
	KindCreated: {State: State{Status: wire.StatusPending}},
	KindRunning: {State: State{Status: wire.StatusRunning}},
}

func (c *Change) details() *Details {
	if c.Details == nil {
		return initialDetails[c.Kind]
	}
	return c.Details
}

func (c *Change) size() int {
	const size = 1536
	d := c.Details
	if d == nil {
		return size
	}
	textBytes := len(d.State.Reports.AnyAudience.Message) + len(d.State.Reports.UserAudience.Message) + len(d.State.Error) + len(d.State.Result.encodedStart)
	if d.Activity != nil {
		textBytes += len(d.Activity.Content) + len(d.Activity.Patch)
	}
	if d.State.Waiting != nil {
		textBytes += len(d.State.Waiting.Args)
	}
	return size + 2*textBytes
}

// viewStorage contains the values to which the pointers of a View refer, so that a View
// needs one allocation.
type viewStorage struct {
	loadedBytes, totalProgress, fraction, userFraction float64
	endedAt                                            time.Time
}

// NewView builds the View of a call from its constant facts and its current state.
func NewView(callFacts *CallFacts, s *State) View {
	return newView(callFacts, s, &viewStorage{})
}

func newView(callFacts *CallFacts, s *State, storage *viewStorage) View {
	toolName := callFacts.Tool
	if !callFacts.IsBrowserTool {
		toolName = ToolName(callFacts.Plugin, callFacts.Tool)
	}
	v := View{
		Snapshot: Snapshot{
			Schema: SnapshotSchema, NodeID: callFacts.CallID, CallID: callFacts.CallID,
			ToolName: toolName, Progression: Progression{Status: s.Status, Message: s.Reports.AnyAudience.Message},
			ParentNodeID: callFacts.ParentNodeID, ParentCallID: callFacts.ParentCallID,
		},
		Plugin: callFacts.Plugin, Tool: callFacts.Tool, Requester: callFacts.Client.Requester(),
		Browser: s.Browser, BrowserName: s.BrowserName, TabID: s.TabID, URL: s.URL, ArgsStart: s.ArgsStart,
		Created: callFacts.Created, RunMs: float64(s.RunTime) / float64(time.Millisecond),
		ReportCount: s.Reports.Count, InvalidCount: s.Reports.InvalidCount, Prompt: callFacts.Prompt, NestingDepth: callFacts.NestingDepth, Caller: callFacts.Caller,
		UserMessage: s.Reports.UserAudience.Message, StatusWord: s.Reports.AnyAudience.StatusWord, UserStatusWord: s.Reports.UserAudience.StatusWord,
		EndAudience: s.EndAudience, Result: s.Result.Text(),
		ErrorCode: s.ErrorCode, Error: s.Error, NextStep: s.NextStep, CancelReason: s.CancelReason, StopOutcome: s.StopOutcome, Decision: s.Decision,
	}
	if n := s.Reports.AnyAudience.Numbers; n.HasProgress {
		storage.loadedBytes = n.Progress
		if n.HasLoadedBytes {
			storage.loadedBytes = n.LoadedBytes
		}
		v.Loaded = &storage.loadedBytes
	}
	if n := s.Reports.AnyAudience.Numbers; n.HasTotal {
		storage.totalProgress = n.Total
		v.Total = &storage.totalProgress
		v.Progress = fractionOf(n, &storage.fraction)
	}
	v.UserProgress = fractionOf(s.Reports.UserAudience.Numbers, &storage.userFraction)
	if s.Waiting != nil {
		waitingTicket := *s.Waiting
		v.Waiting = &waitingTicket
	}
	if s.Status == wire.StatusPending {
		v.Status = pendingStatus(s.Waiting)
	}
	if !s.Ended.IsZero() {
		storage.endedAt = s.Ended
		v.Ended = &storage.endedAt
	}
	return v
}

func fractionOf(n progress.Numbers, fraction *float64) *float64 {
	switch {
	case !n.HasTotal:
		return nil
	case n.Total > 0:
		*fraction = n.Progress / n.Total
	case n.IsFinal(): // a report with progress 0 and total 0 counts as final
		*fraction = 1
	default:
		return nil
	}
	return fraction
}

func newEvent(c *queuedChange, seq uint64) *Event {
	eventAndView := &struct {
		Event
		shared sharedEncoding
		view   viewStorage
	}{}
	details := c.details()
	eventAndView.Event = Event{
		Seq: seq, Time: c.Time, Kind: c.Kind, Call: newView(c.Call, &details.State, &eventAndView.view),
		Report: details.Report, Activity: details.Activity, Resolution: details.Resolution, Audience: details.Audience, shared: &eventAndView.shared,
	}
	eventAndView.shared.size = c.size
	return &eventAndView.Event
}

// changeQueue is a bounded queue of changes in a ring buffer, which drops the oldest change
// when it is full. The zero changeQueue is empty.
type changeQueue struct {
	slots                 []queuedChange
	firstSlotIndex, count int
	bytes                 int
}

type queuedChange struct {
	Change
	size int
}

const initialSlotCount = 64

func (q *changeQueue) push(c Change) {
	size := c.size()
	for q.count == maxRingEvents || q.count > 0 && q.bytes+size > maxRingBytes {
		oldestChange := &q.slots[q.firstSlotIndex]
		q.bytes -= oldestChange.size
		*oldestChange = queuedChange{}
		q.firstSlotIndex = (q.firstSlotIndex + 1) & (len(q.slots) - 1)
		q.count--
	}
	if q.count == len(q.slots) {
		q.grow()
	}
	q.slots[(q.firstSlotIndex+q.count)&(len(q.slots)-1)] = queuedChange{c, size}
	q.count++
	q.bytes += size
}

func (q *changeQueue) grow() {
	largerSlots := make([]queuedChange, max(initialSlotCount, 2*len(q.slots)))
	copiedCount := copy(largerSlots, q.slots[q.firstSlotIndex:])
	copy(largerSlots[copiedCount:], q.slots[:q.firstSlotIndex])
	q.slots, q.firstSlotIndex = largerSlots, 0
}

func (q *changeQueue) at(i int) *queuedChange { return &q.slots[(q.firstSlotIndex+i)&(len(q.slots)-1)] }

func (q *changeQueue) reset() {
	if len(q.slots) > initialSlotCount && q.count < len(q.slots)/8 {
		*q = changeQueue{}
		return
	}
	clear(q.slots)
	*q = changeQueue{slots: q.slots}
}
