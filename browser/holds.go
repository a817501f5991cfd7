package browser

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/humanize"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

const (
	// holdDuration is how long a client keeps a tab after its last acting call in the tab.
	holdDuration = time.Minute
	// maxHoldWait limits how long an acting call waits until another client's hold of the tab
	// ends. If another client's hold of the tab lasts longer than maxHoldWait, the acting
	// call fails at once.
	maxHoldWait = 10 * time.Second
	// waitReportInterval is the interval between progress reports of a call that waits
	// for a held tab.
	waitReportInterval = time.Second
)

// TabHoldTable contains the reservations of tabs by clients. A client holds a tab while it acts in
// the tab, and for one minute afterwards. While a client holds a tab, other clients
// cannot act in the tab. If the user clicks or types in a held tab, the hold ends, and
// the client must read the page before it acts again. TabHoldTable is safe for concurrent use.
type TabHoldTable struct {
	onChange func(browser string)
	calls    CallCanceler

	mu         sync.Mutex // the mutex guards all fields below
	tabHolders map[tabKey]tabHolder
	// runningCalls are the calls of browser tools that run in a tab, by call ID.
	runningCalls map[string]tabCall
	// A stopped client is stored by its identity, so a new session of the client stays stopped.
	stoppedClients map[tabClient]bool
}

// CallCanceler cancels calls. The type dispatch.Dispatcher implements CallCanceler.
type CallCanceler interface {
	Cancel(callID, cancelledBy, reason string) bool
}

// tabClient is a tab and a client that acts in the tab.
type tabClient struct {
	tab    tabKey
	client string
}

// tabCall is a running call of a browser tool and the tab in which it runs.
type tabCall struct {
	tabClient
	startedAt time.Time
}

// tabHolder is the client that acted last in a tab.
type tabHolder struct {
	client          string
	sessionIdentity string
	name            string
	site            string
	// lastActedAt is the time at which the client's last acting call in the tab ended. While
	// an acting call runs, lastActedAt is the time at which the call began.
	lastActedAt   time.Time
	actingCallID  string
	releaseSignal chan struct{}
	// lastUserInputAt is when the user last clicked or typed in the tab after the client's last
	// acting call began. lastUserInputAt is zero if the user has neither clicked nor typed
	// since then.
	lastUserInputAt time.Time
	hasReadPage     bool
	// batchID is the ID of a running batch that has read the page since the user took the tab
	// back, or "". A client receives the pages that a batch reads only when the batch ends.
	batchID string
}

var (
	_ dispatch.DecisionObserver = (*TabHoldTable)(nil)
	_ dispatch.BeforeHook       = (*TabHoldTable)(nil)
	_ dispatch.AfterHook        = (*TabHoldTable)(nil)
)

func newHolds() *TabHoldTable {
	return &TabHoldTable{tabHolders: map[tabKey]tabHolder{}, runningCalls: map[string]tabCall{}, stoppedClients: map[tabClient]bool{}}
}

func (t tabHolder) timeLeft() time.Duration {
	if t.actingCallID != "" {
		return holdDuration
	}
	return holdDuration - time.Since(t.lastActedAt)
}

func (t tabHolder) endTime() time.Time { return time.Now().Add(t.timeLeft()) }

func (t tabHolder) timeLeftText() string {
	return humanize.Duration(t.timeLeft().Truncate(time.Second) + time.Second)
}

func (t tabHolder) isHolding() bool { return t.lastUserInputAt.IsZero() && t.timeLeft() > 0 }

func (t tabHolder) mustReadPage() bool { return !t.lastUserInputAt.IsZero() && !t.hasReadPage }

// The caller of release holds TabHoldTable.mu.
func (t tabHolder) release() {
	if t.isHolding() { // after the hold's end, the channel `releaseSignal` may already be closed
		close(t.releaseSignal)
	}
}

// OnChange sets the function that is called when a hold changes. The argument browser is the
// ID of the browser of the held tab. OnChange must be called before the first tool call.
func (h *TabHoldTable) OnChange(onChange func(browser string)) { h.onChange = onChange }

// SetCalls sets the dispatcher whose calls Release cancels. SetCalls must be called
// before the first tool call.
func (h *TabHoldTable) SetCalls(calls CallCanceler) { h.calls = calls }

// The method Name implements dispatch.Gate.
func (h *TabHoldTable) Name() string { return "tab" }

