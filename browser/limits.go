package browser

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/humanize"
	"opentabs/wire"
)

// rateLimitPeriod is the period for which [Limits] limit the number of calls.
const rateLimitPeriod = time.Minute

// maxLimitedTabs limits the number of stored tabs.
const maxLimitedTabs = 1000

// Limits are the maximum numbers of acting calls and of pictures per minute in one tab,
// summed over all clients. A maximum of 0 means no limit.
type Limits struct {
	ActingCallsPerMinute, PicturesPerMinute int
}

// rateLimitGate blocks acting calls and pictures in a tab that exceed [Limits]. A rateLimitGate
// is safe for concurrent use.
type rateLimitGate struct {
	limits Limits

	mu         sync.Mutex // the mutex guards the field startTimes
	startTimes map[rateLimitKey][]time.Time
}

// rateLimitKey is a tab and the kind of calls that rateLimitGate counts in the tab: acting
// calls or pictures.
type rateLimitKey struct {
	tab       tabKey
	isPicture bool
}

var _ dispatch.BeforeHook = (*rateLimitGate)(nil)

func newRateLimitGate(limits Limits) *rateLimitGate {
	return &rateLimitGate{limits: limits, startTimes: map[rateLimitKey][]time.Time{}}
}

// The method Name implements dispatch.Gate.
func (*rateLimitGate) Name() string { return "tab-limit" }

// The method Decide implements dispatch.Gate.
func (g *rateLimitGate) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	return dispatch.Verdict{BlockError: g.check(callInfo, false)}
}

// The method BeforeCall implements dispatch.BeforeHook.
func (g *rateLimitGate) BeforeCall(callInfo dispatch.CallInfo) *wire.CallError {
	return g.check(callInfo, true)
}

func (g *rateLimitGate) check(callInfo dispatch.CallInfo, shouldCount bool) *wire.CallError {
	key, limit, description := rateLimitKey{tab: tabOfCall(callInfo)}, g.limits.ActingCallsPerMinute, "acts"
	if callInfo.Tool.Name == toolScreenshot {
		key.isPicture, limit, description = true, g.limits.PicturesPerMinute, "pictures"
	}
	if callInfo.Tool.Plugin != Name || key.tab.tabID == 0 || limit == 0 || !key.isPicture && classOf(callInfo) == classRead {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	isExpired := func(startedAt time.Time) bool { return now.Sub(startedAt) >= rateLimitPeriod }
	recentCallTimes := slices.DeleteFunc(g.startTimes[key], isExpired)
	g.startTimes[key] = recentCallTimes
	if len(recentCallTimes) >= limit {
		waitTime := recentCallTimes[len(recentCallTimes)-limit].Add(rateLimitPeriod).Sub(now)
		errorSentence := fmt.Sprintf("run at most %d %s a minute in one tab, and tab %d has reached that", limit, description, key.tab.tabID)
		waitText := humanize.ShortDuration((waitTime + time.Second - 1).Truncate(time.Second))
		return dispatch.NewBlockVerdict(wire.ErrRateLimited, "browser tools "+errorSentence+"; the next call may run in "+waitText, "Browser tools "+errorSentence+". Retry in "+waitText+".").BlockError
	}
	if shouldCount {
		g.startTimes[key] = append(recentCallTimes, now)
	}
	if len(g.startTimes) > maxLimitedTabs {
		for otherTab, times := range g.startTimes {
			if len(slices.DeleteFunc(times, isExpired)) == 0 {
				delete(g.startTimes, otherTab)
			}
		}
	}
	return nil
}
