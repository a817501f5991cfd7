package wsbridge

import (
	"cmp"
	"context"
	"slices"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Targets implements dispatch.Bridge. A browser with a lost link counts as connected
// for the grace period. The documents of a disconnected browser are offered only if no
// connected browser has any, because a disconnected browser may have been closed for
// good.
//
// Targets blocks only while no document matches: after the start of the server until
// the first browser connects (a browser retries each second, and a client that has just
// started the server must find it), and while a tab loads. If the best tab has just
// navigated, Targets waits for its next document even if others match. If all matching
// tabs need a reload, Targets requests the reload of one tab. If no tab matches and the
// call may open a tab, Targets opens a tab.
func (h *Hub) Targets(ctx context.Context, want dispatch.TargetChoice) dispatch.Targets {
	s := search{hub: h, want: want, began: time.Now()}
	for {
		changed := h.tabChanges.nextChange()
		left := s.update()
		if left <= 0 {
			var answered bool
			if answered, left = s.reloadOrOpen(ctx); answered {
				continue
			}
		}
		if left <= 0 {
			return s.found
		}
		over := time.NewTimer(left)
		select {
		case <-changed:
			over.Stop()
		case <-over.C: // try the next step
		case <-ctx.Done():
			over.Stop()
			return s.found
		}
	}
}

// Where returns where a plugin is open at this moment.
func (h *Hub) Where(plugin string) dispatch.Targets {
	found, _, _ := h.currentTargets(dispatch.TargetChoice{Plugin: plugin})
	return found
}

// search is the state of one Targets call.
type search struct {
	hub   *Hub
	want  dispatch.TargetChoice
	began time.Time // start of the search or of its last reload or opened tab
	found dispatch.Targets
	// triedReload is true after a reload was requested, isReloading while that
	// tab loads.
	triedReload, isReloading bool
	// triedOpen is true after a tab was to be opened; opened is that tab.
	triedOpen bool
	opened    *dispatch.Target
	// failedBefore has the failed loads from before the search: such a tab is
	// reloaded once. A tab that fails during the search ends the wait for that
	// tab.
	failedBefore map[failure]bool
}

// failure is one failed load of a tab.
type failure struct {
	browser  string
	tabID    int
	failedMs float64
}

// isNew reports whether the load of a tab failed during the search.
func (s *search) isNew(t dispatch.Target) bool {
	return s.want.Allows(t) && !s.failedBefore[failure{t.Browser, t.TabID, t.LoadFailedMs}]
}

// hasOpenedFailed reports whether the opened tab failed to load.
func (s *search) hasOpenedFailed() bool {
	return slices.ContainsFunc(s.found.ErrorPages, func(t dispatch.Target) bool {
		return t.Browser == s.opened.Browser && t.TabID == s.opened.TabID && s.isNew(t)
	})
}

// update reads the current targets, and returns how much longer to wait for better
// targets.
func (s *search) update() time.Duration {
	found, returning, arriving := s.hub.currentTargets(s.want)
	s.found = found
	if s.failedBefore == nil {
		s.failedBefore = map[failure]bool{}
		for _, t := range found.ErrorPages {
			s.failedBefore[failure{t.Browser, t.TabID, t.LoadFailedMs}] = true
		}
	}
	live := slices.DeleteFunc(slices.Clone(found.LiveTargets), func(t dispatch.Target) bool { return !s.want.Allows(t) })
	ready := slices.ContainsFunc(live, func(t dispatch.Target) bool { return t.Readiness == dispatch.Ready })
	// A page that does not answer may answer soon.
	coming := slices.ContainsFunc(found.LoadingTabs, s.want.Allows) || slices.ContainsFunc(found.SilentTargets, s.want.Allows)
	arrives := slices.ContainsFunc(found.TabsAwaitingCode, s.want.Allows)
	fails := slices.ContainsFunc(found.ErrorPages, s.isNew) && !coming && !arrives
	switch {
	case returning > 0:
		return returning
	case s.opened != nil && !ready:
		if len(live) == 0 {
			s.found.OpenedTab = s.opened
		}
		if s.hasOpenedFailed() {
			return 0
		}
		return openTimeout - time.Since(s.began)
	case s.isReloading && !ready && !fails: // a new page is often not ready yet
		return loadTimeout - time.Since(s.began)
	case len(live) > 0:
		return 0
	case arrives:
		return codeTimeout - time.Since(s.began)
	case coming:
		return loadTimeout - time.Since(s.began)
	case fails || slices.ContainsFunc(found.BrokenTabs, s.want.Allows):
		return 0
	case arriving > 0:
		return arriving
	case !s.hub.tabChanges.hasListed():
		return s.hub.opts.FirstWait - time.Since(s.hub.started)
	default:
		return 0
	}
}

// reloadOrOpen requests a reload or opens a tab, each at most once per search.
// If the browser is disconnected, it returns how much longer to wait for the
// reconnect.
func (s *search) reloadOrOpen(ctx context.Context) (answered bool, left time.Duration) {
	if ctx.Err() != nil || slices.ContainsFunc(s.found.LiveTargets, s.want.Allows) {
		return false, 0
	}
	if slices.ContainsFunc(s.found.BrokenTabs, s.want.Allows) {
		return false, 0 // it would fail again after a reload
	}
	failed := slices.ContainsFunc(s.found.ErrorPages, s.want.Allows)
	again := slices.DeleteFunc(slices.Clone(s.found.ErrorPages), s.isNew)
	reloadable := slices.Concat(s.found.TabsToReload, again)
	reload := slices.ContainsFunc(reloadable, s.want.Allows)
	// A slowly loading tab is better than a second tab.
	loading := slices.ContainsFunc(s.found.LoadingTabs, s.want.Allows)
	switch {
	case reload && !s.triedReload:
		if s.isReloading, s.triedReload = s.requestReload(ctx, reloadable); !s.triedReload {
			return false, loadTimeout - time.Since(s.began)
		}
	case !reload && !failed && !loading && !s.triedOpen && len(s.found.BrowsersToOpen) == 1:
		s.triedOpen = true
		s.opened = s.openTab(ctx, s.found.BrowsersToOpen[0])
	default:
		return false, 0
	}
	s.began = time.Now()
	return true, 0
}

// currentTargets returns the current targets. returning is how much longer to wait for the
// next document of a better tab, arriving for the first sync of a browser.
func (h *Hub) currentTargets(want dispatch.TargetChoice) (out dispatch.Targets, returning, arriving time.Duration) {
	h.mu.Lock()
	hash, listed := h.hashes[want.Plugin]
	h.mu.Unlock()
	var live, away, reload, loading, coming, broken, silent, failed []place
	browsers := h.registry.list()
	for _, b := range browsers {
		out.BrowserCount++
		if !listed {
			continue
		}
		of := b.tabs.placesOf(want.Plugin, hash)
		arriving = max(arriving, b.tabs.syncWait(want))
		silent, failed = append(silent, of.silent...), append(failed, of.failed...)
		out.IsSyncing = out.IsSyncing || b.tabs.isSyncing(want)
		coming = append(coming, of.arriving...)
		reload, loading, broken = append(reload, of.reload...), append(loading, of.loading...), append(broken, of.broken...)
		switch {
		case !of.connected:
			away = append(away, of.live...)
			continue
		case want.Open != "" && want.AllowsBrowser(of.browser.Browser, of.browser.BrowserName):
			out.BrowsersToOpen = append(out.BrowsersToOpen, of.browser)
		}
		live = append(live, of.live...)
	}
	if len(live) == 0 {
		live = away
	}
	for _, b := range browsers {
		if listed {
			returning = max(returning, b.tabs.nextDocumentWait(want, live))
		}
	}
	slices.SortFunc(out.BrowsersToOpen, func(x, y dispatch.Target) int {
		return cmp.Or(cmp.Compare(x.BrowserName, y.BrowserName), cmp.Compare(x.Browser, y.Browser))
	})
	out.LiveTargets, out.TabsToReload, out.LoadingTabs, out.BrokenTabs = rankPlaces(live), rankPlaces(reload), rankPlaces(loading), rankPlaces(broken)
	out.SilentTargets, out.ErrorPages = rankPlaces(silent), rankPlaces(failed)
	out.TabsAwaitingCode = rankPlaces(coming)
	return out, returning, arriving
}

// targetOf returns a document of a tab as a target of calls.
func (ts *tabTable) targetOf(t wire.TabInfo, d document) dispatch.Target {
	return dispatch.Target{
		Browser: ts.id, BrowserName: ts.name, TabID: t.TabID, FrameID: d.frameID, DocumentID: d.id, URL: d.url, Title: t.Title,
		Frozen: t.Frozen,
	}
}

// place is a target with the data for its rank.
type place struct {
	dispatch.Target
	class int // 0 is the best
	used  float64
}

// places are the places of one browser.
type places struct {
	browser   dispatch.Target // only ID and name
	connected bool
	// live are documents with the current version of the plugin. reload are
	// tabs that need a reload, loading tabs that may become live, arriving tabs
	// to which the code is on its way, and broken tabs in which the plugin
	// failed to start.
	live, reload, loading, arriving, broken []place
	// silent are live documents that do not answer.
	silent []place
	// failed are tabs whose page failed to load.
	failed []place
}

// placesOf returns where the plugin with this hash is in the browser.
func (ts *tabTable) placesOf(plugin, hash string) places {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	of := places{browser: dispatch.Target{Browser: ts.id, BrowserName: ts.name}, connected: ts.link != nil}
	for id := range ts.tabs {
		of.add(ts, ts.findTab(id), plugin, hash)
	}
	for id, t := range ts.beforeReturn {
		if _, isListed := ts.tabs[id]; !isListed {
			of.add(ts, t, plugin, hash)
		}
	}
	return of
}

// add adds the places of a plugin in a tab. The caller holds ts.mu.
func (of *places) add(ts *tabTable, t wire.TabInfo, plugin, hash string) {
	isBroken := func(b wire.BrokenPlugin) bool { return b.Name == plugin && b.Hash == hash }
	isOlder := func(b wire.BrokenPlugin) bool { return b.Name == plugin }
	for _, d := range documentsOf(t) {
		p := place{used: t.LastAccessedMs, class: visibilityClass(t), Target: ts.targetOf(t, d)}
		if !ts.runsIn(plugin, d) {
			continue
		}
		i := slices.IndexFunc(d.plugins, func(p wire.TabPlugin) bool { return p.Name == plugin })
		top := d.frameID == 0
		switch {
		case i >= 0 && d.id != "" && d.plugins[i].Hash == hash:
			p.Readiness = readinessOf(d.plugins[i].Ready)
			if t.Unresponsive {
				of.silent = append(of.silent, p)
			} else {
				of.live = append(of.live, p)
			}
		case top && t.LoadError != "" && slices.Contains(t.NeedsReload, plugin):
			p.Problem, p.LoadFailedMs = t.LoadError, t.LoadFailedMs
			of.failed = append(of.failed, p)
		case top && slices.Contains(t.Arriving, plugin):
			of.arriving = append(of.arriving, p)
		case top && slices.ContainsFunc(t.Broken, isBroken):
			p.Problem = t.Broken[slices.IndexFunc(t.Broken, isBroken)].Problem
			of.broken = append(of.broken, p)
		case top && (i >= 0 || slices.Contains(t.NeedsReload, plugin) || slices.ContainsFunc(t.Broken, isOlder)):
			of.reload = append(of.reload, p)
		case top && slices.Contains(t.Loading, plugin):
			of.loading = append(of.loading, p)
		}
	}
}

// runsIn reports whether the plugin may run in a document. The extension checks
// that too, but a compromised browser may not. The caller holds ts.mu.
func (ts *tabTable) runsIn(plugin string, d document) bool {
	may := ts.hub.opts.RunsIn
	if may == nil || may(plugin, d.url, d.frameID != 0) {
		return true
	}
	isLive := slices.ContainsFunc(d.plugins, func(p wire.TabPlugin) bool { return p.Name == plugin })
	if isLive && !ts.outside {
		ts.outside = true
		ts.hub.opts.Log.Warn().Str("browser", ts.name).Str("plugin", plugin).Bool("frame", d.frameID != 0).
			Msg("a browser reports a plugin in a page outside its sites; the page gets no calls, and further reports are not logged")
	}
	return false
}

func readinessOf(ready *bool) dispatch.Readiness {
	switch {
	case ready == nil:
		return dispatch.ReadyUnknown
	case *ready:
		return dispatch.Ready
	default:
		return dispatch.NotReady
	}
}

// visibilityClass ranks a tab by whether the user sees it; 0 is the best.
func visibilityClass(t wire.TabInfo) int {
	switch {
	case t.Active && t.Focused:
		return 0
	case t.Active:
		return 1
	case t.Focused:
		return 2
	default:
		return 3
	}
}

// rankOf ranks readiness. A document of unknown readiness is new, and may have been
// loaded for the call. The call checks the document, and tries the next document if it
// is not ready.
var rankOf = map[dispatch.Readiness]int{dispatch.Ready: 0, dispatch.ReadyUnknown: 0, dispatch.NotReady: 1}

// comparePlaces returns less than 0 if a ranks before b.
func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(rankOf[a.Readiness], rankOf[b.Readiness]),
		cmp.Compare(a.class, b.class), cmp.Compare(b.used, a.used),
		cmp.Compare(a.Browser, b.Browser), cmp.Compare(a.TabID, b.TabID), cmp.Compare(a.FrameID, b.FrameID))
}

// rankPlaces sorts places, best first, and groups them by browser: the browser with
// the best place is first.
func rankPlaces(places []place) []dispatch.Target {
	if len(places) == 0 {
		return nil
	}
	slices.SortFunc(places, comparePlaces)
	first := map[string]int{} // the best place of each browser
	for i, p := range places {
		if _, ok := first[p.Browser]; !ok {
			first[p.Browser] = i
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(first[a.Browser], first[b.Browser]) })
	out := make([]dispatch.Target, len(places))
	for i, p := range places {
		out[i] = p.Target
	}
	return out
}
