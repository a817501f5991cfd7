package plugindev

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/internal/humanize"
	"opentabs/internal/pluginlog"
	"opentabs/internal/pluginview"
	"opentabs/internal/terminal"
	"opentabs/plugin"
)

const (
	reconnectInterval = 500 * time.Millisecond
	// newBuildTimeout is the maximum time for tabs to load a new build.
	newBuildTimeout = 5 * time.Second
	// reloadReportGracePeriod is how long `opentabs plugin dev` ignores a report that a tab needs a reload, because a hot
	// reload causes such a report for a moment.
	reloadReportGracePeriod = 2 * time.Second
	// firstTabTimeout is how long `opentabs plugin dev` waits for the browser to report
	// the first tab of a plugin.
	firstTabTimeout      = 2 * time.Second
	newBuildPollInterval = 20 * time.Millisecond
)

func (s *session) connect(ctx context.Context) (*httpapi.Client, error) {
	client, err := s.Home.Client(ctx)
	if errors.Is(err, httpapi.ErrNoServer) {
		if err = s.Home.StartServer(ctx); err == nil {
			client, err = s.Home.Client(ctx)
		}
	}
	return client, err
}

// If the daemon restarts, developUntilCancelled continues with the next daemon. developUntilCancelled sends nil to firstLoadResult when the
// first daemon accepts the plugin, and otherwise an error.
func (s *session) developUntilCancelled(ctx context.Context, client *httpapi.Client, developedPlugin *plugin.Plugin, firstLoadResult chan<- error) {
	err := s.developOnServer(ctx, client, developedPlugin, func() { firstLoadResult <- nil })
	if !errors.Is(err, httpapi.ErrStreamEnded) {
		firstLoadResult <- err // firstLoadResult is buffered, because addPlugin may have returned
		return
	}
	for ctx.Err() == nil {
		s.send(ctx, func() {
			s.client = nil
			s.Out.Notef("the server stopped; waiting for another")
		})
		for client = nil; client == nil; {
			select {
			case <-time.After(reconnectInterval):
			case <-ctx.Done():
				return
			}
			client, _ = s.connect(ctx) // after an error, developUntilCancelled tries to connect again
		}
		_ = s.developOnServer(ctx, client, developedPlugin, func() {
			s.send(ctx, func() {
				s.client = client
				s.Out.Notef("another server has loaded the plugin")
			})
		})
	}
}

func (s *session) developOnServer(ctx context.Context, client *httpapi.Client, developedPlugin *plugin.Plugin, onPluginLoaded func()) error {
	ctx, endConnection := context.WithCancel(ctx)
	defer endConnection()
	go func() {
		// If the plugin's log is not available, `opentabs plugin dev` continues without
		// the log.
		_ = client.Logs.Follow(ctx, httpapi.LogQuery{Filter: pluginlog.Filter{Plugin: developedPlugin.Name}}, httpapi.LogListener{
			Entry: func(e pluginlog.Entry) error {
				s.send(ctx, func() { s.Out.PrintLine("%s", formatEntry(e)) })
				return nil
			},
			Missed: func(n int) error {
				s.send(ctx, func() {
					s.Out.Notef("%s lost: they arrived faster than they could be printed", terminal.CountWithVerb(n, "log entry was", "log entries were"))
				})
				return nil
			},
		})
	}()
	go s.followCalls(ctx, client, developedPlugin.Name)
	return client.Plugins.DevelopPlugin(ctx, developedPlugin.Dir, s.Permission, onPluginLoaded)
}

func (s *session) send(ctx context.Context, event func()) {
	select {
	case s.events <- event:
	case <-ctx.Done():
	}
}

func formatEntry(e pluginlog.Entry) string {
	prefix := fmt.Sprintf("%s %-7s ", e.Time.Local().Format("15:04:05.000"), e.Level)
	entryText := strings.Join(pluginview.EntryLines(prefix, e), "\n")
	if e.Dropped > 0 {
		entryText = fmt.Sprintf("(%s dropped before this one)\n%s", terminal.CountWithVerb(e.Dropped, "entry was", "entries were"), entryText)
	}
	return entryText
}

// pluginTabs are the tabs that match the plugin's sites.
type pluginTabs struct {
	upToDateTabs, staleTabs []tabState
	browsers                int
}

type tabState struct {
	id           int
	url, browser string
	needsReload  bool
	// isReady is the last result of the plugin's function isReady in the tab; nil before
	// the first result.
	isReady *bool
}

