package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
	"opentabs/internal/statedoc"
	"opentabs/plugin"
)

// mayCall reports whether the user allows the plugin to call the tools of another
// plugin.
func (s State) mayCall(other string) bool {
	_, ok := s.Calls[other]
	return s.Reviewed && ok
}

// HasLateAccess reports whether a plugin that starts late receives secret settings and
// may call other plugins.
func (s State) HasLateAccess() bool { return s.Reviewed && s.LateAccess != nil }

// IsRestricted reports whether a plugin starts late and has no late access. Such a
// plugin receives no secret settings and cannot call other plugins. The tools of such a
// plugin call each other in their own tab only.
func (p *Policy) IsRestricted(one *plugin.Plugin) bool {
	return one.StartsLate() && !p.stateOf(one.Name, one).HasLateAccess()
}

// SetCalls sets whether the tools of a plugin may call the tools of another plugin. by
// is the surface.
func (p *Policy) SetCalls(name, other string, allowed bool, by string) error {
	one, err := p.set().Find(name)
	if err != nil {
		return err
	}
	change := Change{Kind: "calls", Plugin: name, By: by}
	if !allowed {
		return p.changeEntry(change, func(entry statedoc.Object) string {
			calls := entry.Child("calls")
			delete(calls, other)
			entry.Put("calls", calls)
			return other
		})
	}
	if name == other {
		return fmt.Errorf("the tools of %s may always call each other", name)
	}
	if _, err := p.set().Find(other); err != nil {
		return err
	}
	if !p.stateOf(name, one).Reviewed {
		return errNotReviewed(name)
	}
	change.New = other
	return p.changeEntry(change, func(entry statedoc.Object) string {
		calls, mark := entry.Child("calls"), statedoc.Object{}
		setMark(mark, by)
		calls.Put(other, mark)
		entry.Put("calls", calls)
		return ""
	})
}

// SetLateAccess sets whether a plugin that starts late receives its secret settings and
// may call the plugins that [Policy.SetCalls] allows.
func (p *Policy) SetLateAccess(name string, allowed bool, by string) error {
	one, err := p.set().Find(name)
	if err != nil {
		return err
	}
	if allowed && !p.stateOf(name, one).Reviewed {
		return errNotReviewed(name)
	}
	if allowed && !one.StartsLate() {
		return fmt.Errorf("the plugin %s starts before the page's scripts, so it needs no late access: it has its secret settings already", name)
	}
	change := Change{Kind: "late-access", Plugin: name, By: by}
	if allowed {
		change.New = "on"
	}
	return p.changeEntry(change, func(entry statedoc.Object) (before string) {
		if _, ok := entry["lateAccess"]; ok {
			before = "on"
		}
		delete(entry, "lateAccess")
		if allowed {
			mark := statedoc.Object{}
			setMark(mark, by)
			entry.Put("lateAccess", mark)
		}
		return before
	})
}

// allowAlways stores that a tool runs without approval for one caller. The caller of
// allowAlways records the decision and notifies listeners.
func (p *Policy) allowAlways(name, tool string, allowed AlwaysAllowed) error {
	if problem := plaintext.CheckShown(allowed.Client); problem != "" {
		return fmt.Errorf("the client's name %s", problem)
	}
	return p.file.Change(func(doc *statedoc.Plugins) error {
		doc.Edit(name, func(entry statedoc.Object) {
			editTool(entry, tool, func(own statedoc.Object) {
				var all []json.RawMessage
				statedoc.Decode(own["allowed"], &all)
				one := statedoc.Object{}
				one.Put("client", allowed.Client)
				one.Put("caller", allowed.Caller)
				setMark(one, allowed.By)
				all = append(all, rawjson.Encode(one))
				if len(all) > keepGrants {
					all = all[len(all)-keepGrants:]
				}
				own.Put("allowed", all)
			})
		})
		return nil
	})
}

// CallsTo returns the plugins that the user allows the plugin to call, sorted by name.
// These permissions have no effect while the calling plugin is not reviewed.
func (s State) CallsTo() []string { return slices.Sorted(maps.Keys(s.Calls)) }
