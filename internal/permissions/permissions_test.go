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
	t     *testing.T
	local Local
	wiki  *plugin.Plugin
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
	i.local = NewLocal(policy.New(dir, registry.Set, policy.Options{}), registry)
	i.wiki = i.find("wiki")
	return i
}

func (i *installation) find(name string) *plugin.Plugin {
	i.t.Helper()
	wikiPlugin, err := i.local.registry.Set().Find(name)
	if err != nil {
		i.t.Fatal(err)
	}
	return wikiPlugin
}

func (i *installation) remotePolicy() httpapi.Policy {
	i.t.Helper()
	const token = "token-of-this-test"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		i.t.Fatal(err)
	}
	server := httpapi.NewServer(httpapi.New(httpapi.Options{Token: token, Policy: i.local}), zerolog.Nop())
	done := make(chan error)
	go func() { done <- server.Serve(listener) }()
	i.t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return httpapi.NewClient(listener.Addr().(*net.TCPAddr).Port, token).Policy(i.t.Context())
}

func TestLocalAndRemote(t *testing.T) {
	for _, surface := range []struct {
		name     string
		policyOf func(*installation) httpapi.Policy
	}{
		{"local", func(i *installation) httpapi.Policy { return i.local }},
		{"remote", func(i *installation) httpapi.Policy { return i.remotePolicy() }},
	} {
		t.Run(surface.name, func(t *testing.T) {
			i := newInstallation(t)
			p, by := surface.policyOf(i), httpapi.CommandLine
			err := errors.Join(
				p.Review("wiki", i.wiki.ContentHash(), wire.PermissionAsk, by),
				p.SetPermission("wiki", "send", wire.PermissionOff, by),
				p.SetLimit("wiki", "read", "3/1m", by),
				p.SetCalls("wiki", "mail", true, by),
				p.SetLateAccess("wiki", true, by),
				p.ChangeSettings("wiki", map[string]json.RawMessage{"token": json.RawMessage(`"s3cret"`), "pages": json.RawMessage("7")}, by),
			)
			if err != nil {
				t.Fatal(err)
			}
			view, err := p.Permissions("wiki")
			if err != nil {
				t.Fatal(err)
			}
			readView, sendView := view.Tools[0], view.Tools[1]
			if !view.Reviewed || view.Permission != wire.PermissionAsk || view.By != by || view.Review.Hash != i.wiki.ContentHash() ||
				!view.StartsLate || !view.HasLateAccess || len(view.Calls) != 1 || view.Calls[0].Plugin != "mail" || view.StoredCalls != nil {
				t.Errorf("%+v", view)
			}
			if readView.Name != "read" || readView.Permission != wire.PermissionAsk || readView.OwnPermission != "" || readView.Limit != "3/1m" || sendView.OwnPermission != wire.PermissionOff || sendView.Permission != wire.PermissionOff {
				t.Errorf("read %+v, send %+v", readView, sendView)
			}
			views, err := p.Settings("wiki")
			if err != nil || len(views) != 2 {
				t.Fatalf("%+v, %v; want length 2", views, err)
			}
			token, pagesView := views[0], views[1]
			if pagesView.Secret {
				token, pagesView = pagesView, token
			}
			if !token.IsSet || token.Value != nil || token.IsWithheld || string(pagesView.Value) != "7" {
				t.Errorf("token %+v, pages %+v", token, pagesView)
			}
			if err := p.SetLateAccess("wiki", false, by); err != nil {
				t.Fatal(err)
			}
			if views, err = p.Settings("wiki"); err != nil || !slices.ContainsFunc(views, func(v wire.SettingView) bool { return v.Secret && v.IsWithheld }) ||
				slices.ContainsFunc(views, func(v wire.SettingView) bool { return !v.Secret && v.IsWithheld }) {
				t.Errorf("without late access: %+v, %v; want the secret setting withheld", views, err)
			}
			if err := p.Forget("wiki", by); err != nil {
				t.Fatal(err)
			}
			view, err = p.Permissions("wiki")
			if err != nil || view.Reviewed || view.Review != nil || view.Permission != wire.PermissionOff || view.Tools[0].Limit != "" {
				t.Errorf("after Forget: %+v, %v", view, err)
			}
			if views, err := p.Settings("wiki"); err != nil || slices.ContainsFunc(views, func(v wire.SettingView) bool { return v.IsSet }) {
				t.Errorf("after Forget: settings %+v, %v", views, err)
			}
		})
	}
}

