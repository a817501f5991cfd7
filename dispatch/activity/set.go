// Package activity stores the activities of one call. An activity is content that a tool shows beside its progress,
// such as a table.
//
// # Concurrency
//
// A [Set] is safe for concurrent use. Set.mu guards the activities. Set.applyMu is held while patches are applied, and
// must be locked before Set.mu. While Set.mu is held, no other lock may be acquired, and WarnActivity is the only
// method of the [Owner] that may be called.
package activity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"opentabs/internal/humanize"
	"opentabs/wire"
)

const (
	// maxPatches and maxPatchBytes limit the pending patches of one activity.
	maxPatches    = 256
	maxPatchBytes = 1 << 20
	maxResyncs    = 3
	// After lost reports, a Set requests all activities of the call, at most maxRecoveryRequests times, with a pause of at
	// least minRecoveryInterval between two requests.
	maxRecoveryRequests = 30
	minRecoveryInterval = time.Second
)

// View is the current content of one activity of a call.
type View struct {
	Type     string          `json:"type"`
	Content  json.RawMessage `json:"content"`
	Audience string          `json:"audience,omitempty"`
	// The field Dropped is the number of changes of the activity that were dropped because
	// they were too large or did not apply.
	Dropped int `json:"dropped,omitempty"`
}

// Owner is the call whose activities a Set stores.
type Owner interface {
	// ResyncActivity asks the page for the complete content of an activity. An empty activityType
	// means all activities. ResyncActivity is called on a separate goroutine.
	ResyncActivity(activityType string)
	// WarnActivity logs the first change that a Set drops. WarnActivity must not block or use
	// the Set.
	WarnActivity(activityType string, reason error)
}

// Set stores the activities of one call. Init must be called before any other method.
//
// Patches are applied only when a user opens the call, or when too many patches are
// pending. Applying a patch takes as long as parsing the complete content, so the goroutine
// that receives progress reports must not apply patches.
type Set struct {
	owner Owner

	applyMu sync.Mutex // applyMu is locked while patches are applied, and must be locked before mu

	mu                    sync.Mutex // the mutex guards all fields below
	activities            []*activity
	recoveryRequestCount  int
	isRecoveryPending     bool
	lastRecoveryRequestAt time.Time
	hasWarned             bool
	isApplying            bool
}

// The type activity is the last complete content of one activity, with the patches that
// are not applied yet.
type activity struct {
	activityType string
	content      json.RawMessage
	version      int
	audience     string
	patches      []json.RawMessage
	patchBytes   int
	droppedCount int
	resyncCount  int
}

// Init sets the call to which the Set belongs.
func (s *Set) Init(owner Owner) { s.owner = owner }

// Report stores a change of an activity and returns its audience, which defaults to the audience of
// the previous change. Report returns false if it drops the change because the change is too large
// or the call has too many activity types. Report only queues a patch, and does not wait until the
// patch is applied.
func (s *Set) Report(r *wire.Activity, audience string) (effectiveAudience string, hasChanged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	currentActivity := s.findActivity(r.Type)
	if len(r.Content) > wire.MaxActivityBytes || len(r.Patch) > wire.MaxActivityBytes {
		s.recordDroppedChange(currentActivity, r.Type, fmt.Errorf("it is larger than %s", humanize.Bytes(wire.MaxActivityBytes)))
		return "", false
	}
	if currentActivity == nil {
		if len(s.activities) == wire.MaxActivityTypes {
			s.recordDroppedChange(nil, r.Type, fmt.Errorf("the call has %d activities, the maximum", wire.MaxActivityTypes))
			return "", false
		}
		currentActivity = &activity{activityType: r.Type}
		s.activities = append(s.activities, currentActivity)
	}
	if audience != "" {
		currentActivity.audience = audience
	}
	if r.Patch == nil {
		currentActivity.content, currentActivity.patches, currentActivity.patchBytes = bytes.Clone(r.Content), nil, 0
		currentActivity.version++
		return currentActivity.audience, true
	}
	currentActivity.patches = append(currentActivity.patches, bytes.Clone(r.Patch))
	currentActivity.patchBytes += len(r.Patch)
	if !s.isApplying && (len(currentActivity.patches) >= maxPatches || currentActivity.patchBytes >= maxPatchBytes) {
		s.isApplying = true
		go func() {
			s.ApplyPending()
			s.mu.Lock()
			s.isApplying = false
			s.mu.Unlock()
		}()
	}
	if len(currentActivity.patches) > 64*maxPatches || currentActivity.patchBytes > 4*maxPatchBytes {
		currentActivity.patches, currentActivity.patchBytes = nil, 0
		currentActivity.version++
		s.resync(currentActivity, errors.New("patches arrive faster than they can be applied"))
	}
	return currentActivity.audience, true
}

