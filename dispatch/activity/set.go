// Package activity stores the activities of one call: content that a tool shows
// beside its progress, such as a table, and changes by JSON Patches (RFC 6902).
//
// # Concurrency
//
// A [Set] is safe for concurrent use. Set.applying is held while patches are
// applied and is taken before Set.mu. Set.mu guards the activities; no other lock is
// taken and no method of the [Owner] but Warn runs while it is held.
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

// The limits of memory and of requests to the page.
const (
	// maxPatches and maxPatchBytes bound the pending patches of one activity; beyond
	// that they are applied at once.
	maxPatches    = 256
	maxPatchBytes = 1 << 20
	// maxResyncs limits the requests for one activity.
	maxResyncs = 3
	// maxLosses limits the requests for all activities after lost reports. lossPause is
	// the least time between two of them.
	maxLosses = 30
	lossPause = time.Second
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
	WarnActivity(activityType string, why error)
}

// Set stores the activities of one call. Init initializes a Set.
//
// Patches are applied when a user opens the call, or when too many are pending:
// applying one costs as much as parsing the whole content, and the goroutine that
// receives reports must not wait for that.
type Set struct {
	owner Owner

	applying sync.Mutex // held while patches are applied; taken before mu

	mu        sync.Mutex // guards all fields below
	all       []*activity
	losses    int // requests for all activities
	isWaiting bool
	lastLoss  time.Time
	warned    bool
	isBusy    bool // a goroutine applies patches
}

// activity is one activity.
type activity struct {
	kind    string
	content json.RawMessage
	// version counts the whole contents that the page sent.
	version  int
	audience string
	patches  []json.RawMessage // since content
	bytes    int               // of patches
	dropped  int
	resyncs  int
}

// Init sets the owner.
func (s *Set) Init(owner Owner) { s.owner = owner }

// Report stores a change and returns its audience: by default that of the change
// before. Report returns false for a dropped change, which is too large or has one type
// too many. Report does not wait for patches.
func (s *Set) Report(r *wire.Activity, audience string) (shownTo string, accepted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.find(r.Type)
	if len(r.Content) > wire.MaxActivityBytes || len(r.Patch) > wire.MaxActivityBytes {
		s.drop(one, r.Type, fmt.Errorf("it is larger than %s", humanize.Bytes(wire.MaxActivityBytes)))
		return "", false
	}
	if one == nil {
		if len(s.all) == wire.MaxActivityTypes {
			s.drop(nil, r.Type, fmt.Errorf("the call has %d activities, the maximum", wire.MaxActivityTypes))
			return "", false
		}
		one = &activity{kind: r.Type}
		s.all = append(s.all, one)
	}
	if audience != "" {
		one.audience = audience
	}
	if r.Patch == nil {
		one.content, one.patches, one.bytes = bytes.Clone(r.Content), nil, 0
		one.version++
		return one.audience, true
	}
	one.patches = append(one.patches, bytes.Clone(r.Patch))
	one.bytes += len(r.Patch)
	if !s.isBusy && (len(one.patches) >= maxPatches || one.bytes >= maxPatchBytes) {
		s.isBusy = true
		go func() {
			s.apply()
			s.mu.Lock()
			s.isBusy = false
			s.mu.Unlock()
		}()
	}
	if len(one.patches) > 64*maxPatches || one.bytes > 4*maxPatchBytes { // faster than they can be applied
		one.patches, one.bytes = nil, 0
		one.version++
		s.resync(one, errors.New("patches arrive faster than they can be applied"))
	}
	return one.audience, true
}

func (s *Set) find(kind string) *activity {
	for _, one := range s.all {
		if one.kind == kind {
			return one
		}
	}
	return nil
}

// drop counts a dropped change, and logs the first dropped change. The caller has
// locked mu.
func (s *Set) drop(one *activity, kind string, why error) {
	if one != nil {
		one.dropped++
	}
	if !s.warned {
		s.warned = true
		s.owner.WarnActivity(kind, why)
	}
}

// resync drops a change that did not apply and requests the whole content from the
// page. The caller has locked mu.
func (s *Set) resync(one *activity, why error) {
	s.drop(one, one.kind, why)
	if one.resyncs == maxResyncs {
		return
	}
	one.resyncs++
	go s.owner.ResyncActivity(one.kind)
}

// ReportsLost requests all activities from the page. A change may be among the
// reports that were lost in transit, and later patches would produce a wrong content.
func (s *Set) ReportsLost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isWaiting || s.losses == maxLosses {
		return
	}
	s.losses++
	s.isWaiting = true
	time.AfterFunc(lossPause-time.Since(s.lastLoss), func() {
		s.mu.Lock()
		s.isWaiting, s.lastLoss = false, time.Now()
		s.mu.Unlock()
		s.owner.ResyncActivity("")
	})
}

// apply applies all pending patches.
func (s *Set) apply() {
	s.applying.Lock()
	defer s.applying.Unlock()
	for i := 0; ; i++ {
		s.mu.Lock()
		if i >= len(s.all) { // Clear may have run meanwhile
			s.mu.Unlock()
			return
		}
		one := s.all[i]
		version, content, patches := one.version, one.content, one.patches
		s.mu.Unlock()
		if len(patches) > 0 {
			s.replace(one, version, content, patches)
		}
	}
}

// replace stores content with patches applied, unless the page has sent a new
// content meanwhile.
func (s *Set) replace(one *activity, version int, content json.RawMessage, patches []json.RawMessage) {
	patched, failed := applyPatches(content, patches)
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.version != version {
		return
	}
	for _, p := range patches {
		one.bytes -= len(p)
	}
	one.content, one.patches = patched, one.patches[len(patches):]
	for _, err := range failed {
		s.resync(one, err)
	}
}

// Views returns the current activities in the order of their first reports.
func (s *Set) Views() []View {
	s.apply()
	s.mu.Lock()
	defer s.mu.Unlock()
	var views []View
	for _, one := range s.all {
		if one.content != nil {
			views = append(views, View{Type: one.kind, Content: one.content, Audience: one.audience, Dropped: one.dropped})
		}
	}
	return views
}

// Size returns the memory of all activities in bytes.
func (s *Set) Size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	for _, one := range s.all {
		size += len(one.content) + one.bytes
	}
	return size
}

// Clear drops all activities.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = nil
}