// For ErrUnknown, the HTTP API responds with status 404, and commands exit with the code for "not found".
func TestUnknownPlugin(t *testing.T) {
	i := newInstallation(t)
	for name, p := range map[string]httpapi.Policy{"local": i.local, "remote": i.remotePolicy()} {
		_, permissionsErr := p.Permissions("wikis")
		_, settingsErr := p.Settings("wikis")
		for index, err := range []error{
			permissionsErr, settingsErr,
			p.Review("wikis", "h", wire.PermissionAsk, "x"),
			p.SetPermission("wikis", "", wire.PermissionAsk, "x"),
			p.SetPermission("wiki", "reed", wire.PermissionAsk, "x"),
			p.SetLimit("wikis", "read", "1/1m", "x"),
			p.SetOpening("wikis", true, "x"),
			p.SetCalls("wikis", "mail", true, "x"),
			p.SetLateAccess("wikis", true, "x"),
			p.ChangeSettings("wikis", map[string]json.RawMessage{}, "x"),
			p.ChangeSettings("wiki", map[string]json.RawMessage{"tokens": json.RawMessage(`"x"`)}, "x"),
		} {
			if !errors.Is(err, httpapi.ErrUnknown) || !strings.Contains(err.Error(), "wiki") {
				t.Errorf("%s, method %d: %v, want an error that is ErrUnknown", name, index, err)
			}
		}
	}
	if _, err := i.local.Inspect("wikis"); !errors.Is(err, httpapi.ErrUnknown) || !errors.Is(err, plugin.ErrUnknown) {
		t.Errorf("Inspect: %v", err)
	}
}