// The method Decide implements dispatch.Gate. Decide suspends a call if the user has stopped
// its client in the tab, or blocks the call if it was already in the queue at that time. If
// another client holds the tab of the call, Decide makes the call wait or fail.
func (h *TabHoldTable) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	switch isStopped := h.isStopped(callInfo); {
	case isStopped && callInfo.HasBeenQueued:
		return dispatch.Verdict{BlockError: newStoppedError(callInfo.Target.TabID)}
	case isStopped:
		return dispatch.Verdict{Suspend: &dispatch.Ticket{
			Kind: wire.TicketPermission, Title: tabName(callInfo.Target.TabID),
			Reason: fmt.Sprintf("%s wants to act on %s again, in tab %d, where you stopped it", policy.RequesterText(callInfo), originOf(callInfo.Target.URL), callInfo.Target.TabID),
		}}
	}
	if wait := h.waitForRelease(callInfo); wait != nil {
		return dispatch.Verdict{Wait: wait}
	}
	return dispatch.Verdict{BlockError: h.check(callInfo)}
}

func (h *TabHoldTable) check(callInfo dispatch.CallInfo) *wire.CallError {
	if !isActingCall(callInfo) {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	holder, ok := h.tabHolders[tabOfCall(callInfo)]
	tabID, isOwnHold := callInfo.Target.TabID, holder.client == clientKey(callInfo.Client)
	switch {
	case ok && isOwnHold && holder.mustReadPage():
		ago := humanize.Duration(time.Since(holder.lastUserInputAt).Round(time.Second))
		return &wire.CallError{
			Code: wire.ErrTabTaken, Message: fmt.Sprintf("the user took tab %d back by a click or a key %s ago, and you have not read the page since", tabID, ago),
			UserText: fmt.Sprintf("You have used tab %d since the agent last read it. The agent must read the page again before it acts there.", tabID),
		}
	case ok && !isOwnHold && holder.isHolding():
		errorSentence := fmt.Sprintf("%s uses tab %d and holds it until %s, for %s more", holder.name, tabID, holder.endTime().Format(time.TimeOnly), holder.timeLeftText())
		return &wire.CallError{
			Code: wire.ErrTabInUse, Message: errorSentence + "; open a tab of your own, or wait",
			UserText: fmt.Sprintf("%s. Retry later, or stop that client with `opentabs browser release %d`.", errorSentence, tabID),
		}
	}
	return nil
}

func (h *TabHoldTable) waitForRelease(callInfo dispatch.CallInfo) *dispatch.Wait {
	h.mu.Lock()
	defer h.mu.Unlock()
	holder, ok := h.tabHolders[tabOfCall(callInfo)]
	if !ok || !isActingCall(callInfo) || !holder.isHolding() || holder.timeLeft() > maxHoldWait || holder.client == clientKey(callInfo.Client) {
		return nil
	}
	return &dispatch.Wait{Duration: min(holder.timeLeft(), waitReportInterval), Done: holder.releaseSignal, Message: fmt.Sprintf(
		"waiting for tab %d: %s uses it for %s more", callInfo.Target.TabID, holder.name, holder.timeLeftText())}
}

func (h *TabHoldTable) isStopped(callInfo dispatch.CallInfo) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return isActingCall(callInfo) && h.stoppedClients[stoppedClientKey(callInfo)]
}

// ObserveDecision implements dispatch.DecisionObserver. If the user approves a call of a
// client that the user had stopped, the client is allowed to act in the tab again. A change
// of permissions does not allow the client to act there.
func (h *TabHoldTable) ObserveDecision(callInfo dispatch.CallInfo, _ dispatch.Ticket, r dispatch.Resolution) {
	if !r.Allow || r.IsFromRecheck {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.stoppedClients, stoppedClientKey(callInfo))
}

func tabClientOf(callInfo dispatch.CallInfo) tabClient {
	return tabClient{tabOfCall(callInfo), clientKey(callInfo.Client)}
}

func stoppedClientKey(callInfo dispatch.CallInfo) tabClient {
	return tabClient{tabOfCall(callInfo), callInfo.Client.Identity()}
}

func tabName(tabID int) string { return fmt.Sprintf("tab %d", tabID) }

func isActingCall(callInfo dispatch.CallInfo) bool {
	return callInfo.Tool.Plugin == Name && callInfo.Tool.IsExclusive && classOf(callInfo) != classRead
}

func isPageRead(callInfo dispatch.CallInfo) bool {
	return callInfo.Tool.Plugin == Name && callInfo.Tool.TargetKind == dispatch.TargetPage && classOf(callInfo) == classRead
}

