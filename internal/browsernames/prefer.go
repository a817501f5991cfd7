package browsernames

import (
	"context"
	"slices"
	"strings"

	"opentabs/dispatch"
)

// Prefer wraps a bridge. If possible, the returned bridge runs each call in the default
// browser of the call's client. The returned bridge prefers the default browser only if
// the call names no browser and several browsers could run the call.
func Prefer(bridge dispatch.Bridge, s *Store) dispatch.Bridge {
	return preferringBridge{bridge, s}
}

type preferringBridge struct {
	dispatch.Bridge
	store *Store
}

func (p preferringBridge) Targets(ctx context.Context, choice dispatch.TargetChoice) dispatch.Targets {
	targets := p.Bridge.Targets(ctx, choice)
	if choice.Browser != "" {
		return targets
	}
	preferred := p.store.DefaultFor(choice.Client.Token, choice.Client.Name, nameWithoutVersion(choice.Client.Name))
	if preferred == "" {
		return targets
	}
	isPreferred := func(t dispatch.Target) bool { return t.Browser == preferred }
	hasTab := slices.ContainsFunc(targets.LiveTargets, choice.Allows)
	if !hasTab && len(targets.BrowsersToOpen) > 1 && slices.ContainsFunc(targets.BrowsersToOpen, isPreferred) {
		opening := choice
		opening.Browser = preferred // this makes the bridge open the tab in the preferred browser
		targets = p.Bridge.Targets(ctx, opening)
	}
	targets.LiveTargets = preferTargets(targets.LiveTargets, choice, isPreferred)
	return targets
}

// preferTargets prefers a browser only if its documents are at least as ready as those of other browsers.
func preferTargets(targets []dispatch.Target, choice dispatch.TargetChoice, isPreferred func(dispatch.Target) bool) []dispatch.Target {
	bestOf := func(isWanted func(dispatch.Target) bool) (best int) {
		for _, t := range targets {
			switch {
			case !choice.Allows(t) || !isWanted(t):
			case t.Readiness == dispatch.NotReady:
				best = max(best, 1)
			default:
				best = 2
			}
		}
		return best
	}
	best := bestOf(isPreferred)
	if best == 0 || best < bestOf(func(t dispatch.Target) bool { return !isPreferred(t) }) {
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
