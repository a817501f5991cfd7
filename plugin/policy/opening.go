package policy

import (
	"fmt"

	"opentabs/internal/statedoc"
)

// MayOpenPage reports whether a call without a matching tab is allowed to open the page of the
// plugin. MayOpenPage does not check permissions.json for changes, because the gates of the call
// have already checked the file.
func (p *Policy) MayOpenPage(name string) bool {
	loadedPlugin, ok := p.currentPlugins().Plugin(name)
	if !ok || loadedPlugin.OpenURL == "" {
		return false
	}
	s := p.opts.stateForRules(p.file.Latest().View, name, loadedPlugin)
	return s.Reviewed && s.OpenTabs == loadedPlugin.OpenURL
}

// SetMayOpenTab sets whether calls without a matching tab are allowed to open the page of a
// plugin in the background. If another version of the plugin declares another page, the
// user's permission to open the page ends.
func (p *Policy) SetMayOpenTab(name string, allowed bool, by string) error {
	loadedPlugin, err := p.currentPlugins().Find(name)
	if err != nil {
		return err
	}
	page := ""
	if allowed {
		if page = loadedPlugin.OpenURL; page == "" {
			return fmt.Errorf("the plugin %s has no page that could be opened: none of its sites is named without a wildcard", name)
		}
		if !p.stateOf(name, loadedPlugin).Reviewed {
			return newNotReviewedError(name)
		}
	}
	policyChange := Change{Kind: "opening", Plugin: name, New: page, By: by}
	return p.changeEntry(policyChange, func(entry statedoc.Object) (oldValue string) {
		statedoc.DecodeInto(entry["openTabs"], &oldValue)
		entry.Put("openTabs", page)
		return oldValue
	})
}

func newNotReviewedError(name string) error {
	return fmt.Errorf("the plugin %s is not reviewed: review and enable it with `opentabs plugin review %s` or in the side panel, then set permissions", name, name)
}
