package wsbridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
	"opentabs/wsbridge/requests"
)

// maxReloadAttempts limits how many tabs a browser may try to reload for one call.
const maxReloadAttempts = 3

// openedTabTimeout limits how long a call waits for its plugin to become ready in a newly
// opened tab.
const openedTabTimeout = 20 * time.Second

// The browser refuses a reload that could lose the user's work. If the tabs are in several browsers, requestReload
// reloads no tab, because each browser may be signed in to a different account of the site.
func (s *targetSearch) requestReload(ctx context.Context, tabs []dispatch.Target) (isLoading, isAnswered bool) {
	tabs = slices.DeleteFunc(slices.Clone(tabs), func(t dispatch.Target) bool { return !s.targetChoice.Allows(t) })
	if slices.ContainsFunc(tabs, func(t dispatch.Target) bool { return t.Browser != tabs[0].Browser }) {
		return false, true
	}
	attempts := slices.Clone(tabs[:min(len(tabs), maxReloadAttempts)])
	firstForcedAttempt := len(attempts)
	if s.targetChoice.IsReloadApproved {
		attempts = append(attempts, tabs[0])
	}
	for i, t := range attempts {
		b := s.hub.registry.findBrowser(t.Browser)
		if b == nil {
			return false, true
		}
		_, l := s.hub.registry.currentLink(b)
		if l == nil {
			return false, false
		}
		response, err := l.requests.SendAndWait(ctx, wire.MethodTabLoad, wire.EncodeBody(wire.TabLoadParams{TabID: t.TabID, IsForced: i >= firstForcedAttempt}))
		if err != nil {
			return false, !errors.Is(err, requests.ErrLinkEnded)
		}
		var r wire.TabLoadResult
		if err := inbound.DecodeAnswer(response, &r); err != nil {
			l.log.Debug().Err(err).Int("tab", t.TabID).Msg("the browser can't reload the tab")
			continue
		}
		l.log.Debug().Int("tab", t.TabID).Bool("loading", r.Loading).Bool("forced", i >= firstForcedAttempt).Msg("tab reload requested for a call")
		if r.Loading || i >= firstForcedAttempt {
			return true, true
		}
	}
	return false, true
}

// ReloadTab reloads a tab at the user's request, even if the page has unsaved input. The reload
// ends the tab's calls. The argument browser selects a browser, see wire.MatchesBrowser; it may
// be empty if only one browser has the tab. The returned error is a sentence for the user.
func (h *Hub) ReloadTab(ctx context.Context, browser string, tabID int) error {
	var links []*link
	for _, b := range h.registry.listBrowsers() {
		name, l := h.registry.currentLink(b)
		if b.tabs.hasTab(tabID) && l != nil && (browser == "" || wire.MatchesBrowser(browser, b.id, name)) {
			links = append(links, l)
		}
	}
	switch len(links) {
	case 0:
		return fmt.Errorf("no connected browser has a tab %d that a plugin works in: `opentabs status` lists them", tabID)
	case 1:
	default:
		return fmt.Errorf("several browsers have a tab %d: name one with --browser", tabID)
	}
	response, err := links[0].requests.SendAndWait(ctx, wire.MethodTabLoad, wire.EncodeBody(wire.TabLoadParams{TabID: tabID, IsForced: true}))
	if err == nil {
		err = inbound.DecodeAnswer(response, &wire.TabLoadResult{})
	}
	if err != nil {
		return fmt.Errorf("the browser did not reload tab %d: %w", tabID, err)
	}
	return nil
}

// openTab opens the page that the call needs in a new background tab. openTab returns nil if
// the browser cannot open a tab.
func (s *targetSearch) openTab(ctx context.Context, target dispatch.Target) *dispatch.Target {
	b := s.hub.registry.findBrowser(target.Browser)
	if b == nil {
		return nil
	}
	_, l := s.hub.registry.currentLink(b)
	if l == nil {
		return nil
	}
	response, err := l.requests.SendAndWait(ctx, wire.MethodTabOpen, wire.EncodeBody(wire.TabOpenParams{URL: s.targetChoice.URLToOpen}))
	var r wire.TabOpenResult
	if err == nil {
		err = inbound.DecodeAnswer(response, &r)
	}
	if err != nil {
		l.log.Warn().Err(err).Str("url", s.targetChoice.URLToOpen).Msg("the browser can't open a tab")
		return nil
	}
	l.log.Info().Int("tab", r.TabID).Str("url", s.targetChoice.URLToOpen).Msg("tab opened for a call")
	target.TabID, target.URL = r.TabID, s.targetChoice.URLToOpen
	return &target
}

// browserToolSearch finds the tabs or browsers in which a browser tool can run.
type browserToolSearch struct{ hub *Hub }

func (s browserToolSearch) find(ctx context.Context, targetChoice dispatch.TargetChoice) dispatch.Targets {
	h := s.hub
	waitUntil := time.Now().Add(h.opts.GracePeriod)
	for {
		tabsChanged := h.tabChanges.Next()
		foundTargets, isWaiting := s.queryBrowsers(ctx, targetChoice)
		waitTime := time.Until(waitUntil)
		if foundTargets.BrowserCount == 0 && !h.tabChanges.HasListedTabs() {
			waitTime, isWaiting = h.opts.MaxFirstBrowserWait-time.Since(h.startedAt), true
		}
		if len(foundTargets.LiveTargets) > 0 || !isWaiting || waitTime <= 0 {
			return foundTargets
		}
		timer := time.NewTimer(waitTime)
		select {
		case <-tabsChanged:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return foundTargets
		}
		timer.Stop()
	}
}

func (s browserToolSearch) queryBrowsers(ctx context.Context, targetChoice dispatch.TargetChoice) (places dispatch.Targets, isWaiting bool) {
	for _, b := range s.hub.registry.listBrowsers() {
		places.BrowserCount++
		name, l := s.hub.registry.currentLink(b)
		switch {
		case !targetChoice.AllowsBrowser(b.id, name):
		case l == nil:
			isWaiting = true
		case targetChoice.TabID == 0:
			places.LiveTargets = append(places.LiveTargets, dispatch.Target{Browser: b.id, BrowserName: name})
		default:
			tab, err := describeTab(ctx, l, targetChoice.TabID, targetChoice.Inspect)
			if err != nil {
				l.log.Debug().Err(err).Int("tab", targetChoice.TabID).Msg("the browser does not describe the tab")
				isWaiting = isWaiting || errors.Is(err, requests.ErrLinkEnded)
			} else if tab != nil {
				places.LiveTargets = append(places.LiveTargets, dispatch.Target{
					Browser: b.id, BrowserName: name, TabID: tab.TabID, DocumentID: tab.DocumentID, URL: tab.URL, Title: tab.Title, Problem: tab.Problem,
					Secrets: tab.Secrets,
				})
			}
		}
	}
	return places, isWaiting
}

func describeTab(ctx context.Context, l *link, tabID int, inspect *wire.TabInspection) (*wire.AnyTab, error) {
	response, err := l.requests.SendAndWait(ctx, wire.MethodTabDescribe, wire.EncodeBody(wire.TabDescribeParams{TabID: tabID, Inspect: inspect}))
	if err != nil {
		return nil, err
	}
	var r wire.TabDescribeResult
	if err := inbound.DecodeAnswer(response, &r); err != nil || r.Tab == nil {
		return nil, err
	}
	tab := inbound.CleanBrowserTab(*r.Tab)
	if tab.TabID != tabID {
		return nil, fmt.Errorf("the browser described tab %d instead", tab.TabID)
	}
	return &tab, nil
}