func findPluginTabs(serverStatus httpapi.Status, developedPlugin *plugin.Plugin) pluginTabs {
	var tabs pluginTabs
	for _, b := range serverStatus.Browsers {
		if b.Connected {
			tabs.browsers++
		}
		for _, t := range b.Tabs {
			tab := tabState{id: t.TabID, url: t.URL, browser: b.Name, needsReload: slices.Contains(t.NeedsReload, developedPlugin.Name)}
			isKnown, isLive := tab.needsReload || slices.Contains(t.Loading, developedPlugin.Name) || slices.Contains(t.ArrivingPlugins, developedPlugin.Name), false
			for _, p := range t.Plugins {
				if p.Name == developedPlugin.Name {
					isKnown, isLive, tab.isReady = true, p.Hash == developedPlugin.Hash, p.IsReady
				}
			}
			switch {
			case isLive:
				tabs.upToDateTabs = append(tabs.upToDateTabs, tab)
			case isKnown:
				tabs.staleTabs = append(tabs.staleTabs, tab)
			}
		}
	}
	return tabs
}

// isSettled reports whether every tab either runs the new build or needs a reload to start it. If mayStillLoad is true,
// a tab that is marked as needing a reload counts as a tab that may still start the new build without a reload.
func (t pluginTabs) isSettled(mayStillLoad bool) bool {
	return !slices.ContainsFunc(t.staleTabs, func(tab tabState) bool { return !tab.needsReload || mayStillLoad })
}

func (s *session) reportTabs(ctx context.Context, startTime time.Time, canReloadTabs bool) error {
	timeout, gracePeriodEnd, firstTabDeadline := time.After(newBuildTimeout), time.Now().Add(reloadReportGracePeriod), time.Now().Add(firstTabTimeout)
	for {
		serverStatus, err := s.client.Status(ctx)
		if err != nil {
			return err
		}
		if problemText := findLoadingProblem(serverStatus, s.addedPlugin); problemText != "" {
			s.printNotef("%s", problemText)
			return nil
		}
		tabs := findPluginTabs(serverStatus, s.addedPlugin)
		hasTimedOut := false
		isWaitingForTab := tabs.browsers > 0 && len(tabs.upToDateTabs)+len(tabs.staleTabs) == 0 && time.Now().Before(firstTabDeadline)
		if isWaitingForTab || !tabs.isSettled(time.Now().Before(gracePeriodEnd)) {
			select {
			case <-timeout:
				hasTimedOut = true
			case <-time.After(newBuildPollInterval):
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if canReloadTabs && s.reloadStaleTabs(ctx, tabs) {
			canReloadTabs, timeout, gracePeriodEnd = false, time.After(newBuildTimeout), time.Now().Add(reloadReportGracePeriod)
			continue
		}
		s.printTabs(tabs, hasTimedOut, time.Since(startTime))
		return nil
	}
}

func findLoadingProblem(serverStatus httpapi.Status, developedPlugin *plugin.Plugin) string {
	for _, f := range serverStatus.Failed {
		if f.Path == developedPlugin.Dir {
			return "the server could not load the plugin: " + f.Error
		}
	}
	for _, p := range serverStatus.Plugins {
		if p.Name == developedPlugin.Name && p.Dir != developedPlugin.Dir {
			return fmt.Sprintf("another plugin has the name %s, in %s; remove that with `opentabs plugin remove %[1]s`", p.Name, p.Dir)
		}
		if p.Name == developedPlugin.Name && p.Permission == "off" {
			return fmt.Sprintf("the permission of the plugin is off, so no page gets it; change that with `opentabs plugin permission %s auto`", p.Name)
		}
	}
	return ""
}

func (s *session) printTabs(tabs pluginTabs, hasTimedOut bool, elapsedTime time.Duration) {
	switch {
	case tabs.browsers == 0:
		s.printNotef("no browser is connected; run `opentabs extension install` and follow its steps")
	case len(tabs.upToDateTabs)+len(tabs.staleTabs) == 0:
		s.printNotef("no tab of its sites is open; open one of %s", terminal.SafeLine(fmt.Sprint(s.addedPlugin.Matches)))
	case len(tabs.upToDateTabs) > 0:
		s.printNotef("live in %s after %s", terminal.CountNoun(len(tabs.upToDateTabs), "tab"), terminal.Elapsed(elapsedTime))
	}
	for _, t := range tabs.staleTabs {
		switch {
		case t.needsReload:
			s.printNotef("tab %d (%s) in %s was open before; your next change reloads it", t.id, terminal.SafeLine(t.url), terminal.SafeLine(t.browser))
		case hasTimedOut:
			s.printNotef("tab %d (%s) in %s still runs an older build or none: the page did not load the new build within %s; reload the tab, and run `opentabs doctor` if that does not help",
				t.id, terminal.SafeLine(t.url), terminal.SafeLine(t.browser), humanize.Duration(newBuildTimeout))
		}
	}
}
