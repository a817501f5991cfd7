package main

import (
	"strings"

	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/plugin"
	"opentabs/wire"
)

// setCalling sets which other plugins a plugin may call, and whether one that
// starts late has access.
func (p *program) setCalling(book home.PolicyAccess, opts permissionOptions) error {
	if opts.plugin == "" || opts.tool != "" {
		return usage("--allow-calls-to, --forbid-calls-to and --late-access are for a plugin: run `opentabs plugin permission NAME --allow-calls-to OTHER`")
	}
	if opts.lateAccess != "" && opts.lateAccess != "on" && opts.lateAccess != "off" {
		return usage("--late-access: %q is neither on nor off", opts.lateAccess)
	}
	const by = httpapi.CommandLine
	for _, other := range opts.forbidCalls {
		if err := book.SetCalls(opts.plugin, other, false, by); err != nil {
			return asUsage(err)
		}
		p.out.Notef("%s may not call the tools of %s", opts.plugin, other)
	}
	if opts.lateAccess != "" {
		if err := book.SetLateAccess(opts.plugin, opts.lateAccess == "on", by); err != nil {
			return asUsage(err)
		}
		p.out.Notef("late access of %s is %s", opts.plugin, opts.lateAccess)
	}
	for _, other := range opts.allowCalls {
		if err := book.SetCalls(opts.plugin, other, true, by); err != nil {
			return asUsage(err)
		}
		p.out.Notef("%s may call the tools of %s; the permission of each tool holds, too", opts.plugin, other)
	}
	now, err := book.Permissions(opts.plugin)
	if err != nil {
		return asUsage(err)
	}
	if len(opts.allowCalls) > 0 && now.Late && !now.LateAccess {
		p.out.Notef("%s starts after the page's scripts, so it still calls no other plugin: see what that means with `opentabs plugin review %[1]s`, "+
			"and allow it with `opentabs plugin permission %[1]s --late-access on`", opts.plugin)
	}
	return nil
}

// callingText names the plugins that one may call; empty if there are none.
func callingText(calls []httpapi.AllowedCall) string {
	if len(calls) == 0 {
		return ""
	}
	var names []string
	for _, call := range calls {
		names = append(names, call.Plugin)
	}
	return "may call " + strings.Join(names, ", ")
}

// lateText says that a plugin has late access, or that it lacks it for the calls
// that are allowed; empty if there is nothing to say.
func lateText(view httpapi.PluginPermissions) string {
	switch {
	case view.LateAccess:
		return "late access"
	case view.Late && len(view.Calls) > 0:
		return "but not without late access"
	}
	return ""
}

// callingRows are the rows of a review about the world that a plugin runs in, when
// it starts, and what it may call.
func callingRows(one *plugin.Plugin, now httpapi.PluginPermissions) [][]string {
	rows := [][]string{{"world", plugin.WorldMeaning(one.World)}}
	if now.Late {
		text := plugin.LateMeaning
		if now.LateAccess {
			text += " You have allowed both."
		}
		rows = append(rows, []string{"late", text})
	}
	switch {
	case len(now.Calls) > 0:
		rows = append(rows, []string{"calls", callingText(now.Calls)})
	case len(now.StoredCalls) > 0:
		rows = append(rows, []string{"calls", "none; before it changed it " + strings.Replace(callingText(now.StoredCalls), "may", "might", 1) + ", which you can allow again"})
	default:
		rows = append(rows, []string{"calls", "no other plugin, unless you allow it"})
	}
	return rows
}

// withheldText is what follows in a list of settings on one that a plugin does not
// get; empty for the others.
func withheldText(v wire.SettingView) string {
	if !v.Withheld {
		return ""
	}
	return "; not given to the plugin, which starts late"
}
