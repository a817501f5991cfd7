package dispatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"opentabs/wire"
)

// What activities may take in memory.
const (
	// maxPatches and maxPatchBytes are how much of one activity waits to be
	// applied; more is applied at once.
	maxPatches    = 256
	maxPatchBytes = 1 << 20
	// maxEndedActivity is how large the activities of calls that ended are
	// together, in bytes; beyond that the oldest lose theirs.
	maxEndedActivity = 32 << 20
	// maxResyncs is how often a page is asked for one activity anew.
	maxResyncs = 3
	// maxLosses is how often a page is asked for all because reports were lost, and
	// lossPause the least time between two of these.
	maxLosses = 30
	lossPause = time.Second
)

// ActivityView is one activity of a call.
type ActivityView struct {
	Type     string          `json:"type"`
	Content  json.RawMessage `json:"content"`
	Audience string          `json:"audience,omitempty"`
	// Dropped counts what was too large or did not apply.
	Dropped int `json:"dropped,omitempty"`
}

// activities is what a call shows beside its progress. It is safe for
// concurrent use.
//
// A patch is applied when somebody looks, or when too many wait: to apply one
// costs as much as reading the whole content, and the goroutine that brings
// reports must not wait for that.
type activities struct {
	call *liveCall

	applying sync.Mutex // held while patches are applied; taken before mu

	mu      sync.Mutex // guards all below
	list    []*activity
	dropped int // reports that are too large, or of one type too many
	losses  int // how often the page was asked for all
	asking  bool
	asked   time.Time
	warned  bool
	busy    bool // a goroutine applies patches
}

// activity is one activity.
type activity struct {
	kind    string
	content json.RawMessage
	// version counts the contents that the page sent.
	version  int
	audience string
	patches  []json.RawMessage // since content
	bytes    int               // of patches
	dropped  int
	resyncs  int
}

