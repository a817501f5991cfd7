package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"opentabs/wire"
)

type fakePolicy struct {
	changes []string
	err     error
}

func (f *fakePolicy) recordChange(parts ...any) error {
	f.changes = append(f.changes, strings.TrimSpace(fmt.Sprintln(parts...)))
	return f.err
}

func (f *fakePolicy) Permissions(plugin string) (PluginPermissions, error) {
	return PluginPermissions{Plugin: plugin, Permission: wire.PermissionAsk, Tools: []ToolPermissions{{Name: "echo", Limit: "1/1m"}}}, f.err
}

func (f *fakePolicy) Review(plugin, hash string, permission wire.Permission, by string) error {
	return f.recordChange("review", plugin, hash, permission, "by", by)
}

func (f *fakePolicy) ReviewAll(reviews []wire.ConfigReviewParams, by string) (errs []error) {
	for _, r := range reviews {
		errs = append(errs, f.recordChange("review", r.Plugin, r.Hash, r.Permission, "by", by))
	}
	return errs
}

func (f *fakePolicy) DisableAll(plugins []string, by string) (errs []error) {
	for _, plugin := range plugins {
		errs = append(errs, f.recordChange("disable", plugin, "by", by))
	}
	return errs
}

func (f *fakePolicy) SetPermission(plugin, tool string, permission wire.Permission, by string) error {
	return f.recordChange("permission", plugin, tool, permission, "by", by)
}

func (f *fakePolicy) SetLimit(plugin, tool, limit, by string) error {
	return f.recordChange("limit", plugin, tool, limit, "by", by)
}

func (f *fakePolicy) SetMayOpenTab(plugin string, allowed bool, by string) error {
	return f.recordChange("opening", plugin, allowed, "by", by)
}

func (f *fakePolicy) SetCalls(plugin, target string, allowed bool, by string) error {
	return f.recordChange("calls", plugin, target, allowed, "by", by)
}

func (f *fakePolicy) SetLateStartAccess(plugin string, allowed bool, by string) error {
	return f.recordChange("late access", plugin, allowed, "by", by)
}

func (f *fakePolicy) Sites() ([]Site, error) {
	return []Site{{Site: "*.shop.example", Permission: "read", AlwaysAllowed: []SiteClient{{Client: "laptop", Class: "act"}}}}, f.err
}

func (f *fakePolicy) SetSiteRule(site, rule, by string) error {
	return f.recordChange("site", site, rule, "by", by)
}

func (f *fakePolicy) Settings(plugin string) ([]wire.SettingView, error) {
	return []wire.SettingView{{Key: plugin + "-token", Secret: true, IsSet: true}}, f.err
}

func (f *fakePolicy) ChangeSettings(plugin string, settingValues map[string]json.RawMessage, by string) error {
	return f.recordChange("settings", plugin, fmt.Sprintf("%s", settingValues), "by", by)
}

func (f *fakePolicy) Forget(plugin, by string) error {
	return f.recordChange("forget", plugin, "by", by)
}

