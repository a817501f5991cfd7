package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"opentabs/internal/pluginlog"
	"opentabs/internal/realtab"
	"opentabs/wire"
)

// testTab is the tab that the running test currently controls.
type testTab struct {
	tab             *realtab.Tab
	ctx             context.Context // ctx ends when the test opens another tab
	deniesApprovals bool
	lastLogSeq      uint64
}

// testPage describes a page that a test asks the browser to open.
type testPage struct {
	URL            string                     `json:"url"`
	HTML           string                     `json:"html"`
	Cookies        string                     `json:"cookies"`
	LocalStorage   map[string]string          `json:"localStorage"`
	SessionStorage map[string]string          `json:"sessionStorage"`
	Globals        map[string]json.RawMessage `json:"globals"`
	Settings       map[string]json.RawMessage `json:"settings"`
	User           string                     `json:"user"`
}

// tabState contains what the script of a test can read about its tab.
type tabState struct {
	URL  string     `json:"url"`
	Logs []logEntry `json:"logs"`
}

// logEntry has the same JSON form as the type LogEntry in sdk-ts/src/log.ts.
type logEntry struct {
	Level   string          `json:"level"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
	TS      string          `json:"ts"`
}

// A call of open cancels the calls in the old tab, and any earlier open that is still in progress.
func (t *Browser) open(ctx context.Context, params json.RawMessage) (*tabState, error) {
	var page testPage
	if err := json.Unmarshal(params, &page); err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	ctx, cancelTab := context.WithCancel(ctx)
	t.mu.Lock()
	if t.cancelTab != nil {
		t.cancelTab()
	}
	t.cancelTab = cancelTab
	t.mu.Unlock()
	t.openTabMutex.Lock()
	defer t.openTabMutex.Unlock()
	if err := t.closeTab(ctx); err != nil {
		return nil, err
	}
	if err := t.setSettings(ctx, page.Settings); err != nil {
		return nil, err
	}
	pageURL, err := t.resolveURL(&page)
	if err != nil {
		return nil, err
	}
	if err := t.browser.Clear(ctx); err != nil {
		return nil, err
	}
	script, err := page.setupScript()
	if err != nil {
		return nil, err
	}
	t.site.ShowPage(realtab.Page{URL: page.URL, HTML: page.HTML, Cookies: page.Cookies})
	newTab := &testTab{ctx: ctx, deniesApprovals: page.User == "deny", lastLogSeq: t.lastLogSeq()}
	if newTab.tab, err = t.browser.Open(ctx, page.URL, pageURL.Scheme+"://"+pageURL.Host, script); err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.tab = newTab
	t.mu.Unlock()
	if err := t.pollUntil(ctx, func() (bool, error) { return t.hasReadyPlugin(), nil }); err != nil {
		return nil, fmt.Errorf("wait for the plugin in %s: %w", page.URL, err)
	}
	if err := t.waitUntilParsed(ctx, newTab); err != nil {
		return nil, fmt.Errorf("wait for the document of %s: %w", page.URL, err)
	}
	return t.readState(ctx, newTab)
}

// waitUntilParsed blocks until the document is parsed, but at most 3 s, because the
// document can wait for a script that the test serves later.
func (t *Browser) waitUntilParsed(ctx context.Context, newTab *testTab) error {
	parseCtx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	err := t.pollUntil(parseCtx, func() (bool, error) { return newTab.tab.HasParsedDocument(parseCtx) })
	if parseCtx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (t *Browser) resolveURL(page *testPage) (*url.URL, error) {
	testedPlugin, ok := t.daemon.Registry.Set().Plugin(t.plugin.Name)
	if !ok {
		return nil, errors.New("the plugin is not loaded any more")
	}
	if page.URL == "" {
		page.URL = testedPlugin.OpenURL
	}
	pageURL, err := url.Parse(page.URL)
	switch {
	case err != nil || pageURL.Host == "":
		return nil, fmt.Errorf("simulate: %q is not the URL of a page; use one that begins with https://", page.URL)
	case !testedPlugin.MatchesURL(page.URL):
		return nil, fmt.Errorf("simulate: the plugin does not run at %s; its sites are %s", page.URL, strings.Join(testedPlugin.Matches, ", "))
	case pageURL.Hostname() == "127.0.0.1":
		return nil, errors.New("simulate: 127.0.0.1 belongs to the opentabs server and cannot be a simulated site; use localhost")
	}
	if pageURL.Path == "" {
		pageURL.Path = "/"
	}
	page.URL = pageURL.String()
	return pageURL, nil
}

func (t *Browser) closeTab(ctx context.Context) error {
	tab := t.currentTab()
	if tab == nil {
		return nil
	}
	if err := tab.tab.Close(); err != nil {
		return err
	}
	t.mu.Lock()
	t.tab = nil
	t.mu.Unlock()
	return t.pollUntil(ctx, func() (bool, error) { return len(t.listTabs()) == 0, nil })
}

func (t *Browser) currentTab() *testTab {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tab
}

func (t *Browser) listTabs() (tabs []wire.TabInfo) {
	for _, b := range t.daemon.Hub.Browsers() {
		tabs = append(tabs, b.Tabs...)
	}
	return tabs
}

func (t *Browser) hasReadyPlugin() bool {
	for _, tab := range t.listTabs() {
		for _, p := range tab.Plugins {
			if p.Name == t.plugin.Name {
				return true
			}
		}
	}
	return false
}

func (t *Browser) setSettings(ctx context.Context, settings map[string]json.RawMessage) error {
	changes := map[string]json.RawMessage{}
	for key := range t.daemon.SettingValues.ValidValues(t.plugin) {
		changes[key] = json.RawMessage("null")
	}
	for key, valueJSON := range settings {
		changes[key] = valueJSON
	}
	if len(changes) == 0 {
		return nil
	}
	if err := t.daemon.SettingValues.Change(t.plugin, changes, "opentabs plugin test"); err != nil {
		return fmt.Errorf("simulate: settings: %w", err)
	}
	return t.waitForSync(ctx)
}

// setupScript returns the script that the browser runs before all other scripts of the page.
func (p testPage) setupScript() (string, error) {
	setupJSON, err := json.Marshal(map[string]any{
		"url": p.URL, "local": p.LocalStorage, "session": p.SessionStorage, "globals": p.Globals,
	})
	if err != nil {
		return "", fmt.Errorf("simulate: %w", err)
	}
	return `(({ url, local, session, globals }) => {
  if (window !== top || location.href !== url) return;
  for (const [storage, items] of [[localStorage, local], [sessionStorage, session]])
    for (const [key, value] of Object.entries(items ?? {})) storage.setItem(key, value);
  Object.assign(window, globals);
})(` + string(setupJSON) + `)`, nil
}

var errTabReplaced = errors.New("the tab is closed: the test has opened another")

func (t *Browser) readState(ctx context.Context, tab *testTab) (*tabState, error) {
	if tab == nil || tab.ctx.Err() != nil {
		return nil, errTabReplaced
	}
	pageURL, err := tab.tab.URL(ctx)
	if err != nil {
		return nil, err
	}
	state := &tabState{URL: pageURL, Logs: []logEntry{}}
	lastSeq := t.lastLogSeq()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.daemon.Logs.LastEntries(pluginlog.Filter{Plugin: t.plugin.Name}, 0) {
		if e.Seq <= tab.lastLogSeq || e.Seq > lastSeq {
			continue
		}
		data := e.Data
		if data == nil {
			data = json.RawMessage("[]")
		}
		state.Logs = append(state.Logs, logEntry{string(e.Level), e.Message, data, e.Time.Format("2006-01-02T15:04:05.000Z07:00")})
	}
	tab.lastLogSeq = lastSeq
	return state, nil
}

// No real plugin can have the name "(plugin test)", because plugin names contain no parentheses.
const logLineMarker = "(plugin test)"

// To find the end of the log, lastLogSeq adds a marker entry and waits until the log has stored the marker.
func (t *Browser) lastLogSeq() uint64 {
	_, subscription := t.daemon.Logs.Follow(pluginlog.Filter{Plugin: logLineMarker}, 0)
	defer subscription.Close()
	t.daemon.Logs.Add("", wire.PluginLogParams{Plugin: logLineMarker, Entries: []wire.LogEntry{{Level: wire.LogDebug, Message: "mark"}}})
	logEntries, _, err := subscription.Next(context.Background()) // Next does not block forever, because the marker was added or the log is closed
	if err != nil || len(logEntries) == 0 {
		return 0
	}
	return logEntries[len(logEntries)-1].Seq
}
