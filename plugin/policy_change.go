package plugin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"opentabs/internal/nearest"
	"opentabs/wire"
)

// Review records that a person has reviewed the plugin whose content has this
// hash, and sets its permission. If it is not what was reviewed before, the
// tools that ran by themselves come under that permission again; those that were
// off stay off; and it may call no other plugin and has no late access, unless its
// author develops it just now. by names the surface. The error says what the person can do.
func (p *Policy) Review(name, hash string, permission wire.Permission, by string) error {
	if _, err := ParsePermission(string(permission)); err != nil {
		return err
	}
	one, err := p.plugin(name)
	if err != nil {
		return err
	}
	if hash != one.ContentHash() {
		return fmt.Errorf("the plugin %s is not what you looked at: it has changed since; look at it again, then decide", name)
	}
	// What is in memory may come from the index; what is recorded is read.
	if now, err := Load(one.Dir); err != nil || now.ContentHash() != hash {
		if one.changed != nil {
			one.changed()
		}
		return fmt.Errorf("the plugin %s is not what you looked at: its files have changed since; look at it again, then decide", name)
	}
	change := Change{Kind: "review", Plugin: name, New: string(permission), Hash: hash, By: by}
	err = p.change(change, func(entry object) string {
		review := entry.objectIn("reviewed")
		var before string
		decode(review["hash"], &before)
		review.put("hash", hash)
		review.put("version", one.Version)
		review.put("dir", one.Dir)
		review.mark(by)
		entry.put("reviewed", review)
		delete(entry, "recommended") // it is answered
		if before != hash {
			entry.put("tools", withoutAuto(entry.objectIn("tools")))
			if !p.isTrusted(one) {
				delete(entry, "calls")
				delete(entry, "lateAccess")
			}
		}
		return setPermission(entry, permission, by)
	})
	if err == nil {
		p.grants.drop(name, "")
		if err := p.keep(one); err != nil { // the next review can't tell what has changed
			p.opts.Log.Warn().Err(err).Str("plugin", name).Msg("what was reviewed is not kept")
		}
	}
	return err
}

// withoutAuto takes the permission to run by themselves from tools.
func withoutAuto(tools object) object {
	for name := range maps.Clone(tools) {
		tool := tools.objectIn(name)
		var permission wire.Permission
		if decode(tool["permission"], &permission) && permission == wire.PermissionAuto {
			delete(tool, "permission")
			putTool(tools, name, tool)
		}
		withoutAllowed(tools, name)
	}
	return tools
}

// withoutAllowed ends what was allowed for always to single callers of a tool.
func withoutAllowed(tools object, name string) {
	tool := tools.objectIn(name)
	delete(tool, "allowed")
	putTool(tools, name, tool)
}

// setPermission sets an entry's permission and returns the one before.
func setPermission(entry object, permission wire.Permission, by string) string {
	var before string
	decode(entry["permission"], &before)
	entry.put("permission", permission)
	entry.mark(by)
	return before
}

// SetPermission sets the permission of a plugin, or of one of its tools. Empty
// takes the tool's own away, so that the plugin's holds. What is not reviewed can
// be switched off and nothing else. What was allowed to single callers ends: for a
// session, for some time and for always.
func (p *Policy) SetPermission(name, tool string, permission wire.Permission, by string) error {
	if permission == "" && tool == "" {
		return fmt.Errorf("a plugin's permission is off, ask or auto; only a tool can have the default, which is its plugin's")
	}
	if permission != "" {
		if _, err := ParsePermission(string(permission)); err != nil {
			return err
		}
	}
	one, err := p.toolOf(name, tool)
	if err != nil {
		return err
	}
	if permission != wire.PermissionOff && permission != "" && !p.stateOf(name, one).Reviewed {
		return p.notReviewed(name)
	}
	change := Change{Kind: "permission", Plugin: name, Tool: tool, New: string(permission), By: by}
	err = p.change(change, func(entry object) (before string) {
		if tool == "" {
			delete(entry, "recommended") // it is answered
			tools := entry.objectIn("tools")
			for name := range maps.Clone(tools) {
				withoutAllowed(tools, name)
			}
			entry.put("tools", tools)
			return setPermission(entry, permission, by)
		}
		editTool(entry, tool, func(own object) {
			delete(own, "allowed")
			before = setPermission(own, permission, by)
		})
		return before
	})
	if err == nil {
		p.grants.drop(name, tool)
	}
	return err
}

