package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
)

// MayCall reports whether a user lets the plugin call the tools of another one.
func (s State) MayCall(other string) bool {
	_, ok := s.Calls[other]
	return s.Reviewed && ok
}

// HasLateAccess reports whether a user lets the plugin have secret settings and
// call other plugins although it starts late.
func (s State) HasLateAccess() bool { return s.Reviewed && s.LateAccess != nil }

// IsRestricted reports whether a plugin starts late and has no late access: it gets
// no secret settings, calls no other plugin, and its tools call those of the same
// plugin in their own tab only.
func (p *Policy) IsRestricted(one *Plugin) bool {
	return one.StartsLate() && !p.stateOf(one.Name, one).HasLateAccess()
}

// isRestricted is IsRestricted for a plugin by its name; one that is not loaded is
// restricted.
func (p *Policy) isRestricted(name string) bool {
	one, ok := p.set().Plugin(name)
	return !ok || p.IsRestricted(one)
}

// isTrusted reports whether the plugin's author develops it just now.
func (p *Policy) isTrusted(one *Plugin) bool {
	if p.opts.Trusted == nil {
		return false
	}
	_, trusted := p.opts.Trusted(one)
	return trusted
}

// SetCalls says whether the tools of a plugin may call those of another one. by
// names the surface.
func (p *Policy) SetCalls(name, other string, allowed bool, by string) error {
	one, err := p.plugin(name)
	if err != nil {
		return err
	}
	change := Change{Kind: "calls", Plugin: name, By: by}
	if !allowed {
		return p.change(change, func(entry object) string {
			calls := entry.objectIn("calls")
			delete(calls, other)
			entry.put("calls", calls)
			return other
		})
	}
	if name == other {
		return fmt.Errorf("the tools of %s may always call each other", name)
	}
	if _, err := p.plugin(other); err != nil {
		return err
	}
	if !p.stateOf(name, one).Reviewed {
		return p.notReviewed(name)
	}
	change.New = other
	return p.change(change, func(entry object) string {
		calls, mark := entry.objectIn("calls"), object{}
		mark.mark(by)
		calls.put(other, mark)
		entry.put("calls", calls)
		return ""
	})
}

// SetLateAccess says whether a plugin that starts late gets its secret settings and
// may call other plugins, as far as [Policy.SetCalls] allows those.
func (p *Policy) SetLateAccess(name string, allowed bool, by string) error {
	one, err := p.plugin(name)
	if err != nil {
		return err
	}
	if allowed && !p.stateOf(name, one).Reviewed {
		return p.notReviewed(name)
	}
	if allowed && !one.StartsLate() {
		return fmt.Errorf("the plugin %s starts before the page's scripts, so it needs no late access: it has its secret settings already", name)
	}
	change := Change{Kind: "late-access", Plugin: name, By: by}
	if allowed {
		change.New = "on"
	}
	return p.change(change, func(entry object) (before string) {
		if _, ok := entry["lateAccess"]; ok {
			before = "on"
		}
		delete(entry, "lateAccess")
		if allowed {
			mark := object{}
			mark.mark(by)
			entry.put("lateAccess", mark)
		}
		return before
	})
}

// allowAlways writes down that a tool runs without a question for one caller. The
// decision is recorded and reported by who calls it.
func (p *Policy) allowAlways(name, tool string, allowed AlwaysAllowed) error {
	if problem := plaintext.CheckShown(allowed.Client); problem != "" {
		return fmt.Errorf("the client's name %s", problem)
	}
	return p.file.change(func(doc *perPlugin) error {
		doc.edit(name, func(entry object) {
			editTool(entry, tool, func(own object) {
				var all []json.RawMessage
				decode(own["allowed"], &all)
				one := object{}
				one.put("client", allowed.Client)
				one.put("caller", allowed.Caller)
				one.mark(allowed.By)
				all = append(all, rawjson.Encode(one))
				if len(all) > keepGrants {
					all = all[len(all)-keepGrants:]
				}
				own.put("allowed", all)
			})
		})
		return nil
	})
}

// CallsTo returns the plugins that a plugin may call, in order.
func (s State) CallsTo() []string { return slices.Sorted(maps.Keys(s.Calls)) }