// report takes a change, and returns for whom it is: one without an audience is
// for those for whom the activity was. It reports false for one that is dropped:
// too large, or of one type too many. It never blocks for long.
func (a *activities) report(r *wire.Activity, audience string) (shownTo string, taken bool) {
	if len(r.Content) > wire.MaxActivityBytes || len(r.Patch) > wire.MaxActivityBytes {
		a.drop(r.Type, fmt.Errorf("it is larger than %d bytes", wire.MaxActivityBytes))
		return "", false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.find(r.Type)
	if one == nil {
		if len(a.list) == wire.MaxActivityTypes {
			a.dropLocked(nil, r.Type, fmt.Errorf("the call shows %d activities already, as many as it may", wire.MaxActivityTypes))
			return "", false
		}
		one = &activity{kind: r.Type}
		a.list = append(a.list, one)
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
	if !a.busy && (len(one.patches) >= maxPatches || one.bytes >= maxPatchBytes) {
		a.busy = true
		go func() {
			a.apply()
			a.mu.Lock()
			a.busy = false
			a.mu.Unlock()
		}()
	}
	if len(one.patches) > 64*maxPatches || one.bytes > 4*maxPatchBytes { // they come faster than they apply
		one.patches, one.bytes = nil, 0
		one.version++
		a.resync(one, errors.New("patches come faster than they can be applied"))
	}
	return one.audience, true
}

func (a *activities) find(kind string) *activity {
	for _, one := range a.list {
		if one.kind == kind {
			return one
		}
	}
	return nil
}

// drop notes a change that is not taken.
func (a *activities) drop(kind string, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropLocked(a.find(kind), kind, why)
}

func (a *activities) dropLocked(one *activity, kind string, why error) {
	if a.dropped++; one != nil {
		one.dropped++
	}
	if a.warned {
		return
	}
	a.warned = true
	a.call.d.opts.Log.Warn().Str("call", a.call.id).Str("tool", a.call.req.Tool.FullName()).Str("activity", kind).Err(why).
		Msg("a change of an activity is dropped; later ones of this call are dropped without a line")
}

// resync drops a change that did not apply and asks the page for the whole. The
// caller holds mu.
func (a *activities) resync(one *activity, why error) {
	a.dropLocked(one, one.kind, why)
	if one.resyncs == maxResyncs {
		return
	}
	one.resyncs++
	call, kind := a.call, one.kind
	go func() {
		call.mu.Lock()
		id := call.runID
		call.mu.Unlock()
		call.d.bridge.Resync(id, kind)
	}()
}

// lost asks the page for all activities: a change may be among reports that were
// lost on their way, and the patches after it would make something else.
func (a *activities) lost() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asking || a.losses == maxLosses {
		return
	}
	a.losses++
	a.asking = true
	time.AfterFunc(lossPause-time.Since(a.asked), func() {
		a.mu.Lock()
		a.asking, a.asked = false, time.Now()
		a.mu.Unlock()
		a.call.mu.Lock()
		id := a.call.runID
		a.call.mu.Unlock()
		a.call.d.bridge.Resync(id, "")
	})
}

// apply brings every content up to date.
func (a *activities) apply() {
	a.applying.Lock()
	defer a.applying.Unlock()
	for i := 0; ; i++ {
		a.mu.Lock()
		if i >= len(a.list) { // it may have been forgotten meanwhile
			a.mu.Unlock()
			return
		}
		one := a.list[i]
		version, content, patches := one.version, one.content, one.patches
		a.mu.Unlock()
		if len(patches) > 0 {
			a.settle(one, version, content, patches)
		}
	}
}

// settle applies patches to content, unless a new content came meanwhile.
func (a *activities) settle(one *activity, version int, content json.RawMessage, patches []json.RawMessage) {
	now, failed := patched(content, patches)
	a.mu.Lock()
	defer a.mu.Unlock()
	if one.version != version {
		return
	}
	for _, p := range patches {
		one.bytes -= len(p)
	}
	one.content, one.patches = now, one.patches[len(patches):]
	for _, err := range failed {
		a.resync(one, err)
	}
}

// maxFailures is how many patches that do not apply are found among those that
// waited; with more of them, good ones beside them may be dropped too. Each costs
// a few readings of the whole content, and the patches are a page's.
const maxFailures = 16

// patched applies patches one after another, each whole or not at all. It
// returns why those that it dropped were, one error for each.
func patched(content json.RawMessage, patches []json.RawMessage) (json.RawMessage, []error) {
	var failed []error
	bad := 0
	var apply func([]json.RawMessage)
	apply = func(some []json.RawMessage) {
		next, err := applyPatch(content, joinPatches(some))
		switch {
		case err == nil:
			content = next
		case len(some) == 1 || bad >= maxFailures:
			bad++
			for range some {
				failed = append(failed, err)
			}
		default:
			apply(some[:len(some)/2])
			apply(some[len(some)/2:])
		}
	}
	apply(patches)
	return content, failed
}

// joinPatches makes one patch of several: nearly always all of them apply, and
// then the content is read and written once.
func joinPatches(patches []json.RawMessage) json.RawMessage {
	if len(patches) == 1 {
		return patches[0]
	}
	all := []byte{'['}
	for _, p := range patches {
		p = bytes.TrimSpace(p)
		if len(p) < 2 || p[0] != '[' {
			return nil // not a patch: told when it is applied by itself
		}
		inner := bytes.TrimSpace(p[1 : len(p)-1])
		if len(inner) == 0 {
			continue
		}
		if len(all) > 1 {
			all = append(all, ',')
		}
		all = append(all, inner...)
	}
	return append(all, ']')
}

// applyPatch applies a JSON Patch (RFC 6902) to a content.
func applyPatch(content, patch json.RawMessage) (_ json.RawMessage, err error) {
	defer func() { // the library reads what a page wrote
		if v := recover(); v != nil {
			err = fmt.Errorf("the patch can't be applied: %v", v)
		}
	}()
	if content == nil {
		return nil, errors.New("there is no content yet that it could change; report the activity first")
	}
	ops, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, fmt.Errorf("it is not a JSON Patch: %w", err)
	}
	// The library wants an object or an array, so the content is put into one.
	if err := moveInto(ops, "/"+wrapKey); err != nil {
		return nil, err
	}
	o := jsonpatch.NewApplyOptions()
	o.AccumulatedCopySizeLimit = wire.MaxActivityBytes
	o.SupportNegativeIndices, o.EscapeHTML = false, false
	wrapped, err := ops.ApplyWithOptions(slices.Concat([]byte(`{"`+wrapKey+`":`), content, []byte("}")), o)
	if err != nil {
		return nil, err
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(wrapped, &doc); err != nil {
		return nil, err
	}
	now, ok := doc[wrapKey]
	switch {
	case !ok:
		return nil, errors.New("it removes the whole content")
	case len(now) > wire.MaxActivityBytes:
		return nil, fmt.Errorf("the content would be larger than %d bytes", wire.MaxActivityBytes)
	}
	return now, nil
}

// wrapKey is the member that holds a content while a patch is applied.
const wrapKey = "content"

// moveInto puts the paths of a patch below prefix.
func moveInto(ops jsonpatch.Patch, prefix string) error {
	for _, op := range ops {
		for _, name := range []string{"path", "from"} {
			raw := op[name]
			if raw == nil {
				continue
			}
			var path string
			if err := json.Unmarshal(*raw, &path); err != nil || path != "" && path[0] != '/' {
				return fmt.Errorf("%s %s is not a JSON Pointer", name, *raw)
			}
			text, err := json.Marshal(prefix + path)
			if err != nil { // a string
				return err
			}
			moved := json.RawMessage(text)
			op[name] = &moved
		}
	}
	return nil
}

// views returns the activities as they are now.
func (a *activities) views() []ActivityView {
	a.apply()
	a.mu.Lock()
	defer a.mu.Unlock()
	var views []ActivityView
	for _, one := range a.list {
		if one.content != nil {
			views = append(views, ActivityView{Type: one.kind, Content: one.content, Audience: one.audience, Dropped: one.dropped})
		}
	}
	return views
}

// size is what the activities take in memory, in bytes.
func (a *activities) size() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	size := 0
	for _, one := range a.list {
		size += len(one.content) + one.bytes
	}
	return size
}

// forget drops all activities.
func (a *activities) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = nil
}

// trimActivities bounds what calls that ended keep. The caller holds mu.
func (d *Dispatcher) trimActivities() {
	total := 0
	for i := len(d.order) - 1; i >= 0; i-- {
		c := d.order[i]
		if total += c.activities.size(); total > maxEndedActivity {
			c.activities.forget()
		}
	}
}