func (s *Set) findActivity(activityType string) *activity {
	for _, currentActivity := range s.activities {
		if currentActivity.activityType == activityType {
			return currentActivity
		}
	}
	return nil
}

// The caller holds Set.mu.
func (s *Set) recordDroppedChange(currentActivity *activity, activityType string, reason error) {
	if currentActivity != nil {
		currentActivity.droppedCount++
	}
	if !s.hasWarned {
		s.hasWarned = true
		s.owner.WarnActivity(activityType, reason)
	}
}

// The caller holds Set.mu.
func (s *Set) resync(currentActivity *activity, reason error) {
	s.recordDroppedChange(currentActivity, currentActivity.activityType, reason)
	if currentActivity.resyncCount == maxResyncs {
		return
	}
	currentActivity.resyncCount++
	go s.owner.ResyncActivity(currentActivity.activityType)
}

// ReportsLost asks the page for the complete content of all activities after progress reports were lost. A lost report
// may contain a change of an activity. Without this change, later patches would produce wrong content.
func (s *Set) ReportsLost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isRecoveryPending || s.recoveryRequestCount == maxRecoveryRequests {
		return
	}
	s.recoveryRequestCount++
	s.isRecoveryPending = true
	time.AfterFunc(minRecoveryInterval-time.Since(s.lastRecoveryRequestAt), func() {
		s.mu.Lock()
		s.isRecoveryPending, s.lastRecoveryRequestAt = false, time.Now()
		s.mu.Unlock()
		s.owner.ResyncActivity("")
	})
}

// ApplyPending applies all waiting patches. ApplyPending can take as long as parsing the content several times.
func (s *Set) ApplyPending() {
	s.applyMu.Lock()
	defer s.applyMu.Unlock()
	for i := 0; ; i++ {
		s.mu.Lock()
		if i >= len(s.activities) { // Clear may have removed activities in the meantime
			s.mu.Unlock()
			return
		}
		currentActivity := s.activities[i]
		version, content, patches := currentActivity.version, currentActivity.content, currentActivity.patches
		s.mu.Unlock()
		if len(patches) > 0 {
			s.replaceContent(currentActivity, version, content, patches)
		}
	}
}

func (s *Set) replaceContent(currentActivity *activity, version int, content json.RawMessage, patches []json.RawMessage) {
	patchedContent, patchErrors := applyPatches(content, patches)
	s.mu.Lock()
	defer s.mu.Unlock()
	if currentActivity.version != version {
		return
	}
	for _, p := range patches {
		currentActivity.patchBytes -= len(p)
	}
	currentActivity.content, currentActivity.patches = patchedContent, currentActivity.patches[len(patches):]
	for _, err := range patchErrors {
		s.resync(currentActivity, err)
	}
}

// Snapshot is the state of all activities at one moment.
type Snapshot []activity

// Snapshot returns the current state of all activities without applying patches, so that Snapshot does not block.
func (s *Set) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snapshot := make(Snapshot, 0, len(s.activities))
	for _, currentActivity := range s.activities {
		snapshot = append(snapshot, *currentActivity)
	}
	return snapshot
}

// Views applies the waiting patches, and returns the content of all activities in the order of their first reports.
func (snapshot Snapshot) Views() []View {
	var views []View
	for _, a := range snapshot {
		if len(a.patches) > 0 {
			content, patchErrors := applyPatches(a.content, a.patches)
			a.content, a.droppedCount = content, a.droppedCount+len(patchErrors)
		}
		if a.content != nil {
			views = append(views, View{Type: a.activityType, Content: a.content, Audience: a.audience, Dropped: a.droppedCount})
		}
	}
	return views
}

// Size returns the approximate memory of all activities, in bytes.
func (s *Set) Size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	for _, currentActivity := range s.activities {
		size += len(currentActivity.content) + currentActivity.patchBytes
	}
	return size
}

// Clear drops all activities.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.activities = nil
}
