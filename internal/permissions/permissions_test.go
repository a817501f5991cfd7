package permissions

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/browser"
	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/internal/audit"
	"opentabs/internal/httpapi"
	"opentabs/plugin"
	"opentabs/plugin/catalog"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

type installation struct {
	t                *testing.T
	localPermissions LocalPolicy
	wikiPlugin       *plugin.Plugin
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	i := &installation{t: t}
	store := plugin.NewStore(t.TempDir(), plugin.StoreOptions{})
	for _, p := range []plugintest.Package{
		{
			Name: "wiki", SDKVersion: "0.0.105",
			Tools:    []plugintest.Tool{{Name: "read", Description: "Reads."}, {Name: "send", Description: "Sends."}},
			Settings: json.RawMessage(`{"token":{"type":"string","label":"API token","secret":true},"pages":{"type":"number","label":"Pages","required":true}}`),
		},
		{Name: "mail"},
	} {
		if _, err := store.Add(p.Write(t)); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Dir(store.Path())
	registry := catalog.New(store, settings.New(dir, settings.Options{}), zerolog.Nop())
	if err := registry.Reload(); err != nil {
		t.Fatal(err)
	}
	i.localPermissions = NewLocalPolicy(policy.New(dir, registry.Set, policy.Options{}), registry)
	i.wikiPlugin = i.find("wiki")
	return i
}

func (i *installation) find(name string) *plugin.Plugin {
	i.t.Helper()
	wikiPlugin, err := i.localPermissions.registry.Set().Find(name)
	if err != nil {
		i.t.Fatal(err)
	}
	return wikiPlugin
}

func (i *installation) serverPolicy() httpapi.Policy {
	i.t.Helper()
	const token = "token-of-this-test"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		i.t.Fatal(err)
	}
	server := httpapi.NewServer(httpapi.New(httpapi.Options{Token: token, Policy: i.localPermissions}), zerolog.Nop())
	done := make(chan error)
	go func() { done <- server.Serve(listener) }()
	i.t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return httpapi.NewClient(listener.Addr().(*net.TCPAddr).Port, token).Policy(i.t.Context())
}

func TestLocalAndRemotePolicyAgree(t *testing.T) {
	for _, surface := range []struct {
		name       string
		openPolicy func(*installation) httpapi.Policy
	}{
		{"local", func(i *installation) httpapi.Policy { return i.localPermissions }},
		{"remote", func(i *installation) httpapi.Policy { return i.serverPolicy() }},
	} {
		t.Run(surface.name, func(t *testing.T) {
			i := newInstallation(t)
			p, by := surface.openPolicy(i), httpapi.CommandLine
			err := errors.Join(
				p.Review("wiki", i.wikiPlugin.ContentHash(), wire.PermissionAsk, by),
				p.SetPermission("wiki", "send", wire.PermissionOff, by),
				p.SetLimit("wiki", "read", "3/1m", by),
				p.SetCalls("wiki", "mail", true, by),
				p.SetLateStartAccess("wiki", true, by),
				p.ChangeSettings("wiki", map[string]json.RawMessage{"token": json.RawMessage(`"s3cret"`), "pages": json.RawMessage("7")}, by),
			)
			if err != nil {
				t.Fatal(err)
			}
			view, err := p.Permissions("wiki")
			if err != nil {
				t.Fatal(err)
			}
			readToolView, sendToolView := view.Tools[0], view.Tools[1]
			if !view.Reviewed || view.Permission != wire.PermissionAsk || view.By != by || view.Review.Hash != i.wikiPlugin.ContentHash() ||
				!view.StartsAfterPageScripts || !view.HasLateStartAccess || len(view.Calls) != 1 || view.Calls[0].Plugin != "mail" || view.StoredCalls != nil {
				t.Errorf("permissions of the plugin = %+v, want late access and calls of mail", view)
			}
			if readToolView.Name != "read" || readToolView.Permission != wire.PermissionAsk || readToolView.PermissionOverride != "" || readToolView.Limit != "3/1m" || sendToolView.PermissionOverride != wire.PermissionOff || sendToolView.Permission != wire.PermissionOff {
				t.Errorf("permissions of the tools: read %+v, send %+v; want read with ask and 3/1m, and send off", readToolView, sendToolView)
			}
			views, err := p.Settings("wiki")
			if err != nil || len(views) != 2 {
				t.Fatalf("settings = %+v, error %v; want 2 settings", views, err)
			}
			token, secondSetting := views[0], views[1]
			if secondSetting.Secret {
				token, secondSetting = secondSetting, token
			}
			if !token.IsSet || token.Value != nil || token.IsWithheld || string(secondSetting.Value) != "7" {
				t.Errorf("setting token = %+v, setting pages = %+v; want a token that is set but not shown, and 7 pages", token, secondSetting)
			}
			if err := p.SetLateStartAccess("wiki", false, by); err != nil {
				t.Fatal(err)
			}
			if views, err = p.Settings("wiki"); err != nil || !slices.ContainsFunc(views, func(v wire.SettingView) bool { return v.Secret && v.IsWithheld }) ||
				slices.ContainsFunc(views, func(v wire.SettingView) bool { return !v.Secret && v.IsWithheld }) {
				t.Errorf("settings without late access = %+v, error %v; want only the secret setting withheld", views, err)
			}
			if err := p.Forget("wiki", by); err != nil {
				t.Fatal(err)
			}
			view, err = p.Permissions("wiki")
			if err != nil || view.Reviewed || view.Review != nil || view.Permission != wire.PermissionOff || view.Tools[0].Limit != "" {
				t.Errorf("permissions after Forget = %+v, error %v; want off, no review and no limit", view, err)
			}
			if views, err := p.Settings("wiki"); err != nil || slices.ContainsFunc(views, func(v wire.SettingView) bool { return v.IsSet }) {
				t.Errorf("settings after Forget = %+v, error %v; want none set", views, err)
			}
		})
	}
}