func TestPolicyRoutes(t *testing.T) {
	policy := &fakePolicy{}
	f := startFixture(t, func(o *Options) { o.Policy = policy })
	c := NewClient(f.port, testToken).Policy(context.Background())
	err := errors.Join(
		c.Review("a", "h", wire.PermissionAuto, "ignored"),
		c.SetPermission("a", "echo", "", "ignored"),
		c.SetLimit("a b", "echo", "10/1m", "ignored"),
		c.Forget("a", "ignored"),
		c.SetMayOpenTab("a", true, "ignored"),
		c.SetCalls("a", "b", true, "ignored"),
		c.SetLateStartAccess("a", false, "ignored"),
		c.ChangeSettings("a", map[string]json.RawMessage{"key": json.RawMessage(`{"work":"https://a.example"}`), "n": json.RawMessage("null")}, "ignored"),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"review a h auto by the command line", "permission a echo  by the command line", "limit a b echo 10/1m by the command line",
		"forget a by the command line", "opening a true by the command line",
		"calls a b true by the command line", "late access a false by the command line",
		`settings a map[key:{"work":"https://a.example"} n:null] by the command line`,
	}
	if got := strings.Join(policy.changes, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("changes that the policy received =\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	view, err := c.Permissions("a")
	if err != nil || view.Plugin != "a" || view.Permission != wire.PermissionAsk || view.Tools[0].Limit != "1/1m" {
		t.Errorf("Permissions returned %+v, error %v; want the plugin a with the permission ask and a limit", view, err)
	}
	settings, err := c.Settings("a")
	if err != nil || len(settings) != 1 || settings[0].Key != "a-token" || !settings[0].IsSet {
		t.Errorf("Settings returned %+v, error %v; want one setting a-token that is set", settings, err)
	}
	for _, refusal := range []struct {
		err        error
		httpStatus int
	}{
		{fmt.Errorf("there is no such: %w", ErrUnknown), http.StatusNotFound},
		{errors.New("it has changed since"), http.StatusConflict},
		{fmt.Errorf("write: %w", &fs.PathError{Op: "open", Path: "f", Err: fs.ErrPermission}), http.StatusInternalServerError},
	} {
		policy.err = refusal.err
		_, permissionsErr := c.Permissions("a")
		_, settingsErr := c.Settings("a")
		for _, err := range []error{c.Review("a", "h", "auto", ""), c.Forget("a", ""), permissionsErr, settingsErr, c.ChangeSettings("a", nil, "")} {
			var refusedError *RefusedError
			if !errors.As(err, &refusedError) || refusedError.Status != refusal.httpStatus || refusedError.Explanation != refusal.err.Error() || errors.Is(err, ErrUnknown) != (refusal.httpStatus == http.StatusNotFound) {
				t.Errorf("client error for the policy error %q = %v; want status %d and the same text", refusal.err, err, refusal.httpStatus)
			}
		}
	}
}

// TestEnableAndDisableManyPlugins checks that a request that changes several plugins returns an error or
// nil for each plugin.
func TestEnableAndDisableManyPlugins(t *testing.T) {
	policy := &fakePolicy{}
	f := startFixture(t, func(o *Options) { o.Policy = policy })
	c := NewClient(f.port, testToken).Policy(context.Background())
	reviews := []wire.ConfigReviewParams{{Plugin: "a", Hash: "h", Permission: wire.PermissionAsk}, {Plugin: "b", Hash: "i", Permission: wire.PermissionAsk}}
	if err := errors.Join(append(c.ReviewAll(reviews, "ignored"), c.DisableAll([]string{"a"}, "ignored")...)...); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(policy.changes, "\n"); got != "review a h ask by the command line\nreview b i ask by the command line\ndisable a by the command line" {
		t.Errorf("changes that the policy received = %s; want two reviews and one disabled plugin", got)
	}
	policy.err = errors.New("the plugin has changed since the review")
	for _, errs := range [][]error{c.ReviewAll(reviews, ""), c.DisableAll([]string{"a", "b"}, "")} {
		if len(errs) != 2 || errs[0] == nil || errs[0].Error() != "the plugin has changed since the review" || errs[1] == nil {
			t.Errorf("errors of the two plugins = %v; want an error for each", errs)
		}
	}
	policyWithoutServer := NewClient(1, testToken).Policy(context.Background())
	if errs := policyWithoutServer.ReviewAll(reviews, ""); len(errs) != 2 || errs[0] == nil || errs[1] == nil {
		t.Errorf("errors of ReviewAll without a running server = %v; want an error for each plugin", errs)
	}
}

// A request with an invalid body changes nothing.
func TestInvalidPolicyBodyChangesNothing(t *testing.T) {
	policy := &fakePolicy{}
	f := startFixture(t, func(o *Options) { o.Policy = policy })
	for _, body := range []string{"", "{", "[]", `{"permision":"auto"}`, `{"permission":1}`, `{"permission":"auto","by":"the side panel"}`, `{"tool":"` + strings.Repeat("x", maxBodyBytes) + `"}`} {
		req, err := http.NewRequest("POST", f.url+"/plugins/a/permission", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+testToken)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest || len(policy.changes) > 0 {
			t.Errorf("invalid body %.30s: status %d, changes %v; want 400 and no changes", body, resp.StatusCode, policy.changes)
		}
	}
	for method, path := range map[string]string{"DELETE": "/plugins/a/permission", "GET": "/plugins/a/review", "PUT": "/plugins/a/limit"} {
		if resp, body := f.sendRequest(t, method, path, nil); resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s %s: status %d, body %s; want 405", method, path, resp.StatusCode, body)
		}
	}
}
