package wsbridge

import (
	"cmp"
	"context"
	"slices"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// Targets returns the documents in which a call can run. A browser with a lost link
// counts as connected for the grace period. Documents of a disconnected browser are
// offered only if no connected browser has a matching document, because the browser might
// never reconnect.
//
// If no document matches, Targets waits while a tab loads. After the server's start, Targets
// also waits for the first browser, because a browser can need one second to reconnect. If the
// best tab has just navigated, Targets waits for its next document, even if documents of other
// tabs match. If all matching tabs need a reload, Targets requests the reload of one tab. If no
// tab matches and the user allows calls to open tabs, Targets opens a tab.
//
// For a browser tool, Targets returns the current state of the tab that choice names, or the
// connected browsers if choice names no tab.
func (h *Hub) Targets(ctx context.Context, targetChoice dispatch.TargetChoice) dispatch.Targets {
	if targetChoice.TargetKind != dispatch.TargetDocument {
		return browserToolSearch{h}.find(ctx, targetChoice)
	}
	s := targetSearch{hub: h, targetChoice: targetChoice, stepStartTime: time.Now()}
	for {
		tabsChanged := h.tabChanges.Next()
		waitTime := s.updateTargets()
		if waitTime <= 0 {
			var hasRequestedTab bool
			if hasRequestedTab, waitTime = s.reloadOrOpen(ctx); hasRequestedTab {
				continue
			}
		}
		if waitTime <= 0 {
			return s.targets
		}
		timer := time.NewTimer(waitTime)
		select {
		case <-tabsChanged:
			timer.Stop()
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return s.targets
		}
	}
}

// CurrentTargets returns the documents in which a plugin runs now, without waiting.
func (h *Hub) CurrentTargets(plugin string) dispatch.Targets {
	targets, _, _ := h.currentTargets(dispatch.TargetChoice{Plugin: plugin})
	return targets
}

// targetSearch is the state of one call of Targets.
type targetSearch struct {
	hub                           *Hub
	targetChoice                  dispatch.TargetChoice
	stepStartTime                 time.Time
	targets                       dispatch.Targets
	hasTriedToReload, isReloading bool
	hasTriedToOpen                bool
	openedTab                     *dispatch.Target
	// If a tab has already failed to load when the search begins, the search reloads the tab once. If a tab fails to
	// load during the search, the search no longer waits for the tab.
	earlierLoadFailures map[loadFailure]bool
}

// loadFailure identifies one failed page load of a tab.
type loadFailure struct {
	browser        string
	tabID          int
	loadFailedAtMs float64
}

func (s *targetSearch) isNewLoadFailure(t dispatch.Target) bool {
	return s.targetChoice.Allows(t) && !s.earlierLoadFailures[loadFailure{t.Browser, t.TabID, t.LoadFailedAtMs}]
}

func (s *targetSearch) hasOpenedTabFailed() bool {
	return slices.ContainsFunc(s.targets.ErrorPages, func(t dispatch.Target) bool {
		return t.Browser == s.openedTab.Browser && t.TabID == s.openedTab.TabID && s.isNewLoadFailure(t)
	})
}

func (s *targetSearch) updateTargets() time.Duration {
	targets, documentWaitTime, syncWaitTime := s.hub.currentTargets(s.targetChoice)
	s.targets = targets
	if s.earlierLoadFailures == nil {
		s.earlierLoadFailures = map[loadFailure]bool{}
		for _, t := range targets.ErrorPages {
			s.earlierLoadFailures[loadFailure{t.Browser, t.TabID, t.LoadFailedAtMs}] = true
		}
	}
	liveTargets := slices.DeleteFunc(slices.Clone(targets.LiveTargets), func(t dispatch.Target) bool { return !s.targetChoice.Allows(t) })
	hasReadyTarget := slices.ContainsFunc(liveTargets, func(t dispatch.Target) bool { return t.Readiness == dispatch.ReadinessReady })
	// An unresponsive page counts as loading, because the page could soon respond.
	isLoading := slices.ContainsFunc(targets.LoadingTabs, s.targetChoice.Allows) || slices.ContainsFunc(targets.UnresponsiveTargets, s.targetChoice.Allows)
	isAwaitingCode := slices.ContainsFunc(targets.TabsWithoutPluginCode, s.targetChoice.Allows)
	hasFailed := slices.ContainsFunc(targets.ErrorPages, s.isNewLoadFailure) && !isLoading && !isAwaitingCode
	switch {
	case documentWaitTime > 0:
		return documentWaitTime
	case s.openedTab != nil && !hasReadyTarget:
		if len(liveTargets) == 0 {
			s.targets.OpenedTab = s.openedTab
		}
		if s.hasOpenedTabFailed() {
			return 0
		}
		return openedTabTimeout - time.Since(s.stepStartTime)
	case s.isReloading && !hasReadyTarget && !hasFailed: // a page is often not ready immediately after a reload
		return loadTimeout - time.Since(s.stepStartTime)
	case len(liveTargets) > 0:
		return 0
	case isAwaitingCode:
		return codeTimeout - time.Since(s.stepStartTime)
	case isLoading:
		return loadTimeout - time.Since(s.stepStartTime)
	case hasFailed || slices.ContainsFunc(targets.BrokenTabs, s.targetChoice.Allows):
		return 0
	case syncWaitTime > 0:
		return syncWaitTime
	case !s.hub.tabChanges.HasListedTabs():
		return s.hub.opts.MaxFirstBrowserWait - time.Since(s.hub.startedAt)
	default:
		return 0
	}
}

// During one search for targets, reloadOrOpen requests reloads at most once, and opens at most one
// tab.
func (s *targetSearch) reloadOrOpen(ctx context.Context) (hasRequestedTab bool, waitTime time.Duration) {
	if ctx.Err() != nil || slices.ContainsFunc(s.targets.LiveTargets, s.targetChoice.Allows) {
		return false, 0
	}
	if s.targetChoice.IsPreview && (slices.ContainsFunc(s.targets.TabsToReload, s.targetChoice.Allows) || !slices.ContainsFunc(s.targets.ErrorPages, s.targetChoice.Allows)) {
		return false, 0
	}
	if slices.ContainsFunc(s.targets.BrokenTabs, s.targetChoice.Allows) {
		return false, 0 // if the plugin is broken, it would fail again after a reload
	}
	hasErrorPage := slices.ContainsFunc(s.targets.ErrorPages, s.targetChoice.Allows)
	retryablePages := slices.DeleteFunc(slices.Clone(s.targets.ErrorPages), s.isNewLoadFailure)
	reloadableTabs := slices.Concat(s.targets.TabsToReload, retryablePages)
	canReload := slices.ContainsFunc(reloadableTabs, s.targetChoice.Allows)
	// While a tab loads, the search for targets opens no second tab.
	isLoading := slices.ContainsFunc(s.targets.LoadingTabs, s.targetChoice.Allows)
	switch {
	case canReload && !s.hasTriedToReload:
		if s.isReloading, s.hasTriedToReload = s.requestReload(ctx, reloadableTabs); !s.hasTriedToReload {
			return false, loadTimeout - time.Since(s.stepStartTime)
		}
	case !canReload && !hasErrorPage && !isLoading && !s.hasTriedToOpen && len(s.targets.BrowsersToOpen) == 1:
		s.hasTriedToOpen = true
		s.openedTab = s.openTab(ctx, s.targets.BrowsersToOpen[0])
	default:
		return false, 0
	}
	s.stepStartTime = time.Now()
	return true, 0
}

func (h *Hub) currentTargets(targetChoice dispatch.TargetChoice) (targets dispatch.Targets, documentWaitTime, syncWaitTime time.Duration) {
	h.mu.Lock()
	hash, isKnown := h.hashes[targetChoice.Plugin]
	h.mu.Unlock()
	var liveCandidates, disconnectedCandidates, reloadCandidates, loadingCandidates, awaitingCodeCandidates, brokenCandidates, unresponsiveCandidates, errorPageCandidates []rankedTarget
	var navigatingTabs []navigatingTab
	for _, b := range h.registry.listBrowsers() {
		targets.BrowserCount++
		if !isKnown {
			continue
		}
		matchingTargets := b.tabs.findTargets(targetChoice, hash)
		syncWaitTime = max(syncWaitTime, matchingTargets.syncWaitTime)
		navigatingTabs = append(navigatingTabs, matchingTargets.navigatingTabs...)
		unresponsiveCandidates, errorPageCandidates = append(unresponsiveCandidates, matchingTargets.unresponsive...), append(errorPageCandidates, matchingTargets.errorPages...)
		targets.IsPluginListSyncing = targets.IsPluginListSyncing || matchingTargets.isSyncing
		awaitingCodeCandidates = append(awaitingCodeCandidates, matchingTargets.tabsAwaitingCode...)
		reloadCandidates, loadingCandidates, brokenCandidates = append(reloadCandidates, matchingTargets.tabsToReload...), append(loadingCandidates, matchingTargets.loading...), append(brokenCandidates, matchingTargets.brokenTargets...)
		switch {
		case !matchingTargets.isConnected:
			disconnectedCandidates = append(disconnectedCandidates, matchingTargets.liveTargets...)
			continue
		case targetChoice.URLToOpen != "" && targetChoice.AllowsBrowser(matchingTargets.browser.Browser, matchingTargets.browser.BrowserName):
			targets.BrowsersToOpen = append(targets.BrowsersToOpen, matchingTargets.browser)
		}
		liveCandidates = append(liveCandidates, matchingTargets.liveTargets...)
	}
	if len(liveCandidates) == 0 {
		liveCandidates = disconnectedCandidates
	}
	for _, t := range navigatingTabs {
		if t.isBestTarget(targetChoice, liveCandidates) {
			documentWaitTime = max(documentWaitTime, loadTimeout-time.Since(t.navigatedAt))
		}
	}
	slices.SortFunc(targets.BrowsersToOpen, func(x, y dispatch.Target) int {
		return cmp.Or(cmp.Compare(x.BrowserName, y.BrowserName), cmp.Compare(x.Browser, y.Browser))
	})
	targets.LiveTargets, targets.TabsToReload, targets.LoadingTabs, targets.BrokenTabs = rankTargets(liveCandidates), rankTargets(reloadCandidates), rankTargets(loadingCandidates), rankTargets(brokenCandidates)
	targets.UnresponsiveTargets, targets.ErrorPages = rankTargets(unresponsiveCandidates), rankTargets(errorPageCandidates)
	targets.TabsWithoutPluginCode = rankTargets(awaitingCodeCandidates)
	return targets, documentWaitTime, syncWaitTime
}

func (ts *tabTable) newTarget(t wire.TabInfo, d document) dispatch.Target {
	return dispatch.Target{
		Browser: ts.browserID, BrowserName: ts.name, TabID: t.TabID, FrameID: d.frameID, DocumentID: d.documentID, URL: d.url, Title: t.Title,
		IsFrozen: t.IsFrozen,
	}
}

// rankedTarget is a target with the data that determines its rank.
type rankedTarget struct {
	dispatch.Target
	visibilityClass  int
	lastAccessedAtMs float64
}

// browserTargets are the documents and tabs of one browser that match a call.
type browserTargets struct {
	browser                                                             dispatch.Target // only the ID and the name of the browser are set
	isConnected                                                         bool
	liveTargets, tabsToReload, loading, tabsAwaitingCode, brokenTargets []rankedTarget
	unresponsive                                                        []rankedTarget
	errorPages                                                          []rankedTarget
	navigatingTabs                                                      []navigatingTab
	// syncWaitTime is how much longer a call may wait for the browser's list of tabs after a plugin.sync.
	syncWaitTime time.Duration
	isSyncing    bool
}

// navigatingTab is a tab that had a live plugin a moment ago. Agents often load a page and then call a tool of that page,
// so a call waits for the tab's next document, at most loadTimeout after navigatedAt.
type navigatingTab struct {
	rankedTarget
	navigatedAt time.Time
}

func (t navigatingTab) isBestTarget(targetChoice dispatch.TargetChoice, liveTargets []rankedTarget) bool {
	return !slices.ContainsFunc(liveTargets, func(otherTarget rankedTarget) bool {
		if !targetChoice.Allows(otherTarget.Target) || otherTarget.Readiness == dispatch.ReadinessNotReady {
			return false
		}
		otherTarget.Readiness = t.Readiness
		return compareTargets(otherTarget, t.rankedTarget) < 0
	})
}

// findTargets reads all tabs and times under one lock, so that a call neither misses a document that arrives in the
// meantime nor stops waiting for this document.
func (ts *tabTable) findTargets(targetChoice dispatch.TargetChoice, hash string) browserTargets {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	plugin := targetChoice.Plugin
	matchingTargets := browserTargets{
		browser: dispatch.Target{Browser: ts.browserID, BrowserName: ts.name}, isConnected: ts.link != nil,
		navigatingTabs: ts.findNavigatingTabs(targetChoice), syncWaitTime: ts.remainingSyncTime(targetChoice), isSyncing: ts.isSyncing(targetChoice),
	}
	for id := range ts.tabs {
		matchingTargets.addTab(ts, ts.findTab(id), plugin, hash)
	}
	for id, t := range ts.tabsBeforeReconnect {
		if _, isListed := ts.tabs[id]; !isListed {
			matchingTargets.addTab(ts, t, plugin, hash)
		}
	}
	return matchingTargets
}

// The caller of addTab holds tabTable.mu.
func (matchingTargets *browserTargets) addTab(ts *tabTable, t wire.TabInfo, plugin, hash string) {
	isBrokenInThisBuild := func(b wire.BrokenPlugin) bool { return b.Name == plugin && b.Hash == hash }
	isBrokenInAnyBuild := func(b wire.BrokenPlugin) bool { return b.Name == plugin }
	for _, d := range listDocuments(t) {
		p := rankedTarget{lastAccessedAtMs: t.LastAccessedMs, visibilityClass: inbound.VisibilityClass(t), Target: ts.newTarget(t, d)}
		if !ts.canRunInDocument(plugin, d) {
			continue
		}
		i := slices.IndexFunc(d.plugins, func(p wire.TabPlugin) bool { return p.Name == plugin })
		isTopDocument := d.frameID == 0
		switch {
		case i >= 0 && d.documentID != "" && d.plugins[i].Hash == hash:
			p.Readiness = toReadiness(d.plugins[i].IsReady)
			if t.Unresponsive {
				matchingTargets.unresponsive = append(matchingTargets.unresponsive, p)
			} else {
				matchingTargets.liveTargets = append(matchingTargets.liveTargets, p)
			}
		case isTopDocument && t.LoadError != "" && slices.Contains(t.NeedsReload, plugin):
			p.Problem, p.LoadFailedAtMs = t.LoadError, t.LoadFailedMs
			matchingTargets.errorPages = append(matchingTargets.errorPages, p)
		case isTopDocument && slices.Contains(t.ArrivingPlugins, plugin):
			matchingTargets.tabsAwaitingCode = append(matchingTargets.tabsAwaitingCode, p)
		case isTopDocument && slices.ContainsFunc(t.BrokenPlugins, isBrokenInThisBuild):
			p.Problem = t.BrokenPlugins[slices.IndexFunc(t.BrokenPlugins, isBrokenInThisBuild)].Problem
			matchingTargets.brokenTargets = append(matchingTargets.brokenTargets, p)
		case isTopDocument && (i >= 0 || slices.Contains(t.NeedsReload, plugin) || slices.ContainsFunc(t.BrokenPlugins, isBrokenInAnyBuild)):
			matchingTargets.tabsToReload = append(matchingTargets.tabsToReload, p)
		case isTopDocument && slices.Contains(t.Loading, plugin):
			matchingTargets.loading = append(matchingTargets.loading, p)
		}
	}
}

// canRunInDocument repeats a check of the extension, because a compromised browser can skip the check. The caller of
// canRunInDocument holds tabTable.mu.
func (ts *tabTable) canRunInDocument(plugin string, d document) bool {
	canRunInDocument := ts.hub.opts.CanPluginRunIn
	if canRunInDocument == nil || canRunInDocument(plugin, d.url, d.frameID != 0) {
		return true
	}
	isLive := slices.ContainsFunc(d.plugins, func(p wire.TabPlugin) bool { return p.Name == plugin })
	if isLive && !ts.hasLoggedPageOutsideSites {
		ts.hasLoggedPageOutsideSites = true
		ts.hub.opts.Log.Warn().Str("browser", ts.name).Str("plugin", plugin).Bool("frame", d.frameID != 0).
			Msg("a browser reports a plugin in a page outside its sites; the page gets no calls, and further reports are not logged")
	}
	return false
}

func toReadiness(isReady *bool) dispatch.Readiness {
	switch {
	case isReady == nil:
		return dispatch.ReadinessUnknown
	case *isReady:
		return dispatch.ReadinessReady
	default:
		return dispatch.ReadinessNotReady
	}
}

// readinessRank ranks the readiness of a document; 0 is the best rank. A document of unknown readiness is new and could
// have been loaded for the call, so it ranks like a ready document.
var readinessRank = map[dispatch.Readiness]int{dispatch.ReadinessReady: 0, dispatch.ReadinessUnknown: 0, dispatch.ReadinessNotReady: 1}

func compareTargets(a, b rankedTarget) int {
	return cmp.Or(cmp.Compare(readinessRank[a.Readiness], readinessRank[b.Readiness]),
		cmp.Compare(a.visibilityClass, b.visibilityClass), cmp.Compare(b.lastAccessedAtMs, a.lastAccessedAtMs),
		cmp.Compare(a.Browser, b.Browser), cmp.Compare(a.TabID, b.TabID), cmp.Compare(a.FrameID, b.FrameID))
}

func rankTargets(browserTargets []rankedTarget) []dispatch.Target {
	if len(browserTargets) == 0 {
		return nil
	}
	slices.SortFunc(browserTargets, compareTargets)
	bestIndex := map[string]int{}
	for i, p := range browserTargets {
		if _, ok := bestIndex[p.Browser]; !ok {
			bestIndex[p.Browser] = i
		}
	}
	slices.SortStableFunc(browserTargets, func(a, b rankedTarget) int { return cmp.Compare(bestIndex[a.Browser], bestIndex[b.Browser]) })
	targets := make([]dispatch.Target, len(browserTargets))
	for i, p := range browserTargets {
		targets[i] = p.Target
	}
	return targets
}