// For ErrUnknown, the HTTP API responds with status 404, and commands exit with the code for "not found".
func TestUnknownPlugin(t *testing.T) {
	i := newInstallation(t)
	for name, p := range map[string]httpapi.Policy{"local": i.localPermissions, "remote": i.serverPolicy()} {
		_, permissionsErr := p.Permissions("wikis")
		_, settingsErr := p.Settings("wikis")
		for index, err := range []error{
			permissionsErr, settingsErr,
			p.Review("wikis", "h", wire.PermissionAsk, "x"),
			p.SetPermission("wikis", "", wire.PermissionAsk, "x"),
			p.SetPermission("wiki", "reed", wire.PermissionAsk, "x"),
			p.SetLimit("wikis", "read", "1/1m", "x"),
			p.SetMayOpenTab("wikis", true, "x"),
			p.SetCalls("wikis", "mail", true, "x"),
			p.SetLateStartAccess("wikis", true, "x"),
			p.ChangeSettings("wikis", map[string]json.RawMessage{}, "x"),
			p.ChangeSettings("wiki", map[string]json.RawMessage{"tokens": json.RawMessage(`"x"`)}, "x"),
		} {
			if !errors.Is(err, httpapi.ErrUnknown) || !strings.Contains(err.Error(), "wiki") {
				t.Errorf("%s, method %d of an unknown plugin: error %v, want ErrUnknown with the name", name, index, err)
			}
		}
	}
	if _, err := i.localPermissions.Inspect("wikis"); !errors.Is(err, httpapi.ErrUnknown) || !errors.Is(err, plugin.ErrUnknown) {
		t.Errorf("Inspect of an unknown plugin returned %v, want ErrUnknown of both packages", err)
	}
}

func TestConflictIsNotUnknownError(t *testing.T) {
	i := newInstallation(t)
	for name, p := range map[string]httpapi.Policy{"local": i.localPermissions, "remote": i.serverPolicy()} {
		for _, err := range []error{p.Review("wiki", "other content", wire.PermissionAsk, "x"), p.SetLimit("wiki", "read", "often", "x")} {
			if err == nil || errors.Is(err, httpapi.ErrUnknown) {
				t.Errorf("conflict in %s: error %v, want an error other than ErrUnknown", name, err)
			}
		}
	}
}

