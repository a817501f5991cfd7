package events

import (
	"encoding/json"
	"sync"
	"time"

	"opentabs/dispatch/progress"
	"opentabs/wire"
)

// Kind is the kind of an [Event], such as "created" or "progress".
type Kind string

// These constants are the kinds of the events of a call. A call has one created event, any number of progress and
// activity events, and one ended event, after which at most one stopped event follows. A running event reports that the
// tool has started, or has continued after waiting for the user. A resumed event reports the user's decision after a
// suspended event.
const (
	KindCreated   Kind = "created"
	KindSuspended Kind = "suspended"
	KindResumed   Kind = "resumed"
	KindRunning   Kind = "running"
	KindProgress  Kind = "progress"
	KindActivity  Kind = "activity"
	KindEnded     Kind = "ended"
	KindStopped   Kind = "stopped"
)

// Event is one change of a call, with the state of the call after the change.
type Event struct {
	// Seq is the number of the event. A dispatcher numbers its events consecutively.
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	Call View      `json:"call"`
	// Report is the tool's report in a progress event.
	Report *wire.Report `json:"report,omitempty"`
	// Activity is the changed content in an activity event.
	Activity *wire.Activity `json:"activity,omitempty"`
	// Resolution is the user's decision in a resumed event.
	Resolution *Resolution `json:"resolution,omitempty"`
	// Audience is the audience of a progress, activity or ended event. An empty Audience means
	// internal.
	Audience string `json:"audience,omitempty"`

	shared *sharedEncoding // the field shared is set only for events that a subscriber receives
}

// IsForUser reports whether surfaces show the event to the user by default: reports for the
// user, suspensions and decisions, and the end of every call. The audience of an ended
// event decides whether the result is shown; see [View.ShownResult].
func (e *Event) IsForUser() bool {
	switch e.Kind {
	case KindProgress, KindActivity:
		return e.Audience == progress.AudienceUser
	case KindSuspended, KindResumed, KindEnded:
		return true
	default:
		return false
	}
}

// JSON returns the event as JSON, which is encoded once for all subscribers. The caller must
// not modify the returned bytes.
func (e *Event) JSON() []byte {
	if e.shared == nil {
		return encodeEvent(e)
	}
	e.shared.once.Do(func() { e.shared.json = encodeEvent(e) })
	return e.shared.json
}

// sharedEncoding contains the JSON of an event, which is encoded on first use and shared by
// all subscribers. The field named size is the approximate memory of the event, in bytes.
type sharedEncoding struct {
	once sync.Once
	json []byte
	size int
}

const (
	activitySnapshot = "ActivitySnapshot"
	activityDelta    = "ActivityDelta"
)

const progressActivity = "tool-call-progress"

// encodedEvent is the JSON of an event. Frontends that draw activities by their type use
// the fields of encodedEvent; surfaces of opentabs use the fields of Event.
type encodedEvent struct {
	*Event
	Type         string `json:"type"`
	ActivityType string `json:"activity_type"`
	// The field Replace is true if the content replaces the earlier content of the
	// activity.
	Replace bool `json:"replace,omitempty"`
	// Content is the progress of the call, absent if Activity is set.
	Content *Snapshot `json:"content,omitempty"`
}

func encodeEvent(e *Event) []byte {
	content := &e.Call.Snapshot
	if s := content.Status.ProgressStatus(); s != content.Status {
		copiedSnapshot := *content
		copiedSnapshot.Status, content = s, &copiedSnapshot
	}
	encoded := encodedEvent{Type: activitySnapshot, ActivityType: progressActivity, Replace: true, Content: content, Event: e}
	if a := e.Activity; a != nil {
		encoded.ActivityType, encoded.Content = a.Type, nil
		if a.Patch != nil {
			encoded.Type, encoded.Replace = activityDelta, false
		}
	}
	encodedJSON, err := json.Marshal(encoded)
	if err != nil {
		panic("events: " + err.Error())
	}
	return encodedJSON
}

// TimelineEntry is one step in the timeline of a call, such as created or running. A TimelineEntry is
// recorded for each event except a report.
type TimelineEntry struct {
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	// Reason is what the call waits for, if Kind is KindSuspended.
	Reason string `json:"reason,omitempty"`
	// Resolution is the user's decision, if Kind is KindResumed.
	Resolution *Resolution `json:"resolution,omitempty"`
}
