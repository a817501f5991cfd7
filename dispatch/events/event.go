package events

import (
	"encoding/json"
	"sync"
	"time"

	"opentabs/dispatch/progress"
	"opentabs/wire"
)

// Kind is the kind of an [Event].
type Kind string

// These constants are the kinds of events. A call has one created event, any number of
// progress and activity events, one ended event, and after that at most one stopped
// event. An event "running" reports that the tool has started, or has continued after a
// wait for the user. A resumed event follows each suspended event that gets a decision.
const (
	Created   Kind = "created"
	Suspended Kind = "suspended"
	Resumed   Kind = "resumed"
	Running   Kind = "running"
	Progress  Kind = "progress"
	Activity  Kind = "activity"
	Ended     Kind = "ended"
	Stopped   Kind = "stopped"
)

// Event is one change of one call.
type Event struct {
	// Seq increases by one over all events of a dispatcher.
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	Call View      `json:"call"`
	// Report is the report of a progress event.
	Report *wire.Report `json:"report,omitempty"`
	// Activity is the change of an activity event.
	Activity *wire.Activity `json:"activity,omitempty"`
	// Resolution is the user's decision, in a resumed event.
	Resolution *Resolution `json:"resolution,omitempty"`
	// Audience is the audience of a progress, activity or ended event; empty means
	// internal.
	Audience string `json:"audience,omitempty"`

	shared *eventShared // set for events that a follower receives
}

// IsForUser reports whether surfaces show the event to the user by default: reports
// for the user, suspensions, and every end. The audience of an end decides whether its
// result is shown ([View.ShownResult]).
func (e *Event) IsForUser() bool {
	switch e.Kind {
	case Progress, Activity:
		return e.Audience == progress.AudienceUser
	case Suspended, Resumed, Ended:
		return true
	default:
		return false
	}
}

// JSON returns the event as JSON, encoded once for all followers. The caller must not
// change the JSON.
func (e *Event) JSON() []byte {
	if e.shared == nil {
		return encodeEvent(e)
	}
	e.shared.once.Do(func() { e.shared.json = encodeEvent(e) })
	return e.shared.json
}

// eventShared is what all followers share of an event: the JSON, encoded on first use,
// and the approximate memory of the event in bytes.
type eventShared struct {
	once sync.Once
	json []byte
	size int
}

// An activitySnapshot replaces the activity; an activityDelta patches the activity.
const (
	activitySnapshot = "ActivitySnapshot"
	activityDelta    = "ActivityDelta"
)

// progressActivity is the activity type of the progress of a call. An event without an
// activity of the tool is a snapshot of the progress.
const progressActivity = "tool-call-progress"

// encodedEvent is the JSON of an event: an activity that a frontend can draw by its
// type, and all fields for the surfaces of opentabs.
type encodedEvent struct {
	*Event
	Type         string `json:"type"`
	ActivityType string `json:"activity_type"`
	// Replace is set if the content replaces the earlier content.
	Replace bool `json:"replace,omitempty"`
	// Content is the snapshot of the call; absent if Activity is set.
	Content *Snapshot `json:"content,omitempty"`
}

func encodeEvent(e *Event) []byte {
	content := &e.Call.Snapshot
	if s := content.Status.ForProgress(); s != content.Status {
		copied := *content
		copied.Status, content = s, &copied
	}
	encoded := encodedEvent{Type: activitySnapshot, ActivityType: progressActivity, Replace: true, Content: content, Event: e}
	if a := e.Activity; a != nil {
		encoded.ActivityType, encoded.Content = a.Type, nil
		if a.Patch != nil {
			encoded.Type, encoded.Replace = activityDelta, false
		}
	}
	text, err := json.Marshal(encoded)
	if err != nil { // impossible: all parts of an event come from JSON
		panic("events: " + err.Error())
	}
	return text
}

// Moment is one step of a call: each event that is not a report.
type Moment struct {
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	// Reason is what the call waits for, for Suspended.
	Reason string `json:"reason,omitempty"`
	// Resolution is the user's decision, for Resumed.
	Resolution *Resolution `json:"resolution,omitempty"`
}