// The method BeforeCall implements dispatch.BeforeHook. If the call is an acting call, its
// client holds the tab from the start of the call on.
func (h *TabHoldTable) BeforeCall(callInfo dispatch.CallInfo) *wire.CallError {
	if callInfo.Tool.Plugin != Name || callInfo.Target.TabID == 0 && !isBatch(callInfo.Tool) {
		return nil
	}
	if h.isStopped(callInfo) {
		return newStoppedError(callInfo.Target.TabID)
	}
	if err := h.check(callInfo); err != nil {
		return err
	}
	h.mu.Lock()
	h.runningCalls[callInfo.CallID] = tabCall{tabClientOf(callInfo), time.Now()}
	h.mu.Unlock()
	if isActingCall(callInfo) {
		h.beginHold(callInfo)
	}
	return nil
}

func newStoppedError(tabID int) *wire.CallError {
	return &wire.CallError{
		Code: wire.ErrDenied, Message: fmt.Sprintf("the user stopped you in tab %d", tabID),
		UserText: fmt.Sprintf("You stopped this client in tab %d. Allow its next call to let it act there again.", tabID),
	}
}

func (h *TabHoldTable) beginHold(callInfo dispatch.CallInfo) {
	h.mu.Lock()
	maps.DeleteFunc(h.tabHolders, func(_ tabKey, holder tabHolder) bool {
		return holder.timeLeft() <= 0 && (!holder.mustReadPage() || len(h.tabHolders) > maxTabs)
	})
	key, callTab := clientKey(callInfo.Client), tabOfCall(callInfo)
	releaseSignal := h.tabHolders[callTab].releaseSignal
	if h.tabHolders[callTab].client != key || !h.tabHolders[callTab].isHolding() {
		releaseSignal = make(chan struct{})
	}
	h.tabHolders[callTab] = tabHolder{
		client: key, sessionIdentity: callInfo.Client.Identity(), name: callInfo.Client.String(),
		site: originOf(callInfo.Target.URL), lastActedAt: time.Now(), actingCallID: callInfo.CallID, releaseSignal: releaseSignal,
	}
	h.mu.Unlock()
	h.reportChange(callInfo.Target.Browser)
}

func (h *TabHoldTable) reportChange(browser string) {
	if h.onChange != nil {
		h.onChange(browser)
	}
}

// AfterCall implements dispatch.AfterHook. After an acting call has ended, its client holds
// the tab for another minute.
func (h *TabHoldTable) AfterCall(callInfo dispatch.CallInfo, endedCall dispatch.EndedCall) {
	if isBatch(callInfo.Tool) {
		h.recordBatchEnd(callInfo.CallID)
	}
	h.mu.Lock()
	call, isRunning := h.runningCalls[callInfo.CallID]
	delete(h.runningCalls, callInfo.CallID)
	holder := h.tabHolders[call.tab]
	isLastAction := isRunning && holder.actingCallID == callInfo.CallID
	if isLastAction {
		if holder.actingCallID = ""; endedCall.View.Ended != nil {
			holder.lastActedAt = *endedCall.View.Ended
		}
		h.tabHolders[call.tab] = holder
	}
	h.mu.Unlock()
	if isLastAction {
		h.reportChange(call.tab.browser)
	}
}

func isBatch(tool dispatch.Tool) bool { return tool.Plugin == Name && tool.Name == toolBatch }

func (h *TabHoldTable) recordBatchEnd(batchID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for tab, holder := range h.tabHolders {
		if holder.batchID == batchID {
			holder.hasReadPage, holder.batchID = true, ""
			h.tabHolders[tab] = holder
		}
	}
}

// If a batch reads the page after the user's input, later steps of the batch still must not act, because the client
// chose all steps before it saw the page.
func (h *TabHoldTable) recordPageRead(callInfo dispatch.CallInfo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	tab := tabOfCall(callInfo)
	holder, ok := h.tabHolders[tab]
	call, isRunning := h.runningCalls[callInfo.CallID]
	if ok && isRunning && holder.client == call.client && call.startedAt.After(holder.lastUserInputAt) {
		if _, isBatchStep := h.runningCalls[callInfo.ParentCallID]; isBatchStep { // only a batch calls other browser tools
			holder.batchID = callInfo.ParentCallID
		} else {
			holder.hasReadPage = true
		}
		h.tabHolders[tab] = holder
	}
}

// RecordUserInput records that the user clicked or typed in a tab, which ends a client's
// hold of the tab. User input in a tab that no client holds has no effect.
func (h *TabHoldTable) RecordUserInput(browser string, tabID int) {
	h.mu.Lock()
	tab := tabKey{browser, tabID}
	holder, ok := h.tabHolders[tab]
	isStillHeld := ok && holder.timeLeft() > 0
	if isStillHeld {
		holder.release()
		holder.lastUserInputAt, holder.hasReadPage, holder.batchID = time.Now(), false, ""
		h.tabHolders[tab] = holder
	}
	h.mu.Unlock()
	if isStillHeld {
		h.reportChange(browser)
	}
}

