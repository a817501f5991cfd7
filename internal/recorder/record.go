package recorder

import (
	"encoding/json"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Record is the stored record of one call, one line of a record file. A Record extends
// the JSON of a [dispatch.View].
type Record struct {
	dispatch.View
	// Site is the origin of the page in which the call ran.
	Site string `json:"site,omitempty"`
	// Hash is the hash of the content of the call's plugin.
	Hash string `json:"hash,omitempty"`
	// Args are the arguments of the call without secrets. Args is absent if arguments are
	// not recorded or are too long. ArgsBytes is the size of the complete arguments.
	// IsArgsIncomplete is true if secrets or long values were removed from Args.
	Args             json.RawMessage `json:"args,omitempty"`
	ArgsBytes        int             `json:"args_bytes,omitempty"`
	IsArgsIncomplete bool            `json:"args_incomplete,omitempty"`
	// Output is the result of the call without secrets. Output is absent if results are
	// not recorded or the result is too long. OutputBytes is the size of the complete
	// result.
	Output             json.RawMessage `json:"output,omitempty"`
	OutputBytes        int             `json:"output_bytes,omitempty"`
	IsOutputIncomplete bool            `json:"output_incomplete,omitempty"`
	// Approved is the reason why the call was allowed. The user's decisions are in the
	// field Timeline.
	Approved *Approval `json:"approved,omitempty"`
	// LastMessages are the last messages of the tool during the call, oldest first.
	LastMessages []dispatch.ToolMessage `json:"last_messages,omitempty"`
	// DroppedMessages is the number of earlier messages, which are not recorded.
	DroppedMessages int `json:"dropped_messages,omitempty"`
}

// Approval is the reason why a call was allowed.
type Approval struct {
	Scope wire.Scope `json:"scope"`
	// By is the surface on which the user approved the call, and At is the time of this
	// approval.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
}

// Facts are the facts about a call that the dispatcher does not have.
type Facts struct {
	// Site is the origin of the page, and Hash is the hash of the plugin's content.
	Site, Hash string
	// Approved is the reason why the call was allowed; nil if the call was not allowed.
	Approved *Approval
}

// These constants limit the size of one record, in bytes.
const (
	// maxDecodedBytes is the size of the largest text from which secrets are removed. Of
	// a larger text, only the size is recorded.
	maxDecodedBytes = 256 << 10
	// maxArgsBytes and maxOutputBytes limit the size of the recorded arguments and of the
	// recorded result.
	maxArgsBytes   = 16 << 10
	maxOutputBytes = 64 << 10
	// maxActivityBytes limits the recorded content of one activity, and maxActivitiesBytes
	// limits the content of all activities of one call.
	maxActivityBytes   = 16 << 10
	maxActivitiesBytes = 64 << 10
	// maxStringBytes is the length of the longest recorded string in arguments and
	// results. A longer string is recorded without its end. maxElements limits the number
	// of recorded elements of an array.
	maxStringBytes = 4 << 10
	maxElements    = 200
)

// queuedCall is a call whose record or note is not written yet.
type queuedCall struct {
	call  dispatch.EndedCall
	facts Facts
	// isOpen is set if the call has not ended: a note of the call is written.
	isOpen bool
	// argsBytes and outputBytes are the sizes of the complete arguments and of the
	// complete result.
	argsBytes, outputBytes int
}

// size returns the approximate memory that the queued call needs, in bytes.
func (c *queuedCall) size() int {
	n := 2048 + len(c.call.Args) + len(c.call.Output)
	for _, a := range c.call.View.Activities {
		n += len(a.Content)
	}
	return n
}

// newQueuedCall copies the recorded parts of a call, so that a queued call needs
// little memory.
func (o *Options) newQueuedCall(e dispatch.EndedCall, facts Facts) queuedCall {
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

// newRecord returns the record of a call, from which secrets are removed.
func (c *queuedCall) newRecord(secrets *valueCleaner) *Record {
	e := &c.call
	r := &Record{
		View: e.View, Site: c.facts.Site, Hash: c.facts.Hash, ArgsBytes: c.argsBytes, OutputBytes: c.outputBytes,
		Approved: c.facts.Approved, LastMessages: make([]dispatch.ToolMessage, len(e.LastMessages)), DroppedMessages: e.DroppedMessages,
	}
	r.Seq, r.Waiting = 0, nil
	if r.Decision != nil {
		decision := *r.Decision
		decision.Data = nil // the user's input, which may be a secret
		r.Decision = &decision
	}
	r.Created = r.Created.UTC()
	if r.Ended != nil {
		ended := r.Ended.UTC()
		r.Ended = &ended
	}
	for _, text := range []*string{&r.Message, &r.UserMessage, &r.Error, &r.Result, &r.CancelReason} {
		*text = secrets.Text(*text)
	}
	for i, m := range e.LastMessages {
		m.Time, m.Message = m.Time.UTC(), secrets.Text(m.Message)
		r.LastMessages[i] = m
	}
	r.Args, r.IsArgsIncomplete = secrets.clean(e.Args, maxArgsBytes)
	r.IsArgsIncomplete = r.IsArgsIncomplete || e.IsArgsMasked || len(r.Args) == 0 && c.argsBytes > 0
	r.Output, r.IsOutputIncomplete = secrets.clean(e.Output, maxOutputBytes)
	r.IsOutputIncomplete = r.IsOutputIncomplete || len(r.Output) == 0 && c.outputBytes > 0
	r.Activities = secrets.activities(e.View.Activities)
	r.Timeline = withoutData(e.View.Timeline)
	return r
}

// withoutData returns the timeline of a call without the user's input, which may be a
// secret.
func withoutData(timeline []dispatch.Moment) []dispatch.Moment {
	moments := make([]dispatch.Moment, len(timeline))
	for i, m := range timeline {
		m.Time = m.Time.UTC()
		if m.Resolution != nil {
			resolution := *m.Resolution
			resolution.Data, resolution.DecidedAt = nil, resolution.DecidedAt.UTC()
			m.Resolution = &resolution
		}
		moments[i] = m
	}
	return moments
}
