package policy

import (
	"fmt"
	"maps"

	"opentabs/internal/statedoc"
	"opentabs/wire"
)

func removeAutoPermissions(tools statedoc.Object) statedoc.Object {
	for name := range maps.Clone(tools) {
		tool := tools.Child(name)
		var permission wire.Permission
		if statedoc.DecodeInto(tool["permission"], &permission) && permission == wire.PermissionAuto {
			delete(tool, "permission")
			storeToolEntry(tools, name, tool)
		}
		removeAlwaysGrants(tools, name)
	}
	return tools
}

func removeAlwaysGrants(tools statedoc.Object, name string) {
	tool := tools.Child(name)
	delete(tool, "allowed")
	storeToolEntry(tools, name, tool)
}

func setPermission(entry statedoc.Object, permission wire.Permission, surface string) string {
	var oldValue string
	statedoc.DecodeInto(entry["permission"], &oldValue)
	entry.Put("permission", permission)
	setChangeOrigin(entry, surface)
	return oldValue
}

// SetPermission sets the permission of a plugin, or of one of its tools. An empty permission removes the tool's own
// permission, so that the plugin's permission applies. For a plugin that the user has not reviewed, "off" is the only
// permission that can be set. SetPermission ends all grants of the tool, or of all tools of the plugin.
func (p *Policy) SetPermission(name, tool string, permission wire.Permission, surface string) error {
	if permission == "" && tool == "" {
		return fmt.Errorf("a plugin's permission is off, ask or auto; only a tool can have the default, which is its plugin's")
	}
	if permission != "" {
		if _, err := ParsePermission(string(permission)); err != nil {
			return err
		}
	}
	loadedPlugin, err := p.currentPlugins().FindPluginWithTool(name, tool)
	if err != nil {
		return err
	}
	if permission != wire.PermissionOff && permission != "" && !p.stateOf(name, loadedPlugin).Reviewed {
		return newNotReviewedError(name)
	}
	policyChange := Change{Kind: "permission", Plugin: name, Tool: tool, New: string(permission), By: surface}
	return p.changeEntry(policyChange, func(entry statedoc.Object) string {
		if tool == "" {
			return setPluginPermission(entry, permission, surface)
		}
		return setToolPermission(entry, tool, permission, surface)
	})
}

func setPluginPermission(entry statedoc.Object, permission wire.Permission, surface string) (oldValue string) {
	delete(entry, "recommended")
	tools := entry.Child("tools")
	for name := range maps.Clone(tools) {
		removeAlwaysGrants(tools, name)
	}
	entry.Put("tools", tools)
	return setPermission(entry, permission, surface)
}

func setToolPermission(entry statedoc.Object, tool string, permission wire.Permission, surface string) (oldValue string) {
	editTool(entry, tool, func(toolEntry statedoc.Object) {
		delete(toolEntry, "allowed")
		oldValue = setPermission(toolEntry, permission, surface)
	})
	return oldValue
}

// SetLimit sets how often a tool is allowed to run; the zero limit removes the limit.
func (p *Policy) SetLimit(name, tool string, limit Limit, surface string) error {
	if _, err := p.currentPlugins().FindPluginWithTool(name, tool); err != nil {
		return err
	}
	policyChange := Change{Kind: "limit", Plugin: name, Tool: tool, New: limit.String(), By: surface}
	return p.changeEntry(policyChange, func(entry statedoc.Object) (oldValue string) {
		editTool(entry, tool, func(toolEntry statedoc.Object) {
			statedoc.DecodeInto(toolEntry["limit"], &oldValue)
			toolEntry.Put("limit", limit)
		})
		return oldValue
	})
}

// Forget deletes all permissions of a plugin, and the permissions of other plugins to
// call the plugin.
func (p *Policy) Forget(name, surface string) error {
	policyChange := Change{Kind: "forget", Plugin: name, By: surface}
	err := p.changeFile(&policyChange, func(document *statedoc.Plugins) {
		for otherName := range document.TopLevel.Child("plugins") {
			document.EditPlugin(otherName, func(entry statedoc.Object) {
				calls := entry.Child("calls")
				if _, ok := calls[name]; ok {
					delete(calls, name)
					entry.Put("calls", calls)
				}
			})
		}
		document.EditPlugin(name, func(entry statedoc.Object) {
			statedoc.DecodeInto(entry["permission"], &policyChange.Old)
			clear(entry)
		})
	})
	if err != nil {
		return err
	}
	return p.archive.Remove(name)
}

func (p *Policy) changeEntry(c Change, editContent func(entry statedoc.Object) (oldValue string)) error {
	return p.changeFile(&c, func(document *statedoc.Plugins) {
		document.EditPlugin(c.Plugin, func(entry statedoc.Object) { c.Old = editContent(entry) })
	})
}

func (p *Policy) changeFile(c *Change, editContent func(document *statedoc.Plugins)) error {
	err := p.file.Change(func(document *statedoc.Plugins) error {
		editContent(document)
		return nil
	})
	if err != nil {
		return err
	}
	if c.endsGrants() { // the listeners can take long, and calls must not run with the old grants meanwhile
		p.grants.drop(c.Plugin, c.Tool)
	}
	p.opts.RecordChange(*c)
	p.file.NotifyListeners()
	return nil
}
