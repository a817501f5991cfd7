package policy

import (
	"fmt"
	"maps"

	"opentabs/internal/statedoc"
	"opentabs/plugin"
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
	one, err := p.set().Find(name)
	if err != nil {
		return err
	}
	if hash != one.ContentHash() {
		return fmt.Errorf("the plugin %s is not what you looked at: it has changed since; look at it again, then decide", name)
	}
	// What is in memory may come from the index; what is recorded is read.
	if now, err := plugin.Load(one.Dir); err != nil || now.ContentHash() != hash {
		one.Distrust()
		return fmt.Errorf("the plugin %s is not what you looked at: its files have changed since; look at it again, then decide", name)
	}
	change := Change{Kind: "review", Plugin: name, New: string(permission), Hash: hash, By: by}
	err = p.change(change, func(entry statedoc.Object) string {
		review := entry.Child("reviewed")
		var before string
		statedoc.Decode(review["hash"], &before)
		review.Put("hash", hash)
		review.Put("version", one.Version)
		review.Put("dir", one.Dir)
		setMark(review, by)
		entry.Put("reviewed", review)
		delete(entry, "recommended") // it is answered
		if before != hash {
			entry.Put("tools", withoutAuto(entry.Child("tools")))
			if !p.opts.trusts(one) {
				delete(entry, "calls")
				delete(entry, "lateAccess")
			}
		}
		return setPermission(entry, permission, by)
	})
	if err == nil {
		p.grants.drop(name, "")
		if err := p.archive.Keep(one); err != nil { // the next review can't tell what has changed
			p.opts.Log.Warn().Err(err).Str("plugin", name).Msg("what was reviewed is not kept")
		}
	}
	return err
}

// withoutAuto takes the permission to run by themselves from tools.
func withoutAuto(tools statedoc.Object) statedoc.Object {
	for name := range maps.Clone(tools) {
		tool := tools.Child(name)
		var permission wire.Permission
		if statedoc.Decode(tool["permission"], &permission) && permission == wire.PermissionAuto {
			delete(tool, "permission")
			putTool(tools, name, tool)
		}
		withoutAllowed(tools, name)
	}
	return tools
}

// withoutAllowed ends what was allowed for always to single callers of a tool.
func withoutAllowed(tools statedoc.Object, name string) {
	tool := tools.Child(name)
	delete(tool, "allowed")
	putTool(tools, name, tool)
}

// setPermission sets an entry's permission and returns the one before.
func setPermission(entry statedoc.Object, permission wire.Permission, by string) string {
	var before string
	statedoc.Decode(entry["permission"], &before)
	entry.Put("permission", permission)
	setMark(entry, by)
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
	one, err := p.set().FindWithTool(name, tool)
	if err != nil {
		return err
	}
	if permission != wire.PermissionOff && permission != "" && !p.stateOf(name, one).Reviewed {
		return errNotReviewed(name)
	}
	change := Change{Kind: "permission", Plugin: name, Tool: tool, New: string(permission), By: by}
	err = p.change(change, func(entry statedoc.Object) (before string) {
		if tool == "" {
			delete(entry, "recommended") // it is answered
			tools := entry.Child("tools")
			for name := range maps.Clone(tools) {
				withoutAllowed(tools, name)
			}
			entry.Put("tools", tools)
			return setPermission(entry, permission, by)
		}
		editTool(entry, tool, func(own statedoc.Object) {
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
	if _, err := p.set().FindWithTool(name, tool); err != nil {
		return err
	}
	change := Change{Kind: "limit", Plugin: name, Tool: tool, New: limit.String(), By: by}
	return p.change(change, func(entry statedoc.Object) (before string) {
		editTool(entry, tool, func(own statedoc.Object) {
			statedoc.Decode(own["limit"], &before)
			own.Put("limit", limit)
		})
		return before
	})
}

// Forget takes all that is said of a plugin away, also that others may call it.
func (p *Policy) Forget(name, by string) error {
	change := Change{Kind: "forget", Plugin: name, By: by}
	err := p.changeFile(&change, func(doc *statedoc.Plugins) {
		for other := range doc.Top.Child("plugins") {
			doc.Edit(other, func(entry statedoc.Object) {
				calls := entry.Child("calls")
				if _, ok := calls[name]; ok {
					delete(calls, name)
					entry.Put("calls", calls)
				}
			})
		}
		doc.Edit(name, func(entry statedoc.Object) {
			statedoc.Decode(entry["permission"], &change.Old)
			clear(entry)
		})
	})
	if err == nil {
		p.grants.drop(name, "")
		err = p.archive.Remove(name)
	}
	return err
}

// change edits one plugin's entry, reads the file again and tells everybody.
// edit returns what was there before.
func (p *Policy) change(c Change, edit func(entry statedoc.Object) (before string)) error {
	return p.changeFile(&c, func(doc *statedoc.Plugins) {
		doc.Edit(c.Plugin, func(entry statedoc.Object) { c.Old = edit(entry) })
	})
}

// changeFile edits the file, reads it again and reports the change. edit may fill
// in what c lacks.
func (p *Policy) changeFile(c *Change, edit func(doc *statedoc.Plugins)) error {
	err := p.file.Change(func(doc *statedoc.Plugins) error {
		edit(doc)
		return nil
	})
	if err != nil {
		return err
	}
	p.opts.Record(*c)
	p.file.Notify()
	return nil
}