func TestPluginViewsForSidePanel(t *testing.T) {
	i := newInstallation(t)
	readViews := func() (wire.PluginView, httpapi.Plugin) {
		t.Helper()
		views, failedPlugins := i.localPermissions.Plugins()
		index := slices.IndexFunc(views, func(v wire.PluginView) bool { return v.Name == "wiki" })
		if len(views) != 2 || len(failedPlugins) != 0 || index < 0 {
			t.Fatalf("plugins = %+v, failed plugins = %+v; want 2 plugins and no failures", views, failedPlugins)
		}
		return views[index], i.localPermissions.Status(i.wikiPlugin)
	}
	if err := i.localPermissions.Recommend("wiki", i.wikiPlugin.ContentHash(), wire.PermissionAuto, "it only reads", "Claude"); err != nil {
		t.Fatal(err)
	}
	pluginView, status := readViews()
	if pluginView.Reviewed || status.Reviewed || pluginView.Permission != wire.PermissionOff || status.Permission != wire.PermissionOff || status.HasChanged || !slices.Equal(status.MissingSettings, []string{"pages"}) {
		t.Errorf("before the review: view %+v, status %+v; want off, and pages as a missing setting", pluginView, status)
	}
	if r := pluginView.Recommended; r == nil || r.By != "Claude" || r.Permission != wire.PermissionAuto || r.Note != "it only reads" {
		t.Errorf("recommendation in the view = %+v, want that of Claude", r)
	}
	if r := status.Recommendation; r == nil || r.By != "Claude" || r.Note != "it only reads" {
		t.Errorf("recommendation in the status = %+v, want that of Claude", r)
	}
	i.localPermissions.registry.Faults().RecordFault(i.wikiPlugin, "it threw", "https://wiki.test/x", "Chrome")
	if err := errors.Join(
		i.localPermissions.Review("wiki", i.wikiPlugin.ContentHash(), wire.PermissionAuto, "the test"),
		i.localPermissions.SetPermission("wiki", "send", wire.PermissionAsk, "the test"),
		i.localPermissions.SetCalls("wiki", "mail", true, "the test"),
	); err != nil {
		t.Fatal(err)
	}
	pluginView, status = readViews()
	if !pluginView.Reviewed || !status.Reviewed || pluginView.Permission != wire.PermissionAuto || pluginView.Recommended != nil || status.Recommendation != nil {
		t.Errorf("after the review: view %+v, status %+v; want auto and no recommendation", pluginView, status)
	}
	if len(pluginView.Tools) != 2 || pluginView.Tools[0].Permission != "" || pluginView.Tools[1].Permission != wire.PermissionAsk || !slices.Equal(pluginView.Calls, []string{"mail"}) || !slices.Equal(status.Calls, []string{"mail"}) {
		t.Errorf("tools in the view = %+v, calls in the view = %q, calls in the status = %q; want ask for the second tool, and calls of mail", pluginView.Tools, pluginView.Calls, status.Calls)
	}
	if pluginView.Problem != "did not start in a page of https://wiki.test: it threw" || status.Fault == nil || status.Fault.Text != pluginView.Problem || status.Fault.Browser != "Chrome" {
		t.Errorf("problem in the view = %q, fault in the status = %+v; want the error of the adapter's start in Chrome", pluginView.Problem, status.Fault)
	}
	if !slices.Equal(status.Tools, []string{"wiki__read", "wiki__send"}) || !status.StartsAfterPageScripts || status.HasLateStartAccess {
		t.Errorf("status = %+v, want the tools read and send, and a late start without late access", status)
	}
}

// Until the user reviews a plugin's new version, permissions to call other plugins have no effect and are listed
// separately.
func TestCallPermissionsAfterContentChange(t *testing.T) {
	i := newInstallation(t)
	if err := errors.Join(i.localPermissions.Review("wiki", i.wikiPlugin.ContentHash(), wire.PermissionAsk, "x"), i.localPermissions.SetCalls("wiki", "mail", true, "x")); err != nil {
		t.Fatal(err)
	}
	plugintest.Package{Name: "wiki", Code: "other();"}.WriteTo(t, i.wikiPlugin.Dir)
	if err := i.localPermissions.registry.Reload(); err != nil {
		t.Fatal(err)
	}
	view, err := i.localPermissions.Permissions("wiki")
	if err != nil || view.Reviewed || view.Calls != nil || len(view.StoredCalls) != 1 || view.StoredCalls[0].Plugin != "mail" {
		t.Errorf("permissions after new content = %+v, error %v; want no review, and mail only in StoredCalls", view, err)
	}
	if s := i.localPermissions.Status(i.find("wiki")); !s.HasChanged || s.Calls != nil {
		t.Errorf("status = %+v, want changed content without calls", s)
	}
}

