package browsernames

import (
	"context"
	"slices"
	"strings"

	"opentabs/dispatch"
)

// PreferDefaultBrowser wraps a bridge. If possible, the returned bridge runs each call in the default
// browser of the call's client. The returned bridge prefers the default browser only if
// the call names no browser and several browsers could run the call.
func PreferDefaultBrowser(bridge dispatch.Bridge, s *Store) dispatch.Bridge {
	return defaultBrowserBridge{bridge, s}
}

type defaultBrowserBridge struct {
	dispatch.Bridge
	store *Store
}

func (p defaultBrowserBridge) Targets(ctx context.Context, targetChoice dispatch.TargetChoice) dispatch.Targets {
	targets := p.Bridge.Targets(ctx, targetChoice)
	if targetChoice.Browser != "" {
		return targets
	}
	preferredBrowser := p.store.defaultBrowserFor(targetChoice.Client.Token, targetChoice.Client.Name, nameWithoutVersion(targetChoice.Client.Name))
	if preferredBrowser == "" {
		return targets
	}
	isPreferred := func(t dispatch.Target) bool { return t.Browser == preferredBrowser }
	hasTab := slices.ContainsFunc(targets.LiveTargets, targetChoice.Allows)
	if !hasTab && len(targets.BrowsersToOpen) > 1 && slices.ContainsFunc(targets.BrowsersToOpen, isPreferred) {
		preferredChoice := targetChoice
		preferredChoice.Browser = preferredBrowser // makes the bridge open the tab in the preferred browser
		targets = p.Bridge.Targets(ctx, preferredChoice)
	}
	targets.LiveTargets = preferTargets(targets.LiveTargets, targetChoice, isPreferred)
	return targets
}

// preferTargets prefers a browser only if its documents are at least as ready as those of other browsers.
func preferTargets(targets []dispatch.Target, targetChoice dispatch.TargetChoice, isPreferred func(dispatch.Target) bool) []dispatch.Target {
	findBestReadiness := func(isWanted func(dispatch.Target) bool) (bestReadinessRank int) {
		for _, t := range targets {
			switch {
			case !targetChoice.Allows(t) || !isWanted(t):
			case t.Readiness == dispatch.ReadinessNotReady:
				bestReadinessRank = max(bestReadinessRank, 1)
			default:
				bestReadinessRank = 2
			}
		}
		return bestReadinessRank
	}
	bestReadinessRank := findBestReadiness(isPreferred)
	if bestReadinessRank == 0 || bestReadinessRank < findBestReadiness(func(t dispatch.Target) bool { return !isPreferred(t) }) {
		return targets
	}
	return slices.DeleteFunc(slices.Clone(targets), func(t dispatch.Target) bool { return !isPreferred(t) })
}

func nameWithoutVersion(name string) string {
	i := strings.LastIndexByte(name, ' ')
	if i < 0 || i+1 == len(name) || name[i+1] < '0' || name[i+1] > '9' {
		return name
	}
	return name[:i]
}
