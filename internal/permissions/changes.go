package permissions

import (
	"opentabs/internal/httpapi"
	"opentabs/internal/usererr"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// Changes are the permission changes that the user has requested on a command line.
type Changes struct {
	// Plugin is the name of the plugin to change. If Plugin is empty, the change applies
	// to all plugins. Tool is the name of the tool to change. If Tool is empty, the
	// change applies to the whole plugin.
	Plugin, Tool string
	// Permission is the new permission: "off", "ask", "auto" or "default", which restores
	// the default permission. If Permission is empty, the permission stays unchanged.
	Permission string
	// OpenTabs is "on" or "off", and sets whether calls are allowed to open tabs.
	// LateAccess is "on" or "off", and sets the plugin's late access. If OpenTabs or
	// LateAccess is empty, the corresponding permission stays unchanged.
	OpenTabs, LateAccess string
	// AllowCalls names the plugins that the changed plugin may call from now on.
	// ForbidCalls names the plugins that the changed plugin may no longer call.
	AllowCalls, ForbidCalls []string
}

// IsEmpty reports whether the command line has requested no change.
func (c Changes) IsEmpty() bool { return c.Permission == "" && c.OpenTabs == "" && !c.hasCalls() }

func (c Changes) hasCalls() bool {
	return len(c.AllowCalls)+len(c.ForbidCalls) > 0 || c.LateAccess != ""
}

// Apply makes the changes in the policy p. After each change, Apply calls notef with a
// message for the user. Apply stops at the first error and returns the error. If one
// change fails, the changes before the failed change stay in effect.
func (c Changes) Apply(p httpapi.Policy, notef func(format string, args ...any)) error {
	if c.OpenTabs != "" {
		if err := c.setMayOpenTab(p, notef); err != nil {
			return err
		}
	}
	if c.hasCalls() {
		if err := c.setCalls(p, notef); err != nil {
			return err
		}
	}
	if c.Permission != "" {
		return c.setPermission(p, notef)
	}
	return nil
}

func (c Changes) setPermission(p httpapi.Policy, notef func(format string, args ...any)) error {
	var permission wire.Permission
	if c.Permission != "default" {
		var err error
		if permission, err = policy.ParsePermission(c.Permission); err != nil {
			return usererr.Errorf("%v", err)
		}
	}
	if err := p.SetPermission(c.Plugin, c.Tool, permission, httpapi.CommandLine); err != nil {
		return err
	}
	currentPermissions, err := p.Permissions(c.Plugin)
	if err != nil {
		return err
	}
	if c.Tool == "" {
		notef("the permission of %s is %s", c.Plugin, currentPermissions.Permission)
	}
	for _, t := range currentPermissions.Tools {
		switch {
		case t.Name == c.Tool:
			notef("the permission of %s__%s is %s", c.Plugin, t.Name, t.Permission)
		case c.Tool == "" && t.PermissionOverride != "":
			notef("%s__%s has its own: %s", c.Plugin, t.Name, t.PermissionOverride)
		}
	}
	return nil
}

func (c Changes) setMayOpenTab(p httpapi.Policy, notef func(format string, args ...any)) error {
	if c.OpenTabs != "on" && c.OpenTabs != "off" {
		return usererr.Errorf("--open-tabs: %q is neither on nor off", c.OpenTabs)
	}
	if c.Plugin == "" || c.Tool != "" {
		return usererr.Errorf("--open-tabs is for a plugin: run `opentabs plugin permission NAME --open-tabs %s`", c.OpenTabs)
	}
	if err := p.SetMayOpenTab(c.Plugin, c.OpenTabs == "on", httpapi.CommandLine); err != nil {
		return err
	}
	currentPermissions, err := p.Permissions(c.Plugin)
	switch {
	case err != nil:
		return err
	case currentPermissions.MayOpenTab:
		notef("a call that finds no tab of %s may open %s", c.Plugin, currentPermissions.OpensURL)
	default:
		notef("calls may not open tabs of %s", c.Plugin)
	}
	return nil
}

func (c Changes) setCalls(p httpapi.Policy, notef func(format string, args ...any)) error {
	if c.Plugin == "" || c.Tool != "" {
		return usererr.Errorf("--allow-calls-to, --forbid-calls-to and --late-access are for a plugin: run `opentabs plugin permission NAME --allow-calls-to OTHER`")
	}
	if c.LateAccess != "" && c.LateAccess != "on" && c.LateAccess != "off" {
		return usererr.Errorf("--late-access: %q is neither on nor off", c.LateAccess)
	}
	for _, target := range c.ForbidCalls {
		if err := p.SetCalls(c.Plugin, target, false, httpapi.CommandLine); err != nil {
			return err
		}
		notef("%s may not call the tools of %s", c.Plugin, target)
	}
	if c.LateAccess != "" {
		if err := p.SetLateStartAccess(c.Plugin, c.LateAccess == "on", httpapi.CommandLine); err != nil {
			return err
		}
		notef("late access of %s is %s", c.Plugin, c.LateAccess)
	}
	for _, target := range c.AllowCalls {
		if err := p.SetCalls(c.Plugin, target, true, httpapi.CommandLine); err != nil {
			return err
		}
		notef("%s may call the tools of %s; the permission of each tool applies too", c.Plugin, target)
	}
	currentPermissions, err := p.Permissions(c.Plugin)
	if err == nil && len(c.AllowCalls) > 0 && currentPermissions.StartsAfterPageScripts && !currentPermissions.HasLateStartAccess {
		notef("%s starts after the page's scripts, so it still cannot call other plugins: see the reason with `opentabs plugin review %[1]s`, "+
			"and allow it with `opentabs plugin permission %[1]s --late-access on`", c.Plugin)
	}
	return err
}