func TestFailedPlugins(t *testing.T) {
	i := newInstallation(t)
	dir := i.find("mail").Dir
	plugintest.Package{Name: "mail", Code: "x", Tools: []plugintest.Tool{{Name: "bad name"}}}.WriteTo(t, dir)
	if err := i.localPermissions.registry.Reload(); err != nil {
		t.Fatal(err)
	}
	views, failedPlugins := i.localPermissions.Plugins()
	if len(views) != 1 || len(failedPlugins) != 1 || failedPlugins[0].Path != dir || !strings.Contains(failedPlugins[0].Error, "bad name") {
		t.Fatalf("Plugins returned %d plugins, failed %+v; want 1 plugin and a failure about its bad name", len(views), failedPlugins)
	}
	if f := NewFailedPlugin(i.localPermissions.registry.Set().Failed()[0]); f.Path != dir || f.Error != failedPlugins[0].Error {
		t.Errorf("status of the failed plugin = %+v, want its path and its error", f)
	}
}

func TestAuditRecord(t *testing.T) {
	decision := policy.Change{Kind: "decision", Plugin: "wiki", Tool: "read", CallID: "call_1", Client: "Claude", Allow: true, By: "the side panel"}
	decision.Scope, decision.For = wire.ScopeTime, 90*time.Second
	denial := decision
	denial.Allow = false
	review := policy.Change{Kind: "review", Plugin: "wiki", New: "ask", Old: "off", Hash: "h", By: "the command line"}
	yes, no := true, false
	auditedCall := shape.AuditedCall{CallID: "call_1", Requester: dispatch.Requester{Client: "Claude"}}
	for _, testCase := range []struct {
		policyChange policy.Change
		want         audit.Record
	}{
		{decision, audit.Record{Kind: audit.KindDecision, Tool: "wiki__read", AuditedCall: auditedCall, By: "the side panel", Allow: &yes, Scope: wire.ScopeTime, DurationMs: 90000}},
		{denial, audit.Record{Kind: audit.KindDecision, Tool: "wiki__read", AuditedCall: auditedCall, By: "the side panel", Allow: &no, Scope: wire.ScopeTime, DurationMs: 90000}},
		{review, audit.Record{Kind: "review", Tool: "wiki", Hash: "h", By: "the command line", Old: "off", New: "ask"}},
	} {
		if got := AuditRecord(testCase.policyChange); !reflect.DeepEqual(got, testCase.want) {
			var auditLog bytes.Buffer
			_ = json.NewEncoder(&auditLog).Encode(got)
			t.Errorf("audit record = %s, want the record in the test case", auditLog.String())
		}
	}
}

// Turning on a group of browser tools must not turn on the dangerous tools in the group.
func TestBrowserTools(t *testing.T) {
	dir := t.TempDir()
	registry := catalog.New(plugin.NewStore(dir, plugin.StoreOptions{}), settings.New(dir, settings.Options{}), zerolog.Nop())
	if err := registry.Reload(); err != nil {
		t.Fatal(err)
	}
	localPermissions := NewLocalPolicy(policy.New(dir, registry.Set, policy.Options{}), registry)
	if got := localPermissions.BrowserTools(); got.Permission != wire.PermissionOff || len(got.Sites) != 0 {
		t.Errorf("browser tools before any change = %+v, want off and no sites", got)
	}
	if err := localPermissions.SwitchBrowserTools([]string{"unknown"}, true, "the side panel"); err == nil {
		t.Error("switching an unknown group on succeeded, want an error")
	}
	for _, group := range browser.Groups() {
		if err := localPermissions.SwitchBrowserTools([]string{group.Name}, true, "the side panel"); err != nil {
			t.Fatal(err)
		}
	}
	if err := localPermissions.SetSiteRule("https://Shop.example/cart", "read", "the side panel"); err != nil {
		t.Fatal(err)
	}
	got := localPermissions.BrowserTools()
	if got.Permission != wire.PermissionAuto || len(got.Sites) != 1 || got.Sites[0].Site != "shop.example" || got.Sites[0].Permission != "read" {
		t.Errorf("permission of browser tools = %s with sites %+v, want auto with shop.example", got.Permission, got.Sites)
	}
	for i, group := range got.Groups {
		if group.Name != browser.Groups()[i].Name {
			t.Errorf("permission of group %d = %s, want %s", i, group.Name, browser.Groups()[i].Name)
		}
		for _, tool := range group.Tools {
			if isOn := tool.Permission != wire.PermissionOff; isOn == browser.IsDangerous(tool.Name) || tool.DisplayName == "" {
				t.Errorf("browser tool after its group was switched on = %+v, want on unless the tool is dangerous", tool)
			}
		}
	}
}
