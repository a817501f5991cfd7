package main

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

// trialTab is the tab of the test that runs.
type trialTab struct {
	tab *realtab.Tab
	ctx context.Context // ends when another tab is to be opened
	// deny says that the person denies what a tool asks for.
	deny bool
	// logged is the number of the last entry of the log that the test has.
	logged uint64
}

// trialPage is what a test wants a tab to show.
type trialPage struct {
	URL            string                     `json:"url"`
	HTML           string                     `json:"html"`
	Cookies        string                     `json:"cookies"`
	LocalStorage   map[string]string          `json:"localStorage"`
	SessionStorage map[string]string          `json:"sessionStorage"`
	Globals        map[string]json.RawMessage `json:"globals"`
	Settings       map[string]json.RawMessage `json:"settings"`
	User           string                     `json:"user"`
}

// trialState is what a test sees of its tab.
type trialState struct {
	URL  string       `json:"url"`
	Logs []trialEntry `json:"logs"`
}

// trialEntry is LogEntry of sdk-ts/src/log.ts.
type trialEntry struct {
	Level   string          `json:"level"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
	TS      string          `json:"ts"`
}

// open closes the tab of before and opens another, in which the plugin is live
// when it returns. What that tab waits for ends, also if it is being opened.
func (t *trialBrowser) open(ctx context.Context, params json.RawMessage) (*trialState, error) {
	var page trialPage
	if err := json.Unmarshal(params, &page); err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	ctx, leaves := context.WithCancel(ctx)
	t.mu.Lock()
	if t.leaves != nil {
		t.leaves()
	}
	t.leaves = leaves
	t.mu.Unlock()
	t.opens.Lock()
	defer t.opens.Unlock()
	if err := t.leave(ctx); err != nil {
		return nil, err
	}
	if err := t.set(ctx, page.Settings); err != nil {
		return nil, err
	}
	at, err := t.place(&page)
	if err != nil {
		return nil, err
	}
	if err := t.browser.Clear(ctx); err != nil {
		return nil, err
	}
	script, err := page.script()
	if err != nil {
		return nil, err
	}
	t.site.Show(realtab.Page{URL: page.URL, HTML: page.HTML, Cookies: page.Cookies})
	opened := &trialTab{ctx: ctx, deny: page.User == "deny", logged: t.lastLogged()}
	if opened.tab, err = t.browser.Open(ctx, page.URL, at.Scheme+"://"+at.Host, script); err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.tab = opened
	t.mu.Unlock()
	if err := t.until(ctx, func() (bool, error) { return t.live(), nil }); err != nil {
		return nil, fmt.Errorf("wait for the plugin in %s: %w", page.URL, err)
	}
	return t.look(ctx, opened)
}

// place finds where the page is, and refuses what is no place for the plugin.
func (t *trialBrowser) place(page *trialPage) (*url.URL, error) {
	one, ok := t.daemon.Registry.Set().Plugin(t.plugin.Name)
	if !ok {
		return nil, errors.New("the server has lost the plugin")
	}
	if page.URL == "" {
		page.URL = one.OpensAt
	}
	at, err := url.Parse(page.URL)
	switch {
	case err != nil || at.Host == "":
		return nil, fmt.Errorf("simulate: %q is no address of a page; give a url that begins with https://", page.URL)
	case !one.MatchesURL(page.URL):
		return nil, fmt.Errorf("simulate: the plugin does not work at %s; its sites are %s", page.URL, strings.Join(one.Matches, ", "))
	case at.Hostname() == "127.0.0.1":
		return nil, errors.New("simulate: 127.0.0.1 is where the server of opentabs is, so no site can be played there; use localhost")
	}
	if at.Path == "" {
		at.Path = "/"
	}
	page.URL = at.String()
	return at, nil
}

// leave closes the tab that is open, and waits until the server knows of none.
func (t *trialBrowser) leave(ctx context.Context) error {
	tab := t.current()
	if tab == nil {
		return nil
	}
	if err := tab.tab.Close(ctx); err != nil {
		return err
	}
	t.mu.Lock()
	t.tab = nil
	t.mu.Unlock()
	return t.until(ctx, func() (bool, error) { return len(t.tabs()) == 0, nil })
}

func (t *trialBrowser) current() *trialTab {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tab
}

// tabs are the tabs that the browser has told of.
func (t *trialBrowser) tabs() (all []wire.TabInfo) {
	for _, b := range t.daemon.Hub.Browsers() {
		all = append(all, b.Tabs...)
	}
	return all
}

// live reports whether the plugin runs in the tab and has said whether it is
// ready.
func (t *trialBrowser) live() bool {
	for _, tab := range t.tabs() {
		for _, p := range tab.Plugins {
			if p.Name == t.plugin.Name {
				return true
			}
		}
	}
	return false
}

// set gives the plugin the settings of a test, and takes all others away.
func (t *trialBrowser) set(ctx context.Context, settings map[string]json.RawMessage) error {
	changes := map[string]json.RawMessage{}
	for key := range t.daemon.Values.Of(t.plugin) {
		changes[key] = json.RawMessage("null")
	}
	for key, value := range settings {
		changes[key] = value
	}
	if len(changes) == 0 {
		return nil
	}
	if err := t.daemon.Values.Change(t.plugin, changes, "opentabs plugin test"); err != nil {
		return fmt.Errorf("simulate: settings: %w", err)
	}
	return t.inSync(ctx)
}

// script is what puts in place, before any other script of the page, what the
// test says that the page has stored and put on window.
func (p trialPage) script() (string, error) {
	given, err := json.Marshal(map[string]any{
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
})(` + string(given) + `)`, nil
}

// errOtherTab says that a test has opened another tab meanwhile.
var errOtherTab = errors.New("the tab is gone: another was opened")

// look tells a test what it does not know yet of its tab.
func (t *trialBrowser) look(ctx context.Context, tab *trialTab) (*trialState, error) {
	if tab == nil || tab.ctx.Err() != nil {
		return nil, errOtherTab
	}
	at, err := tab.tab.URL(ctx)
	if err != nil {
		return nil, err
	}
	state := &trialState{URL: at, Logs: []trialEntry{}}
	last := t.lastLogged()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.daemon.Logs.Last(pluginlog.Filter{Plugin: t.plugin.Name}, 0) {
		if e.Seq <= tab.logged || e.Seq > last {
			continue
		}
		data := e.Data
		if data == nil {
			data = json.RawMessage("[]")
		}
		state.Logs = append(state.Logs, trialEntry{string(e.Level), e.Message, data, e.Time.Format("2006-01-02T15:04:05.000Z07:00")})
	}
	tab.logged = last
	return state, nil
}

// logMark is the name under which marks are put into the log of plugins; no
// plugin has it.
const logMark = "(plugin test)"

// lastLogged returns the number of the last entry of all that has arrived so
// far. Entries are kept a moment after they arrived, in their order.
func (t *trialBrowser) lastLogged() uint64 {
	_, follower := t.daemon.Logs.Follow(pluginlog.Filter{Plugin: logMark}, 0)
	defer follower.Close()
	t.daemon.Logs.Add("", wire.PluginLogParams{Plugin: logMark, Entries: []wire.LogEntry{{Level: wire.LogDebug, Message: "mark"}}})
	entries, _, err := follower.Next(context.Background()) // the log answers or is closed
	if err != nil || len(entries) == 0 {
		return 0
	}
	return entries[len(entries)-1].Seq
}
