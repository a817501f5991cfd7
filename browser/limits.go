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

// limitPeriod is the period for which [Limits] limit the number of calls.
const limitPeriod = time.Minute

// maxLimitedTabs limits the number of stored tabs.
const maxLimitedTabs = 1000

// Limits are the maximum numbers of acting calls and of pictures per minute in one tab,
// summed over all clients. A maximum of 0 means no limit.
type Limits struct {
	ActingCalls, Pictures int
}

// limitGate blocks acting calls and pictures in a tab that exceed [Limits]. A limitGate
// is safe for concurrent use.
type limitGate struct {
	limits Limits

	mu         sync.Mutex // the mutex guards the field startTimes
	startTimes map[limitedTab][]time.Time
}

// limitedTab is a tab and the kind of calls that limitGate counts in the tab: acting
// calls or pictures.
type limitedTab struct {
	tab       tabKey
	isPicture bool
}

var _ dispatch.BeforeHook = (*limitGate)(nil)

func newLimitGate(limits Limits) *limitGate {
	return &limitGate{limits: limits, startTimes: map[limitedTab][]time.Time{}}
}

// The method Name implements dispatch.Gate.
func (*limitGate) Name() string { return "tab-limit" }

// The method Decide implements dispatch.Gate.
func (g *limitGate) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	return dispatch.Verdict{BlockError: g.check(callInfo, false)}
}

// The method Before implements dispatch.BeforeHook.
func (g *limitGate) Before(callInfo dispatch.CallInfo) *wire.CallError {
	return g.check(callInfo, true)
}

func (g *limitGate) check(callInfo dispatch.CallInfo, shouldCount bool) *wire.CallError {
	key, limit, description := limitedTab{tab: tabOfCall(callInfo)}, g.limits.ActingCalls, "acts"
	if callInfo.Tool.Name == toolScreenshot {
		key.isPicture, limit, description = true, g.limits.Pictures, "pictures"
	}
	if callInfo.Tool.Plugin != Name || key.tab.tabID == 0 || limit == 0 || !key.isPicture && classOf(callInfo) == classRead {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	isExpired := func(startedAt time.Time) bool { return now.Sub(startedAt) >= limitPeriod }
	recentTimes := slices.DeleteFunc(g.startTimes[key], isExpired)
	g.startTimes[key] = recentTimes
	if len(recentTimes) >= limit {
		waitTime := recentTimes[len(recentTimes)-limit].Add(limitPeriod).Sub(now)
		factText := fmt.Sprintf("run at most %d %s a minute in one tab, and tab %d has reached that", limit, description, key.tab.tabID)
		waitText := humanize.ShortDuration((waitTime + time.Second - 1).Truncate(time.Second))
		return dispatch.NewBlockVerdict(wire.ErrRateLimited, "browser tools "+factText+"; the next call may run in "+waitText, "Browser tools "+factText+". Retry in "+waitText+".").BlockError
	}
	if shouldCount {
		g.startTimes[key] = append(recentTimes, now)
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
