package events

import (
	"time"

	"opentabs/dispatch/progress"
	"opentabs/wire"
)

// CallFacts is what never changes about a call. All changes of a call share the same
// CallFacts.
type CallFacts struct {
	CallID, ParentCallID, ParentNodeID string
	Plugin, Tool                       string
	Client                             Client
	Caller                             *Caller
	Created                            time.Time
	Depth                              int
	Prompt                             bool
	// IsBrowserTool is set if Tool is the name for agents.
	IsBrowserTool bool
	// End is for the Details of the Ended of the call, so that the end allocates nothing.
	End Details
}

// ToolName returns the name of a tool for agents: <plugin>__<tool>.
func ToolName(plugin, tool string) string { return plugin + "__" + tool }

// State is what changes about a call. A State is a copy: it has no memory that the call
// changes later.
type State struct {
	Status wire.CallStatus
	// Browser is the ID and BrowserName the name of the browser in which the call runs.
	Browser     string
	BrowserName string
	TabID       int
	URL         string
	ArgsStart   string
	RunTime     time.Duration
	Ended       time.Time // zero before the end
	Reports     ReportSummary
	EndAudience string
	Result      ResultStart
	// Waiting is the open ticket of the call, and Decision is the last decision about a
	// ticket of the call. Both are read-only, and nil if the call has none.
	Waiting  *WaitingTicket
	Decision *Resolution
	// ErrorCode and Error are the code and the message of a failed call. NextStep is the
	// advice for the user; NextStep is "" if Error contains the advice.
	ErrorCode       wire.ErrorCode
	Error, NextStep string
	CancelReason    string
	StopOutcome     wire.CancelOutcome
}

// ReportSummary is what surfaces show of the reports of a call.
type ReportSummary struct {
	// Count counts all reports, InvalidCount the reports whose numbers were dropped.
	Count, InvalidCount int
	// AnyAudience is from the last reports of any audience, UserAudience from the last
	// reports for the user.
	AnyAudience, UserAudience ShownReport
}

// ShownReport is the last valid numbers, the last message and the last status word.
type ShownReport struct {
	Numbers             progress.Numbers
	Message, StatusWord string
}

// Change is one change of a call, before an [Event] is made of it. Making a Change is
// cheap, because the call pays for it; the Event is made when a follower reads. A
// published Change, its CallFacts and its Details are read-only.
type Change struct {
	Kind Kind
	Time time.Time
	Call *CallFacts
	// Details is nil for the Created and for the first Running of a call.
	Details *Details
}

// Details are the state of a call after a change, and the cause of the change.
type Details struct {
	State State
	// Report is the report of a Progress, without its activity; else nil.
	Report *wire.Report
	// Activity is the activity of an Activity.
	Activity *wire.Activity
	// Resolution is the decision of a Resumed.
	Resolution *Resolution
	Audience   string
}

// firstDetails are the Details of a change without Details.
var firstDetails = map[Kind]*Details{
	Created: {State: State{Status: wire.StatusPending}},
	Running: {State: State{Status: wire.StatusRunning}},
}

func (c *Change) details() *Details {
	if c.Details == nil {
		return firstDetails[c.Kind]
	}
	return c.Details
}

// size returns the approximate memory of the event of a change, in bytes.
func (c *Change) size() int {
	const size = 1536
	d := c.Details
	if d == nil {
		return size
	}
	textBytes := len(d.State.Reports.AnyAudience.Message) + len(d.State.Reports.UserAudience.Message) + len(d.State.Error) + len(d.State.Result.text)
	if d.Activity != nil {
		textBytes += len(d.Activity.Content) + len(d.Activity.Patch)
	}
	if d.State.Waiting != nil {
		textBytes += len(d.State.Waiting.Args)
	}
	return size + 2*textBytes
}

// viewMemory is the memory of the pointers of a View.
type viewMemory struct {
	loaded, total, fraction, userFraction float64
	ended                                 time.Time
}

// NewView returns the call with this card and state.
func NewView(card *CallFacts, s *State) View {
	return newView(card, s, &viewMemory{})
}

