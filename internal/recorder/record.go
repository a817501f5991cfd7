package recorder

import (
	"encoding/json"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Record is the stored record of one call. Each line of a record file is the JSON of a
// Record, which extends the JSON of a [dispatch.View].
type Record struct {
	dispatch.View
	// Site is the origin of the page in which the call ran, such as https://shop.example.
	Site string `json:"site,omitempty"`
	// The field Hash is the hash of the plugin's content at the time of the call.
	Hash string `json:"hash,omitempty"`
	// The field Args contains the arguments of the call, without secrets; nil if
	// arguments are not recorded or are too long. ArgsBytes is the size of the complete
	// arguments. IsArgsIncomplete is true if Args lacks a part of the arguments, such as
	// a secret.
	Args             json.RawMessage `json:"args,omitempty"`
	ArgsBytes        int             `json:"args_bytes,omitempty"`
	IsArgsIncomplete bool            `json:"args_incomplete,omitempty"`
	// Output is the result of the call, without secrets; nil if results are not recorded
	// or the result is too long. OutputBytes is the size of the complete result.
	Output             json.RawMessage `json:"output,omitempty"`
	OutputBytes        int             `json:"output_bytes,omitempty"`
	IsOutputIncomplete bool            `json:"output_incomplete,omitempty"`
	// The field Approval is the reason why the call was allowed; nil if the call was not
	// allowed. The user's decisions about the call are in the field Timeline.
	Approval *Approval `json:"approved,omitempty"`
	// LastMessages are the last messages that the tool sent during the call, oldest first.
	LastMessages []dispatch.ToolMessage `json:"last_messages,omitempty"`
	// DroppedMessages is the number of messages before LastMessages that were not
	// recorded.
	DroppedMessages int `json:"dropped_messages,omitempty"`
	// The field Undo is the call that undoes, has undone or may have undone the call; nil if there is none. The
	// record on the disk does not contain the field Undo: Find sets Undo from a note.
	Undo *wire.CallUndo `json:"undo,omitempty"`
}

// Approval is the reason why a call was allowed: one decision, a grant or a permission.
type Approval struct {
	Scope wire.Scope `json:"scope"`
	// The field By is the surface on which the user approved the call, such as "the side
	// panel". The field At is the time of the user's approval. The fields By and At are
	// zero if the call needed no approval.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
}

// CallFacts are the parts of a record that the caller of [Recorder.Add] provides, because the
// dispatcher does not store them.
type CallFacts struct {
	// Site and Hash become the fields of the [Record] with the same names.
	Site, Hash string
	// The field Approval is the reason why the call was allowed; nil if the call was not
	// allowed.
	Approval *Approval
}

const (
	// If the arguments or the result of a call exceed maxDecodedBytes, the record contains only their size.
	maxDecodedBytes    = 256 << 10
	maxArgsBytes       = 16 << 10
	maxOutputBytes     = 64 << 10
	maxActivityBytes   = 16 << 10
	maxActivitiesBytes = 64 << 10
	maxStringBytes     = 4 << 10
	maxElements        = 200
)

// queuedCall is a call in the queue of the recorder, waiting to be written.
type queuedCall struct {
	call  dispatch.EndedCall
	facts CallFacts
	// The recorder writes an open call as a note, not as a record.
	openCallState string
	// argsBytes and outputBytes are the sizes of the arguments and the result before parts
	// were removed.
	argsBytes, outputBytes int
}

func (c *queuedCall) size() int {
	n := 2048 + len(c.call.Args) + len(c.call.Output)
	for _, a := range c.call.View.Activities {
		n += len(a.Content)
	}
	return n
}

// newQueuedCall keeps only the parts of a call that are recorded, so that the queue needs
// little memory.
func (o *Options) newQueuedCall(e dispatch.EndedCall, facts CallFacts) queuedCall {
	c := queuedCall{facts: facts, argsBytes: len(e.Args), outputBytes: len(e.Output)}
	if !o.Arguments || len(e.Args) > maxDecodedBytes {
		e.Args = nil
	}
	if !o.Results || len(e.Output) > maxDecodedBytes {
		e.Output = nil
	}
	if !o.Results {
		e.View.Result = ""
	}
	c.call = e
	return c
}

func (c *queuedCall) newRecord(secrets *valueCleaner) *Record {
	e := &c.call
	r := &Record{
		View: e.View, Site: c.facts.Site, Hash: c.facts.Hash, ArgsBytes: c.argsBytes, OutputBytes: c.outputBytes,
		Approval: c.facts.Approval, LastMessages: make([]dispatch.ToolMessage, len(e.LastMessages)), DroppedMessages: e.DroppedMessages,
	}
	r.Seq, r.Waiting = 0, nil
	if r.Decision != nil {
		decision := *r.Decision
		decision.Data = nil // decision.Data is the text that the user typed, which may be a secret
		r.Decision = &decision
	}
	r.Created = r.Created.UTC()
	if r.Ended != nil {
		endedTime := r.Ended.UTC()
		r.Ended = &endedTime
	}
	for _, recordText := range []*string{&r.Message, &r.UserMessage, &r.Error, &r.Result, &r.CancelReason} {
		*recordText = secrets.Text(*recordText)
	}
	for i, m := range e.LastMessages {
		m.Time, m.Message = m.Time.UTC(), secrets.Text(m.Message)
		r.LastMessages[i] = m
	}
	r.Args, r.IsArgsIncomplete = secrets.cleanValue(e.Args, maxArgsBytes)
	r.IsArgsIncomplete = r.IsArgsIncomplete || e.IsArgsMasked || len(r.Args) == 0 && c.argsBytes > 0
	r.Output, r.IsOutputIncomplete = secrets.cleanValue(e.Output, maxOutputBytes)
	r.IsOutputIncomplete = r.IsOutputIncomplete || len(r.Output) == 0 && c.outputBytes > 0
	r.Activities = secrets.activities(e.View.Activities)
	r.Timeline = clearTimelineData(e.View.Timeline)
	return r
}

func clearTimelineData(timeline []dispatch.TimelineEntry) []dispatch.TimelineEntry {
	timelineEntries := make([]dispatch.TimelineEntry, len(timeline))
	for i, m := range timeline {
		m.Time = m.Time.UTC()
		if m.Resolution != nil {
			resolution := *m.Resolution
			resolution.Data, resolution.DecidedAt = nil, resolution.DecidedAt.UTC()
			m.Resolution = &resolution
		}
		timelineEntries[i] = m
	}
	return timelineEntries
}