func (h *TabHoldTable) isTakenBack(callInfo dispatch.CallInfo) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	holder, ok := h.tabHolders[tabOfCall(callInfo)]
	return ok && holder.client == clientKey(callInfo.Client) && holder.mustReadPage()
}

// Release ends a client's hold of a tab at the user's request. Release cancels the client's
// running calls in the tab, and the client's next acting call in the tab needs an approval.
// Release returns the name of the client that held the tab. The argument surface is where the
// user made the request, such as the side panel. The text of the error that Release returns
// is written for the user, not for an agent.
func (h *TabHoldTable) Release(browser string, tabID int, surface string) (client string, err error) {
	h.mu.Lock()
	releasedTab := tabKey{browser, tabID}
	holder, ok := h.tabHolders[releasedTab]
	if !ok || holder.timeLeft() <= 0 {
		h.mu.Unlock()
		return "", fmt.Errorf("no client uses tab %d", tabID)
	}
	delete(h.tabHolders, releasedTab)
	holder.release()
	if len(h.stoppedClients) < maxTabs {
		h.stoppedClients[tabClient{releasedTab, holder.sessionIdentity}] = true
	}
	var callIDs []string
	for id, call := range h.runningCalls {
		if call.tabClient == (tabClient{releasedTab, holder.client}) {
			callIDs = append(callIDs, id)
		}
	}
	h.mu.Unlock()
	h.reportChange(browser)
	for _, id := range callIDs {
		h.calls.Cancel(id, surface, "the user stopped you in this tab")
	}
	return holder.name, nil
}

func (h *TabHoldTable) forgetTab(closedTab tabKey) {
	h.mu.Lock()
	if holder, ok := h.tabHolders[closedTab]; ok {
		holder.release()
		delete(h.tabHolders, closedTab)
	}
	maps.DeleteFunc(h.stoppedClients, func(stoppedTabClient tabClient, _ bool) bool { return stoppedTabClient.tab == closedTab })
	h.mu.Unlock()
	h.reportChange(closedTab.browser)
}

func (h *TabHoldTable) endSession(session string) {
	h.mu.Lock()
	browsers := map[string]bool{}
	maps.DeleteFunc(h.tabHolders, func(heldTab tabKey, holder tabHolder) bool {
		if holder.client != session {
			return false
		}
		holder.release()
		browsers[heldTab.browser] = true
		return true
	})
	h.mu.Unlock()
	for browser := range browsers {
		h.reportChange(browser)
	}
}

// HeldTab is a tab that a client holds.
type HeldTab struct {
	Browser string
	TabID   int
	// Site is the origin of the page in which the client last acted.
	Site string
	// Client is the client's name as users see it.
	Client string
	EndsAt time.Time
	// IsTakenBack is true if the user has clicked or typed in the tab since the client last
	// acted there.
	IsTakenBack bool
}

// HeldTabs returns the tabs in which a client acted in the last minute, sorted by browser
// and tab ID.
func (h *TabHoldTable) HeldTabs() []HeldTab {
	h.mu.Lock()
	defer h.mu.Unlock()
	var heldTabs []HeldTab
	for tab, holder := range h.tabHolders {
		if holder.timeLeft() > 0 {
			heldTabs = append(heldTabs, HeldTab{tab.browser, tab.tabID, holder.site, holder.name, holder.endTime(), !holder.lastUserInputAt.IsZero()})
		}
	}
	slices.SortFunc(heldTabs, func(a, b HeldTab) int { return cmp.Or(cmp.Compare(a.Browser, b.Browser), a.TabID-b.TabID) })
	return heldTabs
}

// TabHolds returns the held tabs of one browser in the form that the daemon sends to the
// browser.
func (h *TabHoldTable) TabHolds(browser string) []wire.TabHold {
	var tabHolds []wire.TabHold
	for _, heldTab := range h.HeldTabs() {
		if heldTab.Browser == browser {
			remainingMs := float64(time.Until(heldTab.EndsAt)) / float64(time.Millisecond)
			tabHolds = append(tabHolds, wire.TabHold{TabID: heldTab.TabID, Client: heldTab.Client, Site: heldTab.Site, LeftMs: remainingMs, IsTakenBack: heldTab.IsTakenBack})
		}
	}
	return tabHolds
}