func newView(card *CallFacts, s *State, memory *viewMemory) View {
	toolName := card.Tool
	if !card.IsBrowserTool {
		toolName = ToolName(card.Plugin, card.Tool)
	}
	v := View{
		Snapshot: Snapshot{
			Schema: SnapshotSchema, NodeID: card.CallID, CallID: card.CallID,
			ToolName: toolName, Progression: Progression{Status: s.Status, Message: s.Reports.AnyAudience.Message},
			ParentNodeID: card.ParentNodeID, ParentCallID: card.ParentCallID,
		},
		Plugin: card.Plugin, Tool: card.Tool, Requester: card.Client.Requester(),
		Browser: s.Browser, BrowserName: s.BrowserName, TabID: s.TabID, URL: s.URL, ArgsStart: s.ArgsStart,
		Created: card.Created, RunMs: float64(s.RunTime) / float64(time.Millisecond),
		ReportCount: s.Reports.Count, InvalidCount: s.Reports.InvalidCount, Prompt: card.Prompt, Depth: card.Depth, Caller: card.Caller,
		UserMessage: s.Reports.UserAudience.Message, StatusWord: s.Reports.AnyAudience.StatusWord, UserStatusWord: s.Reports.UserAudience.StatusWord,
		EndAudience: s.EndAudience, Result: s.Result.Text(),
		ErrorCode: s.ErrorCode, Error: s.Error, NextStep: s.NextStep, CancelReason: s.CancelReason, StopOutcome: s.StopOutcome, Decision: s.Decision,
	}
	if n := s.Reports.AnyAudience.Numbers; n.HasProgress {
		memory.loaded = n.Progress
		if n.HasLoaded {
			memory.loaded = n.Loaded
		}
		v.Loaded = &memory.loaded
	}
	if n := s.Reports.AnyAudience.Numbers; n.HasTotal {
		memory.total = n.Total
		v.Total = &memory.total
		v.Progress = fractionOf(n, &memory.fraction)
	}
	v.UserProgress = fractionOf(s.Reports.UserAudience.Numbers, &memory.userFraction)
	if s.Waiting != nil {
		waiting := *s.Waiting
		v.Waiting = &waiting
	}
	if !s.Ended.IsZero() {
		memory.ended = s.Ended
		v.Ended = &memory.ended
	}
	return v
}

// fractionOf stores progress as a part of the total in fraction, and returns fraction;
// nil if the total is unknown.
func fractionOf(n progress.Numbers, fraction *float64) *float64 {
	switch {
	case !n.HasTotal:
		return nil
	case n.Total > 0:
		*fraction = n.Progress / n.Total
	case n.IsFinal(): // progress 0 of total 0 is complete
		*fraction = 1
	default:
		return nil
	}
	return fraction
}

// newEvent makes the event of a change.
func newEvent(c *queuedChange, seq uint64) *Event {
	made := &struct {
		Event
		shared eventShared
		view   viewMemory
	}{}
	details := c.details()
	made.Event = Event{
		Seq: seq, Time: c.Time, Kind: c.Kind, Call: newView(c.Call, &details.State, &made.view),
		Report: details.Report, Activity: details.Activity, Resolution: details.Resolution, Audience: details.Audience, shared: &made.shared,
	}
	made.shared.size = c.size
	return &made.Event
}

// changeQueue is a bounded queue of changes in one ring of slots. The zero value is
// empty. At the limit, push drops the oldest change.
type changeQueue struct {
	slots        []queuedChange // the length is 0 or a power of two
	start, count int
	bytes        int
}

type queuedChange struct {
	Change
	size int
}

// firstSlots is the number of slots of a new queue.
const firstSlots = 64

// push appends a change.
func (q *changeQueue) push(c Change) {
	size := c.size()
	for q.count == maxRingEvents || q.count > 0 && q.bytes+size > maxRingBytes {
		oldest := &q.slots[q.start]
		q.bytes -= oldest.size
		*oldest = queuedChange{}
		q.start = (q.start + 1) & (len(q.slots) - 1)
		q.count--
	}
	if q.count == len(q.slots) {
		q.grow()
	}
	q.slots[(q.start+q.count)&(len(q.slots)-1)] = queuedChange{c, size}
	q.count++
	q.bytes += size
}

// grow doubles the number of slots.
func (q *changeQueue) grow() {
	slots := make([]queuedChange, max(firstSlots, 2*len(q.slots)))
	copied := copy(slots, q.slots[q.start:])
	copy(slots[copied:], q.slots[:q.start])
	q.slots, q.start = slots, 0
}

// at returns change i, counted from the oldest.
func (q *changeQueue) at(i int) *queuedChange { return &q.slots[(q.start+i)&(len(q.slots)-1)] }

// reset empties the queue. reset keeps the slots for later changes, unless there are many
// more slots than changes.
func (q *changeQueue) reset() {
	if len(q.slots) > firstSlots && q.count < len(q.slots)/8 {
		*q = changeQueue{}
		return
	}
	clear(q.slots)
	*q = changeQueue{slots: q.slots}
}
