package wsbridge

import (
	"cmp"
	"context"
	"slices"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Targets implements dispatch.Bridge. A browser whose link is lost counts as
// connected for the grace period, but is not offered while one that is there
// could run the plugin: it may have been closed for good.
//
// It waits for what is about to come if there is nothing else that the call
// wants: in the first moments of the server for the first browser (those that
// knew the last server look for this one each second, and a client that has
// just started the server should find them), and for a tab that is loading. For
// one that the plugin was live in just now, and that goes before all others, it
// waits even if there are others. If all that there is has to be loaded anew, it
// asks for that. If there is nothing at all and the call may open a tab, it does.
func (h *Hub) Targets(ctx context.Context, want dispatch.Want) dispatch.Targets {
	s := search{hub: h, want: want, began: time.Now()}
	for {
		changed := h.tabs.changed()
		left := s.look()
		if left <= 0 {
			var answered bool
			if answered, left = s.ask(ctx); answered {
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
		case <-over.C: // there may be something else to try
		case <-ctx.Done():
			over.Stop()
			return s.found
		}
	}
}

// Where returns where a plugin is open at this moment.
func (h *Hub) Where(plugin string) dispatch.Targets {
	found, _, _ := h.targets(dispatch.Want{Plugin: plugin})
	return found
}

// search is what one Targets does.
type search struct {
	hub   *Hub
	want  dispatch.Want
	began time.Time // when it began, or what it has asked for
	found dispatch.Targets
	// asked says that a tab was to be loaded anew, loads that one is.
	asked, loads bool
	// opens says that a tab was to be opened, opened is the one that is.
	opens  bool
	opened *dispatch.Target
	// before are the failed loads that the call found: such a tab is loaded once
	// more for it. A load that fails later ends the wait for that tab.
	before map[failure]bool
}

// failure is one failed load of a tab.
type failure struct {
	browser  string
	tabID    int
	failedMs float64
}

// isNew reports whether the load of a tab failed while the call waited.
func (s *search) isNew(t dispatch.Target) bool {
	return s.want.Allows(t) && !s.before[failure{t.Browser, t.TabID, t.FailedMs}]
}

// hasOpenedFailed reports whether the page of the tab that was opened can't be
// loaded.
func (s *search) hasOpenedFailed() bool {
	return slices.ContainsFunc(s.found.Failed, func(t dispatch.Target) bool {
		return t.Browser == s.opened.Browser && t.TabID == s.opened.TabID && s.isNew(t)
	})
}

// look looks at what there is, and returns how much longer to wait for
// something better.
func (s *search) look() time.Duration {
	found, returning, arriving := s.hub.targets(s.want)
	s.found = found
	if s.before == nil {
		s.before = map[failure]bool{}
		for _, t := range found.Failed {
			s.before[failure{t.Browser, t.TabID, t.FailedMs}] = true
		}
	}
	live := slices.DeleteFunc(slices.Clone(found.Live), func(t dispatch.Target) bool { return !s.want.Allows(t) })
	ready := slices.ContainsFunc(live, func(t dispatch.Target) bool { return t.Readiness == dispatch.Ready })
	// A page that does not answer may do so in a moment.
	coming := slices.ContainsFunc(found.Loading, s.want.Allows) || slices.ContainsFunc(found.Silent, s.want.Allows)
	arrives := slices.ContainsFunc(found.Arriving, s.want.Allows)
	fails := slices.ContainsFunc(found.Failed, s.isNew) && !coming && !arrives
	switch {
	case returning > 0:
		return returning
	case s.opened != nil && !ready:
		if len(live) == 0 {
			s.found.Opened = s.opened
		}
		if s.hasOpenedFailed() {
			return 0
		}
		return openWait - time.Since(s.began)
	case s.loads && !ready && !fails: // a page that has just come is often not ready yet
		return loadWait - time.Since(s.began)
	case len(live) > 0:
		return 0
	case arrives:
		return arriveWait - time.Since(s.began)
	case coming:
		return loadWait - time.Since(s.began)
	case fails || slices.ContainsFunc(found.Broken, s.want.Allows):
		return 0
	case arriving > 0:
		return arriving
	case !s.hub.tabs.listed():
		return s.hub.opts.FirstWait - time.Since(s.hub.started)
	default:
		return 0
	}
}

// ask asks a browser for what may help, each thing once. If none has answered it
// returns how much longer to wait for one that is lost.
func (s *search) ask(ctx context.Context) (answered bool, left time.Duration) {
	if ctx.Err() != nil || slices.ContainsFunc(s.found.Live, s.want.Allows) {
		return false, 0
	}
	if slices.ContainsFunc(s.found.Broken, s.want.Allows) {
		return false, 0 // in a page that is loaded again it would fail again
	}
	failed := slices.ContainsFunc(s.found.Failed, s.want.Allows)
	again := slices.DeleteFunc(slices.Clone(s.found.Failed), s.isNew)
	reloadable := slices.Concat(s.found.NeedReload, again)
	reload := slices.ContainsFunc(reloadable, s.want.Allows)
	// A tab that takes long to load is better than a second one.
	loading := slices.ContainsFunc(s.found.Loading, s.want.Allows)
	switch {
	case reload && !s.asked:
		if s.loads, s.asked = s.hub.load(ctx, s.want, reloadable); !s.asked {
			return false, loadWait - time.Since(s.began)
		}
	case !reload && !failed && !loading && !s.opens && len(s.found.Openers) == 1:
		s.opens = true
		s.opened = s.hub.open(ctx, s.found.Openers[0], s.want.Open)
	default:
		return false, 0
	}
	s.began = time.Now()
	return true, 0
}

// targets is Targets at this moment. Returning is how much longer a tab that goes
// before the others may take to come, arriving how much longer a browser
// may take to settle in.
func (h *Hub) targets(want dispatch.Want) (out dispatch.Targets, returning, arriving time.Duration) {
	h.mu.Lock()
	hash, listed := h.hashes[want.Plugin]
	h.mu.Unlock()
	var live, away, reload, loading, coming, broken, silent, failed []place
	browsers := h.list()
	for _, b := range browsers {
		out.Browsers++
		if !listed {
			continue
		}
		of := b.places(want.Plugin, hash)
		arriving = max(arriving, b.arriving(want))
		silent, failed = append(silent, of.silent...), append(failed, of.failed...)
		out.Syncing = out.Syncing || b.isSyncing(want)
		coming = append(coming, of.arriving...)
		reload, loading, broken = append(reload, of.reload...), append(loading, of.loading...), append(broken, of.broken...)
		switch {
		case !of.connected:
			away = append(away, of.live...)
			continue
		case want.Open != "" && want.AllowsBrowser(of.browser.Browser, of.browser.BrowserName):
			out.Openers = append(out.Openers, of.browser)
		}
		live = append(live, of.live...)
	}
	if len(live) == 0 {
		live = away
	}
	for _, b := range browsers {
		if listed {
			returning = max(returning, b.returning(want, live))
		}
	}
	slices.SortFunc(out.Openers, func(x, y dispatch.Target) int {
		return cmp.Or(cmp.Compare(x.BrowserName, y.BrowserName), cmp.Compare(x.Browser, y.Browser))
	})
	out.Live, out.NeedReload, out.Loading, out.Broken = rank(live), rank(reload), rank(loading), rank(broken)
	out.Silent, out.Failed = rank(silent), rank(failed)
	out.Arriving = rank(coming)
	return out, returning, arriving
}

// target returns a document of a tab as a place to run.
func (b *browser) target(t wire.TabInfo, d document) dispatch.Target {
	return dispatch.Target{
		Browser: b.id, BrowserName: b.name, TabID: t.TabID, FrameID: d.frameID, DocumentID: d.id, URL: d.url, Title: t.Title,
		Frozen: t.Frozen,
	}
}

// place is a target and what decides its rank.
type place struct {
	dispatch.Target
	class int // 0 is the best
	used  float64
}

// places are those of one browser.
type places struct {
	browser   dispatch.Target // its id and name alone
	connected bool
	// live are the documents where the plugin is live with the hash that it has
	// now, reload the tabs that have to be reloaded for it, loading those in which
	// it may be live in a moment, arriving those that its code is on its way to,
	// broken those in which it failed to start.
	live, reload, loading, arriving, broken []place
	// silent are documents in which it is live and that do not answer.
	silent []place
	// failed are tabs whose page could not be loaded.
	failed []place
}

// places returns where the plugin with this hash is in the browser.
func (b *browser) places(plugin, hash string) places {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := places{browser: dispatch.Target{Browser: b.id, BrowserName: b.name}, connected: b.link != nil}
	for id := range b.tabs {
		of.add(b, b.tab(id), plugin, hash)
	}
	for id, t := range b.before {
		if _, told := b.tabs[id]; !told {
			of.add(b, t, plugin, hash)
		}
	}
	return of
}

// add adds what there is of a plugin in a tab. The caller holds b.mu.
func (of *places) add(b *browser, t wire.TabInfo, plugin, hash string) {
	isBroken := func(b wire.BrokenPlugin) bool { return b.Name == plugin && b.Hash == hash }
	isOlder := func(b wire.BrokenPlugin) bool { return b.Name == plugin }
	for _, d := range documents(t) {
		p := place{used: t.LastAccessedMs, class: class(t), Target: b.target(t, d)}
		if !b.runsIn(plugin, d) {
			continue
		}
		i := slices.IndexFunc(d.plugins, func(p wire.TabPlugin) bool { return p.Name == plugin })
		top := d.frameID == 0
		switch {
		case i >= 0 && d.id != "" && d.plugins[i].Hash == hash:
			p.Readiness = readiness(d.plugins[i].Ready)
			if t.Unresponsive {
				of.silent = append(of.silent, p)
			} else {
				of.live = append(of.live, p)
			}
		case top && t.LoadError != "" && slices.Contains(t.NeedsReload, plugin):
			p.Problem, p.FailedMs = t.LoadError, t.LoadFailedMs
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
// that too; a browser that was taken over does not. The caller holds b.mu.
func (b *browser) runsIn(plugin string, d document) bool {
	may := b.hub.opts.RunsIn
	if may == nil || may(plugin, d.url, d.frameID != 0) {
		return true
	}
	isLive := slices.ContainsFunc(d.plugins, func(p wire.TabPlugin) bool { return p.Name == plugin })
	if isLive && !b.outside {
		b.outside = true
		b.hub.opts.Log.Warn().Str("browser", b.name).Str("plugin", plugin).Bool("frame", d.frameID != 0).
			Msg("a browser claims a plugin in a page outside of its sites; no call goes there, and this is logged once")
	}
	return false
}

func readiness(told *bool) dispatch.Readiness {
	switch {
	case told == nil:
		return dispatch.ReadyUnknown
	case *told:
		return dispatch.Ready
	default:
		return dispatch.NotReady
	}
}

// class ranks a tab by where the person's eyes are.
func class(t wire.TabInfo) int {
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

// rankOf ranks what is known of readiness. A document of which nothing is known
// has just come, maybe for the call: the call asks it, and goes on to another if
// it is not ready.
var rankOf = map[dispatch.Readiness]int{dispatch.Ready: 0, dispatch.ReadyUnknown: 0, dispatch.NotReady: 1}

// compare returns less than 0 if a goes before b.
func compare(a, b place) int {
	return cmp.Or(cmp.Compare(rankOf[a.Readiness], rankOf[b.Readiness]),
		cmp.Compare(a.class, b.class), cmp.Compare(b.used, a.used),
		cmp.Compare(a.Browser, b.Browser), cmp.Compare(a.TabID, b.TabID), cmp.Compare(a.FrameID, b.FrameID))
}

// rank sorts places, the best first, so that those of one browser stand
// together, the browser with the best place first.
func rank(places []place) []dispatch.Target {
	if len(places) == 0 {
		return nil
	}
	slices.SortFunc(places, compare)
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