func TestConflictIsNoUnknownPlugin(t *testing.T) {
	i := newInstallation(t)
	for name, p := range map[string]httpapi.Policy{"local": i.local, "remote": i.remotePolicy()} {
		for _, err := range []error{p.Review("wiki", "other content", wire.PermissionAsk, "x"), p.SetLimit("wiki", "read", "often", "x")} {
			if err == nil || errors.Is(err, httpapi.ErrUnknown) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestViews(t *testing.T) {
	i := newInstallation(t)
	readViews := func() (wire.PluginView, httpapi.Plugin) {
		t.Helper()
		views, failedPlugins := i.local.Plugins()
		index := slices.IndexFunc(views, func(v wire.PluginView) bool { return v.Name == "wiki" })
		if len(views) != 2 || len(failedPlugins) != 0 || index < 0 {
			t.Fatalf("%+v, failed %+v", views, failedPlugins)
		}
		return views[index], i.local.Status(i.wiki)
	}
	if err := i.local.Recommend("wiki", i.wiki.ContentHash(), wire.PermissionAuto, "it only reads", "Claude"); err != nil {
		t.Fatal(err)
	}
	pluginView, status := readViews()
	if pluginView.Reviewed || status.Reviewed || pluginView.Permission != wire.PermissionOff || status.Permission != wire.PermissionOff || status.HasChanged || !slices.Equal(status.MissingSettings, []string{"pages"}) {
		t.Errorf("before the review: view %+v, status %+v", pluginView, status)
	}
	if r := pluginView.Recommended; r == nil || r.By != "Claude" || r.Permission != wire.PermissionAuto || r.Note != "it only reads" {
		t.Errorf("recommendation in the view: %+v", r)
	}
	if r := status.Recommendation; r == nil || r.By != "Claude" || r.Note != "it only reads" {
		t.Errorf("recommendation in the status: %+v", r)
	}
	i.local.registry.Faults().RecordFault(i.wiki, "it threw", "https://wiki.test/x", "Chrome")
	if err := errors.Join(
		i.local.Review("wiki", i.wiki.ContentHash(), wire.PermissionAuto, "the test"),
		i.local.SetPermission("wiki", "send", wire.PermissionAsk, "the test"),
		i.local.SetCalls("wiki", "mail", true, "the test"),
	); err != nil {
		t.Fatal(err)
	}
	pluginView, status = readViews()
	if !pluginView.Reviewed || !status.Reviewed || pluginView.Permission != wire.PermissionAuto || pluginView.Recommended != nil || status.Recommendation != nil {
		t.Errorf("after the review: view %+v, status %+v", pluginView, status)
	}
	if len(pluginView.Tools) != 2 || pluginView.Tools[0].Permission != "" || pluginView.Tools[1].Permission != wire.PermissionAsk || !slices.Equal(pluginView.Calls, []string{"mail"}) || !slices.Equal(status.Calls, []string{"mail"}) {
		t.Errorf("tools %+v, calls %q and %q", pluginView.Tools, pluginView.Calls, status.Calls)
	}
	if pluginView.Problem != "did not start in a page of https://wiki.test: it threw" || status.Fault == nil || status.Fault.Text != pluginView.Problem || status.Fault.Browser != "Chrome" {
		t.Errorf("fault %q and %+v", pluginView.Problem, status.Fault)
	}
	if !slices.Equal(status.Tools, []string{"wiki__read", "wiki__send"}) || !status.StartsLate || status.HasLateAccess {
		t.Errorf("status %+v", status)
	}
}

// Until the user reviews a plugin's new version, permissions to call other plugins have no effect and are listed
// separately.
func TestCallsOfEarlierContent(t *testing.T) {
	i := newInstallation(t)
	if err := errors.Join(i.local.Review("wiki", i.wiki.ContentHash(), wire.PermissionAsk, "x"), i.local.SetCalls("wiki", "mail", true, "x")); err != nil {
		t.Fatal(err)
	}
	plugintest.Package{Name: "wiki", Code: "other();"}.WriteTo(t, i.wiki.Dir)
	if err := i.local.registry.Reload(); err != nil {
		t.Fatal(err)
	}
	view, err := i.local.Permissions("wiki")
	if err != nil || view.Reviewed || view.Calls != nil || len(view.StoredCalls) != 1 || view.StoredCalls[0].Plugin != "mail" {
		t.Errorf("after new content: %+v, %v", view, err)
	}
	if s := i.local.Status(i.find("wiki")); !s.HasChanged || s.Calls != nil {
		t.Errorf("status %+v, want changed content without calls", s)
	}
}

func TestFailedPlugins(t *testing.T) {
	i := newInstallation(t)
	dir := i.find("mail").Dir
	plugintest.Package{Name: "mail", Code: "x", Tools: []plugintest.Tool{{Name: "bad name"}}}.WriteTo(t, dir)
	if err := i.local.registry.Reload(); err != nil {
		t.Fatal(err)
	}
	views, failedPlugins := i.local.Plugins()
	if len(views) != 1 || len(failedPlugins) != 1 || failedPlugins[0].Path != dir || !strings.Contains(failedPlugins[0].Error, "bad name") {
		t.Fatalf("%d plugins, failed %+v", len(views), failedPlugins)
	}
	if f := FailedStatus(i.local.registry.Set().Failed()[0]); f.Path != dir || f.Error != failedPlugins[0].Error {
		t.Errorf("status %+v", f)
	}
}

func TestAuditRecord(t *testing.T) {
	decision := policy.Change{Kind: "decision", Plugin: "wiki", Tool: "read", CallID: "call_1", Client: "Claude", Allow: true, By: "the side panel"}
	decision.Scope, decision.For = wire.ScopeTime, 90*time.Second
	denial := decision
	denial.Allow = false
	review := policy.Change{Kind: "review", Plugin: "wiki", New: "ask", Old: "off", Hash: "h", By: "the command line"}
	isTrue, no := true, false
	auditedCall := shape.AuditedCall{CallID: "call_1", Requester: dispatch.Requester{Client: "Claude"}}
	for _, testCase := range []struct {
		policyChange policy.Change
		want         audit.Record
	}{
		{decision, audit.Record{Kind: audit.KindDecision, Tool: "wiki__read", AuditedCall: auditedCall, By: "the side panel", Allow: &isTrue, Scope: wire.ScopeTime, ForMs: 90000}},
		{denial, audit.Record{Kind: audit.KindDecision, Tool: "wiki__read", AuditedCall: auditedCall, By: "the side panel", Allow: &no, Scope: wire.ScopeTime, ForMs: 90000}},
		{review, audit.Record{Kind: "review", Tool: "wiki", Hash: "h", By: "the command line", Old: "off", New: "ask"}},
	} {
		if got := AuditRecord(testCase.policyChange); !reflect.DeepEqual(got, testCase.want) {
			var auditLog bytes.Buffer
			_ = json.NewEncoder(&auditLog).Encode(got)
			t.Errorf("%s", auditLog.String())
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
	local := NewLocal(policy.New(dir, registry.Set, policy.Options{}), registry)
	if got := local.BrowserTools(); got.Permission != wire.PermissionOff || len(got.Sites) != 0 {
		t.Errorf("browser tools before any change = %+v, want off and no sites", got)
	}
	if err := local.SwitchBrowserTools([]string{"unknown"}, true, "the side panel"); err == nil {
		t.Error("switching an unknown group on succeeded, want an error")
	}
	for _, group := range browser.Groups() {
		if err := local.SwitchBrowserTools([]string{group.Name}, true, "the side panel"); err != nil {
			t.Fatal(err)
		}
	}
	if err := local.SetSite("https://Shop.example/cart", "read", "the side panel"); err != nil {
		t.Fatal(err)
	}
	got := local.BrowserTools()
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
