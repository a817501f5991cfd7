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

func (s State) mayCall(target string) bool {
	_, ok := s.Calls[target]
	return s.Reviewed && ok
}

// HasLateStartAccess reports whether the user has given the plugin late access: secret
// settings and calls to other plugins despite a late start.
func (s State) HasLateStartAccess() bool { return s.Reviewed && s.LateAccess != nil }

// IsRestricted reports whether a plugin starts late and has no late access. A restricted
// plugin receives no secret settings and cannot call other plugins. The tools of a
// restricted plugin can call each other, but only in their own tab.
func (p *Policy) IsRestricted(loadedPlugin *plugin.Plugin) bool {
	return loadedPlugin.StartsAfterPageScripts() && !p.stateOf(loadedPlugin.Name, loadedPlugin).HasLateStartAccess()
}

// SetCalls allows or forbids calls from the plugin called name to the tools of the plugin
// called target. The argument by is the surface on which the user made the change.
func (p *Policy) SetCalls(name, target string, isAllowed bool, by string) error {
	loadedPlugin, err := p.currentPlugins().Find(name)
	if err != nil {
		return err
	}
	policyChange := Change{Kind: "calls", Plugin: name, By: by}
	if !isAllowed {
		return p.changeEntry(policyChange, func(entry statedoc.Object) string {
			calls := entry.Child("calls")
			delete(calls, target)
			entry.Put("calls", calls)
			return target
		})
	}
	if name == target {
		return fmt.Errorf("the tools of %s may always call each other", name)
	}
	if _, err := p.currentPlugins().Find(target); err != nil {
		return err
	}
	if !p.stateOf(name, loadedPlugin).Reviewed {
		return newNotReviewedError(name)
	}
	policyChange.New = target
	return p.changeEntry(policyChange, func(entry statedoc.Object) string {
		calls, mark := entry.Child("calls"), statedoc.Object{}
		setChangeOrigin(mark, by)
		calls.Put(target, mark)
		entry.Put("calls", calls)
		return ""
	})
}

// SetLateStartAccess gives late access to a plugin, or takes late access away.
func (p *Policy) SetLateStartAccess(name string, isAllowed bool, by string) error {
	loadedPlugin, err := p.currentPlugins().Find(name)
	if err != nil {
		return err
	}
	if isAllowed && !p.stateOf(name, loadedPlugin).Reviewed {
		return newNotReviewedError(name)
	}
	if isAllowed && !loadedPlugin.StartsAfterPageScripts() {
		return fmt.Errorf("the plugin %s starts before the page's scripts, so it needs no late access: it has its secret settings already", name)
	}
	policyChange := Change{Kind: "late-access", Plugin: name, By: by}
	if isAllowed {
		policyChange.New = "on"
	}
	return p.changeEntry(policyChange, func(entry statedoc.Object) (oldValue string) {
		if _, ok := entry["lateAccess"]; ok {
			oldValue = "on"
		}
		delete(entry, "lateAccess")
		if isAllowed {
			mark := statedoc.Object{}
			setChangeOrigin(mark, by)
			entry.Put("lateAccess", mark)
		}
		return oldValue
	})
}

// After allowAlways returns, its caller must record the user's decision and notify the listeners.
func (p *Policy) allowAlways(name, tool string, isAllowed AlwaysAllowed) error {
	if problemText := plaintext.CheckDisplayText(isAllowed.Client); problemText != "" {
		return fmt.Errorf("the client's name %s", problemText)
	}
	return p.file.Change(func(document *statedoc.Plugins) error {
		document.EditPlugin(name, func(entry statedoc.Object) {
			editTool(entry, tool, func(toolEntry statedoc.Object) {
				var allowedCallers []json.RawMessage
				statedoc.DecodeInto(toolEntry["allowed"], &allowedCallers)
				loadedPlugin := statedoc.Object{}
				loadedPlugin.Put("client", isAllowed.Client)
				loadedPlugin.Put("caller", isAllowed.Caller)
				setChangeOrigin(loadedPlugin, isAllowed.By)
				allowedCallers = append(allowedCallers, rawjson.Encode(loadedPlugin))
				if len(allowedCallers) > maxToolGrants {
					allowedCallers = allowedCallers[len(allowedCallers)-maxToolGrants:]
				}
				toolEntry.Put("allowed", allowedCallers)
			})
		})
		return nil
	})
}

// CallablePlugins returns the names of the plugins whose tools the given plugin is allowed to call,
// in alphabetical order. Permissions for calls have no effect while the calling plugin is not
// reviewed.
func (s State) CallablePlugins() []string { return slices.Sorted(maps.Keys(s.Calls)) }