// SetLimit sets how often a tool may run; the zero limit takes it away.
func (p *Policy) SetLimit(name, tool string, limit Limit, by string) error {
	if _, err := p.toolOf(name, tool); err != nil {
		return err
	}
	change := Change{Kind: "limit", Plugin: name, Tool: tool, New: limit.String(), By: by}
	return p.change(change, func(entry object) (before string) {
		editTool(entry, tool, func(own object) {
			decode(own["limit"], &before)
			own.put("limit", limit)
		})
		return before
	})
}

// Forget takes all that is said of a plugin away, also that others may call it.
func (p *Policy) Forget(name, by string) error {
	change := Change{Kind: "forget", Plugin: name, By: by}
	err := p.changeFile(&change, func(doc *perPlugin) {
		for other := range doc.top.objectIn("plugins") {
			doc.edit(other, func(entry object) {
				calls := entry.objectIn("calls")
				if _, ok := calls[name]; ok {
					delete(calls, name)
					entry.put("calls", calls)
				}
			})
		}
		doc.edit(name, func(entry object) {
			decode(entry["permission"], &change.Old)
			clear(entry)
		})
	})
	if err == nil {
		p.grants.drop(name, "")
		err = p.unkeep(name)
	}
	return err
}

// change edits one plugin's entry, reads the file again and tells everybody.
// edit returns what was there before.
func (p *Policy) change(c Change, edit func(entry object) (before string)) error {
	return p.changeFile(&c, func(doc *perPlugin) {
		doc.edit(c.Plugin, func(entry object) { c.Old = edit(entry) })
	})
}

// changeFile edits the file, reads it again and reports the change. edit may fill
// in what c lacks.
func (p *Policy) changeFile(c *Change, edit func(doc *perPlugin)) error {
	err := p.file.change(func(doc *perPlugin) error {
		edit(doc)
		return nil
	})
	if err != nil {
		return err
	}
	p.opts.Record(*c)
	p.file.tell()
	return nil
}

// Unknown is the error about a plugin that is not loaded: it wraps [ErrUnknown]
// and names those there are, or says why it could not be loaded.
func (p *Policy) Unknown(name string) error {
	_, err := p.plugin(name)
	return err
}

// plugin returns a plugin that is loaded.
func (p *Policy) plugin(name string) (*Plugin, error) {
	set := p.set()
	if one, ok := set.Plugin(name); ok {
		return one, nil
	}
	if f, ok := set.Failure(name); ok {
		return nil, fmt.Errorf("the plugin %s is not loaded: %w", name, f.Err)
	}
	var names []string
	for _, one := range set.Plugins() {
		names = append(names, one.Name)
	}
	return nil, unknownName(name, names)
}

// toolOf returns the plugin of a tool; an empty tool stands for all.
func (p *Policy) toolOf(name, tool string) (*Plugin, error) {
	one, err := p.plugin(name)
	if err != nil || tool == "" {
		return one, err
	}
	var names []string
	for _, t := range one.Tools {
		if t.Name == tool {
			return one, nil
		}
		names = append(names, t.FullName())
	}
	if slices.ContainsFunc(one.Prompts, func(p *Prompt) bool { return p.Name == tool }) {
		return nil, fmt.Errorf("%s__%s is a prompt, and prompts have no permission of their own: set that of the plugin %s", name, tool, name)
	}
	return nil, fmt.Errorf("%w: the plugin %s has no tool %q%s; name one of %s", ErrUnknown, name, tool, nearest.Suggestion(name+"__"+tool, names), strings.Join(names, ", "))
}
