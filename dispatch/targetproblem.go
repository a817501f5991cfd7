package dispatch

import (
	"fmt"
	"slices"
	"strings"

	"opentabs/dispatch/errtext"
	"opentabs/wire"
)

// targetProblem explains why a call has no document to run in.
type targetProblem struct {
	err       *wire.CallError
	nextStep  errtext.Step
	reloadTab *Target
}

func newNoTabProblem(nextStep errtext.Step, format string, args ...any) *targetProblem {
	return &targetProblem{err: &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(format, args...)}, nextStep: nextStep}
}

func newTargetProblem(targets Targets, targetChoice TargetChoice, req *Call) *targetProblem {
	pluginName := req.Tool.displayName()
	unresponsiveTargets := matchingTargets(targets.UnresponsiveTargets, targetChoice)
	tabsToReload, brokenTabs, loadingTabs := matchingTargets(targets.TabsToReload, targetChoice), matchingTargets(targets.BrokenTabs, targetChoice), matchingTargets(targets.LoadingTabs, targetChoice)
	errorPages, tabsAwaitingCode := matchingTargets(targets.ErrorPages, targetChoice), matchingTargets(targets.TabsWithoutPluginCode, targetChoice)
	switch {
	case targets.BrowserCount == 0:
		return &targetProblem{err: &wire.CallError{Code: wire.ErrNoBrowser, Message: "no browser with the opentabs extension is connected"}}
	case targets.OpenedTab != nil:
		return newOpenedTabProblem(*targets.OpenedTab, errorPages, pluginName)
	case len(tabsAwaitingCode) > 0:
		return newNoTabProblem(errtext.RetrySoonStep, "%s is open, but plugins are still being loaded into the browser (%s)", pluginName, describeTargets(tabsAwaitingCode))
	case targets.IsPluginListSyncing:
		return newNoTabProblem(errtext.RetrySoonStep, "plugins are still being loaded into the browser, so tabs of %s may not be recognized yet", pluginName)
	case len(brokenTabs) > 0:
		return &targetProblem{err: &wire.CallError{Code: wire.ErrPluginBroken, Message: fmt.Sprintf(
			"the plugin %s did not start in its page: %s; none of its tools can run in %s",
			req.Tool.Plugin, brokenTabs[0].Problem, describeTargets(brokenTabs))}}
	case len(unresponsiveTargets) > 0:
		return &targetProblem{err: &wire.CallError{Code: wire.ErrPageUnresponsive, Message: fmt.Sprintf(
			"%s is open, but its page does not answer (%s)", pluginName, describeTargets(unresponsiveTargets))}}
	case len(tabsToReload) > 0:
		targetProblem := newNoTabProblem(errtext.ChooseTabToReloadStep, "%s is open, but its page was loaded before the plugin was added or changed (%s)", pluginName, describeTargets(tabsToReload))
		if !spansSeveralBrowsers(tabsToReload) {
			targetProblem.nextStep, targetProblem.reloadTab = errtext.ReloadTabStep, &tabsToReload[0]
		}
		return targetProblem
	case len(loadingTabs) > 0:
		return newNoTabProblem(errtext.RetrySoonStep, "%s is open, but its page is still loading or updating the plugin (%s)", pluginName, describeTargets(loadingTabs))
	case len(errorPages) > 0 && errorPages[0].Problem == wire.LoadErrorNoAccess:
		return newNoTabProblem(errtext.AllowSiteStep, "%s is open, but Chrome gives opentabs no access to its site (%s)", pluginName, describeTargets(errorPages))
	case len(errorPages) > 0:
		return newNoTabProblem(errtext.RetryLoadStep, "%s is open, but its page can't be loaded (%s): %s",
			pluginName, describeTargets(errorPages), errtext.DescribeLoadError(errorPages[0].Problem))
	case len(targets.BrowsersToOpen) > 1:
		return &targetProblem{err: &wire.CallError{Code: wire.ErrAmbiguousTarget, Message: fmt.Sprintf(
			"no open tab shows %s, and several browsers could open one: %s; name one of the browsers", pluginName, describeBrowsers(targets.BrowsersToOpen))}}
	case len(targets.LiveTargets)+len(targets.UnresponsiveTargets) > 0:
		return newNoTabProblem(errtext.ChooseTabStep, "the tab, browser or instance that was named does not show %s; these do: %s",
			pluginName, describeTargets(slices.Concat(targets.LiveTargets, targets.UnresponsiveTargets)))
	default:
		return &targetProblem{err: &wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf(
			"no open tab shows %s (%s)", pluginName, strings.Join(req.Tool.Matches, ", "))}}
	}
}

func newOpenedTabProblem(openedTarget Target, errorPages []Target, pluginName string) *targetProblem {
	i := slices.IndexFunc(errorPages, openedTarget.isSameTab)
	switch {
	case i >= 0 && errorPages[i].Problem == wire.LoadErrorNoAccess:
		return newNoTabProblem(errtext.AllowSiteStep, "%s was opened for the call, but Chrome gives opentabs no access to its site", describeTargets(errorPages[i:i+1]))
	case i >= 0:
		return newNoTabProblem(errtext.RetryLoadStep, "%s was opened for the call, but its page can't be loaded: %s",
			describeTargets(errorPages[i:i+1]), errtext.DescribeLoadError(errorPages[i].Problem))
	}
	return newNoTabProblem(errtext.CheckTabStep, "%s was opened for the call, but %s did not start there; the page may require a login",
		describeTargets([]Target{openedTarget}), pluginName)
}

func failWithProblem(c *liveCall, targetProblemFound *targetProblem) {
	c.mu.Lock()
	c.nextStep = targetProblemFound.nextStep
	c.mu.Unlock()
	c.fail(targetProblemFound.err)
}
