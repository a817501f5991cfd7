package permissions

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"opentabs/internal/httpapi"
	"opentabs/internal/usererr"
	"opentabs/wire"
)

type recordingPolicy struct {
	httpapi.Policy
	recordedChanges []string
	view            httpapi.PluginPermissions
	err             error
}

func (r *recordingPolicy) recordChange(parts ...any) error {
	r.recordedChanges = append(r.recordedChanges, strings.TrimSpace(fmt.Sprintln(parts...)))
	return r.err
}

func (r *recordingPolicy) Permissions(string) (httpapi.PluginPermissions, error) { return r.view, nil }
func (r *recordingPolicy) SetPermission(plugin, tool string, permission wire.Permission, _ string) error {
	return r.recordChange("permission", plugin, tool, permission)
}
func (r *recordingPolicy) SetMayOpenTab(plugin string, allowed bool, _ string) error {
	return r.recordChange("opening", plugin, allowed)
}
func (r *recordingPolicy) SetCalls(plugin, target string, allowed bool, _ string) error {
	return r.recordChange("calls", plugin, target, allowed)
}
func (*recordingPolicy) Sites() ([]httpapi.Site, error) { return nil, nil }

func (*recordingPolicy) SetSiteRule(string, string, string) error { return nil }

func (r *recordingPolicy) SetLateStartAccess(plugin string, allowed bool, _ string) error {
	return r.recordChange("late", plugin, allowed)
}

func TestApplyChanges(t *testing.T) {
	tools := []httpapi.ToolPermissions{{Name: "x", Permission: wire.PermissionAsk}, {Name: "y", PermissionOverride: wire.PermissionOff}}
	for _, c := range []struct {
		changes                  Changes
		view                     httpapi.PluginPermissions
		recordedChanges, notices string
	}{
		{Changes{Plugin: "a", Permission: "auto"}, httpapi.PluginPermissions{Permission: wire.PermissionAuto, Tools: tools},
			"permission a  auto", "the permission of a is auto|a__y has its own: off"},
		{Changes{Plugin: "a", Tool: "x", Permission: "default"}, httpapi.PluginPermissions{Tools: tools}, "permission a x", "the permission of a__x is ask"},
		{Changes{Plugin: "a", OpenTabs: "on"}, httpapi.PluginPermissions{MayOpenTab: true, OpensURL: "https://a.example/"},
			"opening a true", "a call that finds no tab of a may open https://a.example/"},
		{Changes{Plugin: "a", OpenTabs: "off"}, httpapi.PluginPermissions{}, "opening a false", "calls may not open tabs of a"},
		{Changes{Plugin: "a", AllowCalls: []string{"b"}, ForbidCalls: []string{"c"}, LateAccess: "off"}, httpapi.PluginPermissions{StartsAfterPageScripts: true}, "calls a c false|late a false|calls a b true",
			"a may not call the tools of c|late access of a is off|a may call the tools of b; the permission of each tool applies too|" +
				"a starts after the page's scripts, so it still cannot call other plugins: see the reason with `opentabs plugin review a`, and allow it with `opentabs plugin permission a --late-access on`"},
	} {
		r := &recordingPolicy{view: c.view}
		var notices []string
		err := c.changes.Apply(r, func(format string, args ...any) { notices = append(notices, fmt.Sprintf(format, args...)) })
		if err != nil || strings.Join(r.recordedChanges, "|") != c.recordedChanges || strings.Join(notices, "|") != c.notices {
			t.Errorf("Apply(%+v): error %v, changes made %q, notices %q; want the changes %q and the notices %q", c.changes, err, r.recordedChanges, notices, c.recordedChanges, c.notices)
		}
		r = &recordingPolicy{err: errors.New("the disk is full")}
		if err := c.changes.Apply(r, func(format string, _ ...any) {
			t.Errorf("Apply(%+v) wrote the notice %s, want none after a failed change", c.changes, format)
		}); !errors.Is(err, r.err) {
			t.Errorf("Apply(%+v) returned the error %v; want %v", c.changes, err, r.err)
		}
	}
}

func TestApplyRejectsInvalidChanges(t *testing.T) {
	for want, c := range map[string]Changes{
		"--open-tabs is for a plugin":     {OpenTabs: "on"},
		`--open-tabs: "yes" is neither`:   {Plugin: "a", OpenTabs: "yes"},
		"--allow-calls-to, ":              {Plugin: "a", Tool: "x", AllowCalls: []string{"b"}},
		`--late-access: "yes" is neither`: {Plugin: "a", LateAccess: "yes"},
		`"always"`:                        {Plugin: "a", Permission: "always"},
	} {
		r := &recordingPolicy{}
		var userErr *usererr.Error
		if err := c.Apply(r, t.Logf); !errors.As(err, &userErr) || !strings.Contains(err.Error(), want) || len(r.recordedChanges) > 0 || c.IsEmpty() {
			t.Errorf("Apply(%+v): error %v, changes made %q; want a user error and no changes", c, err, r.recordedChanges)
		}
	}
	if !(Changes{Plugin: "a", Tool: "x"}).IsEmpty() {
		t.Error("IsEmpty of changes with only a plugin and a tool = false, want true")
	}
}
