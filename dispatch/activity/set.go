// Package activity stores the activities of one call. An activity is content that a
// tool shows beside its progress, such as a table; a tool changes an activity by JSON
// Patches (RFC 6902).
//
// # Concurrency
//
// A [Set] is safe for concurrent use. Set.applyMu is held while patches are applied and
// is taken before Set.mu. Set.mu guards the activities. While Set.mu is held, no other
// lock is taken, and no method of the [Owner] except WarnActivity runs.
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

// These constants limit the memory of activities and the requests to the page.
const (
	// maxPatches and maxPatchBytes bound the pending patches of one activity; at the
	// limit, the patches are applied at once.
	maxPatches    = 256
	maxPatchBytes = 1 << 20
	// maxResyncs limits the requests for one activity.
	maxResyncs = 3
	// maxLossRequests limits the requests for all activities after lost reports.
	// lossRequestPause is the least time between two requests after lost reports.
	maxLossRequests  = 30
	lossRequestPause = time.Second
)

// View is one activity of a call.
type View struct {
	Type     string          `json:"type"`
	Content  json.RawMessage `json:"content"`
	Audience string          `json:"audience,omitempty"`
	// Dropped counts the changes that were too large or did not apply.
	Dropped int `json:"dropped,omitempty"`
}

// Owner is the call that a Set belongs to.
type Owner interface {
	// ResyncActivity requests the whole content of an activity from the page; an empty
	// type requests all. ResyncActivity runs on a separate goroutine.
	ResyncActivity(activityType string)
	// WarnActivity logs the first dropped change of the call. WarnActivity must not
	// block or use the Set.
	WarnActivity(activityType string, reason error)
}

// Set stores the activities of one call. Init initializes a Set.
//
// Patches are applied when a user opens the call, or when too many patches are pending.
// Applying a patch takes as long as parsing the whole content, so the goroutine that
// receives reports must not wait for patches.
type Set struct {
	owner Owner

	applyMu sync.Mutex // held while patches are applied; taken before mu

	mu              sync.Mutex // guards all fields below
	activities      []*activity
	lossRequests    int // counts requests for all activities
	isLossPending   bool
	lastLossRequest time.Time
	hasWarned       bool
	isApplying      bool // a goroutine applies patches
}

// activity is the state of one activity of a call.
type activity struct {
	activityType string
	content      json.RawMessage
	// version counts the whole contents that the page sent.
	version      int
	audience     string
	patches      []json.RawMessage // since content
	patchBytes   int               // the total size of patches
	droppedCount int
	resyncCount  int
}

// Init sets the owner of the Set.
func (s *Set) Init(owner Owner) { s.owner = owner }

// Report stores a change and returns its audience: by default the audience of the
// previous change. Report returns false if it drops the change, because the change is
// too large or the call has too many activity types. Report does not wait for patches.
func (s *Set) Report(r *wire.Activity, audience string) (shownAudience string, isAccepted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.findActivity(r.Type)
	if len(r.Content) > wire.MaxActivityBytes || len(r.Patch) > wire.MaxActivityBytes {
		s.dropChange(current, r.Type, fmt.Errorf("it is larger than %s", humanize.Bytes(wire.MaxActivityBytes)))
		return "", false
	}
	if current == nil {
		if len(s.activities) == wire.MaxActivityTypes {
			s.dropChange(nil, r.Type, fmt.Errorf("the call has %d activities, the maximum", wire.MaxActivityTypes))
			return "", false
		}
		current = &activity{activityType: r.Type}
		s.activities = append(s.activities, current)
	}
	if audience != "" {
		current.audience = audience
	}
	if r.Patch == nil {
		current.content, current.patches, current.patchBytes = bytes.Clone(r.Content), nil, 0
		current.version++
		return current.audience, true
	}
	current.patches = append(current.patches, bytes.Clone(r.Patch))
	current.patchBytes += len(r.Patch)
	if !s.isApplying && (len(current.patches) >= maxPatches || current.patchBytes >= maxPatchBytes) {
		s.isApplying = true
		go func() {
			s.applyPending()
			s.mu.Lock()
			s.isApplying = false
			s.mu.Unlock()
		}()
	}
	if len(current.patches) > 64*maxPatches || current.patchBytes > 4*maxPatchBytes { // patches arrive faster than they can be applied
		current.patches, current.patchBytes = nil, 0
		current.version++
		s.resync(current, errors.New("patches arrive faster than they can be applied"))
	}
	return current.audience, true
}

func (s *Set) findActivity(activityType string) *activity {
	for _, current := range s.activities {
		if current.activityType == activityType {
			return current
		}
	}
	return nil
}

// dropChange counts a dropped change, and logs the first dropped change. The caller has
// locked mu.
func (s *Set) dropChange(current *activity, activityType string, reason error) {
	if current != nil {
		current.droppedCount++
	}
	if !s.hasWarned {
		s.hasWarned = true
		s.owner.WarnActivity(activityType, reason)
	}
}

// resync drops a change that did not apply and requests the whole content from the
// page. The caller has locked mu.
func (s *Set) resync(current *activity, reason error) {
	s.dropChange(current, current.activityType, reason)
	if current.resyncCount == maxResyncs {
		return
	}
	current.resyncCount++
	go s.owner.ResyncActivity(current.activityType)
}

// ReportsLost requests all activities from the page. A change may be among the
// reports that were lost in transit, and later patches would produce a wrong content.
func (s *Set) ReportsLost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isLossPending || s.lossRequests == maxLossRequests {
		return
	}
	s.lossRequests++
	s.isLossPending = true
	time.AfterFunc(lossRequestPause-time.Since(s.lastLossRequest), func() {
		s.mu.Lock()
		s.isLossPending, s.lastLossRequest = false, time.Now()
		s.mu.Unlock()
		s.owner.ResyncActivity("")
	})
}

// applyPending applies all pending patches.
func (s *Set) applyPending() {
	s.applyMu.Lock()
	defer s.applyMu.Unlock()
	for i := 0; ; i++ {
		s.mu.Lock()
		if i >= len(s.activities) { // Clear may have removed the activities
			s.mu.Unlock()
			return
		}
		current := s.activities[i]
		version, content, patches := current.version, current.content, current.patches
		s.mu.Unlock()
		if len(patches) > 0 {
			s.replaceContent(current, version, content, patches)
		}
	}
}

// replaceContent stores content with patches applied, unless the page has sent a new
// content since version.
func (s *Set) replaceContent(current *activity, version int, content json.RawMessage, patches []json.RawMessage) {
	patched, patchErrors := applyPatches(content, patches)
	s.mu.Lock()
	defer s.mu.Unlock()
	if current.version != version {
		return
	}
	for _, p := range patches {
		current.patchBytes -= len(p)
	}
	current.content, current.patches = patched, current.patches[len(patches):]
	for _, err := range patchErrors {
		s.resync(current, err)
	}
}

// Views returns the current activities in the order of their first reports.
func (s *Set) Views() []View {
	s.applyPending()
	s.mu.Lock()
	defer s.mu.Unlock()
	var views []View
	for _, current := range s.activities {
		if current.content != nil {
			views = append(views, View{Type: current.activityType, Content: current.content, Audience: current.audience, Dropped: current.droppedCount})
		}
	}
	return views
}

// Size returns the memory of all activities in bytes.
func (s *Set) Size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	for _, current := range s.activities {
		size += len(current.content) + current.patchBytes
	}
	return size
}

// Clear drops all activities.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.activities = nil
}
