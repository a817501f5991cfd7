package policy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

func (w *policyFixture) changesText() string {
	var wantedTexts []string
	for _, c := range w.changes {
		wantedTexts = append(wantedTexts, strings.Join(slices.DeleteFunc([]string{c.Kind, c.Plugin, c.Tool, c.Old + ">" + c.New}, func(s string) bool { return s == "" }), " "))
	}
	w.changes = nil
	return strings.Join(wantedTexts, ", ")
}

func TestReviewAll(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", "1;"), newTwoToolPackage("b", "1;"), newTwoToolPackage("c", "1;"), newTwoToolPackage("d", "1;"))
	w.review("c", permissionAuto)
	w.changesText()
	notifiedCount := 0
	w.policy.OnChange(func() { notifiedCount++ })
	errs := policy.ReviewAll(w.policy, []wire.ConfigReviewParams{
		{Plugin: "a", Hash: w.hash("a"), Permission: permissionAsk, Tools: []wire.ToolPermission{{Tool: "read", Permission: permissionAuto}, {Tool: "send", Permission: permissionOff}}},
		{Plugin: "c", Hash: "other content", Permission: permissionAsk},
		{Plugin: "x", Hash: w.hash("a"), Permission: permissionAsk},
		{Plugin: "b", Hash: w.hash("b"), Permission: permissionAuto},
		{Plugin: "d", Hash: w.hash("d"), Permission: permissionAuto, Tools: []wire.ToolPermission{{Tool: "none", Permission: permissionOff}}},
		{Plugin: "d", Hash: w.hash("d"), Permission: permissionAuto, Tools: []wire.ToolPermission{{Tool: "read", Permission: "maybe"}}},
	}, "me")
	for i, want := range []string{"", "has changed since you reviewed it", `there is no plugin "x"`, "", `has no tool "none"`, `"maybe" is not a permission`} {
		if err := errs[i]; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("error of review %d = %v; want %q", i, err, want)
		}
	}
	if !errors.Is(errs[2], plugin.ErrUnknown) {
		t.Errorf("error of a review of an unknown plugin = %v; want ErrUnknown", errs[2])
	}
	w.checkEffectivePermissions("a", permissionAsk, permissionAuto, permissionOff)
	w.checkEffectivePermissions("b", permissionAuto, permissionAuto, permissionAuto)
	w.checkEffectivePermissions("c", permissionAuto, permissionAuto, permissionAuto)
	w.checkEffectivePermissions("d", permissionOff, permissionOff, permissionOff)
	if got, want := w.changesText(), "review a >ask, permission a read >auto, permission a send >off, review b >auto"; got != want {
		t.Errorf("recorded changes of the reviews = %s, want %s", got, want)
	}
	if notifiedCount != 1 {
		t.Errorf("the reviews caused %d notifications, want 1", notifiedCount)
	}
	w.failOnError(errors.Join(policy.ReviewAll(w.policy, []wire.ConfigReviewParams{
		{Plugin: "a", Hash: w.hash("a"), Permission: permissionAsk, Tools: []wire.ToolPermission{{Tool: "send"}}},
	}, "me")...))
	w.checkEffectivePermissions("a", permissionAsk, permissionAuto, permissionAsk)
}

func TestReviewAllKeepsFile(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", "1;"), newTwoToolPackage("b", "1;"))
	w.write(`{"version": 99}`)
	for _, err := range policy.ReviewAll(w.policy, []wire.ConfigReviewParams{
		{Plugin: "a", Hash: w.hash("a"), Permission: permissionAsk}, {Plugin: "b", Hash: w.hash("b"), Permission: permissionAsk},
	}, "me") {
		if err == nil || !strings.Contains(err.Error(), "update opentabs") {
			t.Errorf("error for a permissions.json of a newer version = %v; want the advice to update opentabs", err)
		}
	}
	w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
}

func TestDisableAll(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", "1;"), newTwoToolPackage("b", "1;"))
	w.review("a", permissionAuto)
	w.failOnError(w.policy.SetPermission("a", "read", permissionAuto, "me"))
	w.failOnError(w.policy.SetPermission("a", "send", permissionOff, "me"))
	w.failOnError(w.policy.SetLimit("a", "read", policy.Limit{Calls: 1, Per: 1e9}, "me"))
	w.changesText()
	errs := policy.DisableAll(w.policy, []string{"a", "x"}, "me")
	if errs[0] != nil || !errors.Is(errs[1], plugin.ErrUnknown) {
		t.Errorf("errors of DisableAll = %v; want nil and ErrUnknown", errs)
	}
	w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
	loadedPlugin, _ := w.Set().Plugin("a")
	if w.policy.MayRunAnyTool(loadedPlugin) {
		t.Error("a tool of the disabled plugin may run; want none")
	}
	if got, want := w.changesText(), "permission a read auto>, permission a auto>off"; got != want {
		t.Errorf("recorded changes of DisableAll = %s, want %s", got, want)
	}
	s := w.policy.State("a")
	if !s.Reviewed || s.Tools["read"].Limit.Calls != 1 || s.Tools["send"].Permission != permissionOff {
		t.Errorf("state after DisableAll = %+v; want the review, the limit and the permission off kept", s)
	}
	w.review("a", permissionAsk)
	w.checkEffectivePermissions("a", permissionAsk, permissionAsk, permissionOff)
	if errs := policy.DisableAll(w.policy, nil, "me"); len(errs) != 0 {
		t.Errorf("errors of DisableAll without plugins = %v; want none", errs)
	}
}

func TestReviewAllPlugins(t *testing.T) {
	var packages []plugintest.Package
	for _, letter := range "abcdefghijklmnopqrst" {
		for _, digit := range "123456" {
			packages = append(packages, plugintest.Package{Name: string(letter) + string(digit)})
		}
	}
	w := newPolicyFixture(t, packages...)
	var reviews []wire.ConfigReviewParams
	for _, p := range w.Set().Plugins() {
		reviews = append(reviews, wire.ConfigReviewParams{Plugin: p.Name, Hash: p.ContentHash(), Permission: permissionAsk})
	}
	w.failOnError(errors.Join(policy.ReviewAll(w.policy, reviews, "me")...))
	if len(w.changes) != 120 {
		t.Errorf("recorded changes = %d, want 120", len(w.changes))
	}
	for _, p := range w.Set().Plugins() {
		if s := w.policy.State(p.Name); s.EffectivePermission != permissionAsk {
			t.Errorf("state of the plugin %s after its review = %+v; want ask", p.Name, s)
		}
	}
}
