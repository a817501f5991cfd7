package browser

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// holdTime is how long a client holds a tab after its last act there.
const holdTime = time.Minute

// maxTabs is the maximum number of tabs that are remembered as opened by clients.
const maxTabs = 10_000

// tab identifies a tab.
type tab struct {
	browser string
	tabID   int
}

// tabTable remembers which tabs the clients use. As a gate, tabTable blocks acts in a
// tab that another client holds.
type tabTable struct {
	mu sync.Mutex // guards all fields below
	// currentTabs is the tab that each client opened or selected last, by clientKey.
	currentTabs map[string]tab
	// holders are the clients that have acted in tabs.
	holders map[tab]tabHolder
	// openers are the clients that have opened tabs.
	openers map[tab]string
}

// tabHolder is the client that acted last in a tab.
type tabHolder struct {
	client  string // the client's key
	name    string // the client's name for users
	site    string
	actedAt time.Time
}

var (
	_ dispatch.Gate       = (*tabTable)(nil)
	_ dispatch.BeforeHook = (*tabTable)(nil)
)

// newTabs returns a tabTable without clients.
func newTabs() *tabTable {
	return &tabTable{currentTabs: map[string]tab{}, holders: map[tab]tabHolder{}, openers: map[tab]string{}}
}

// clientKey returns the key of a client: its session, or its name if all clients of this
// name share a session.
func clientKey(c dispatch.Client) string {
	if c.Session == "" || c.IsSessionShared {
		return c.Identity()
	}
	return c.Session
}

// currentTabOf returns the tab in which a call runs that names none: the tab of the calling
// tool, or the tab that the client opened or selected last. currentTabOf is for
// [dispatch.Options].
func (t *tabTable) currentTabOf(c dispatch.Call) (browser string, tabID int) {
	if c.Caller != nil {
		return c.Caller.Browser, c.Caller.TabID
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	current := t.currentTabs[clientKey(c.Client)]
	return current.browser, current.tabID
}

// Name implements dispatch.Gate.
func (t *tabTable) Name() string { return "tab" }

// Decide implements dispatch.Gate.
func (t *tabTable) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	return dispatch.Verdict{Block: t.checkHolder(callInfo)}
}

// Before implements dispatch.BeforeHook: the client holds the tab from now on.
func (t *tabTable) Before(callInfo dispatch.CallInfo) *wire.CallError {
	if err := t.checkHolder(callInfo); err != nil {
		return err
	}
	if callInfo.Tool.IsExclusive && callInfo.Tool.Plugin == Name {
		t.mu.Lock()
		defer t.mu.Unlock()
		for held, h := range t.holders {
			if time.Since(h.actedAt) > holdTime {
				delete(t.holders, held)
			}
		}
		t.holders[tabOfCall(callInfo)] = tabHolder{client: clientKey(callInfo.Client), name: callInfo.Client.String(), site: siteOf(callInfo.Target.URL), actedAt: time.Now()}
	}
	return nil
}

// checkHolder returns an error if another client holds the tab of an act.
func (t *tabTable) checkHolder(callInfo dispatch.CallInfo) *wire.CallError {
	if callInfo.Tool.Plugin != Name || !callInfo.Tool.IsExclusive {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	h, ok := t.holders[tabOfCall(callInfo)]
	rest := holdTime - time.Since(h.actedAt)
	if !ok || rest <= 0 || h.client == clientKey(callInfo.Client) {
		return nil
	}
	return &wire.CallError{Code: wire.ErrTabInUse, Message: fmt.Sprintf("%s uses tab %d and holds it for %d more seconds; open a tab of your own, or wait",
		h.name, callInfo.Target.TabID, int(rest.Seconds())+1)}
}

// HeldTab is a tab that a client holds: acts of other clients in the tab fail.
type HeldTab struct {
	Browser string
	TabID   int
	// Site is the site of the last act.
	Site string
	// Client is the name of the client for users.
	Client string
	Until  time.Time
}

// heldTabs returns the tabs that clients hold, by browser and tab.
func (t *tabTable) heldTabs() []HeldTab {
	t.mu.Lock()
	defer t.mu.Unlock()
	var held []HeldTab
	for tab, holder := range t.holders {
		if until := holder.actedAt.Add(holdTime); time.Now().Before(until) {
			held = append(held, HeldTab{tab.browser, tab.tabID, holder.site, holder.name, until})
		}
	}
	slices.SortFunc(held, func(a, b HeldTab) int { return cmp.Or(cmp.Compare(a.Browser, b.Browser), a.TabID-b.TabID) })
	return held
}

func tabOfCall(callInfo dispatch.CallInfo) tab {
	return tab{callInfo.Target.Browser, callInfo.Target.TabID}
}

// isOpenedByClient reports whether the client of a call opened the tab of the call.
func (t *tabTable) isOpenedByClient(callInfo dispatch.CallInfo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.openers[tabOfCall(callInfo)] == clientKey(callInfo.Client) && callInfo.Target.TabID != 0
}

// recordTabChange notes the tab that a call of browser_tabs opened, selected or closed.
func (t *tabTable) recordTabChange(callInfo dispatch.CallInfo, tabID int) {
	var args struct {
		Action string `json:"action"`
	}
	_ = json.Unmarshal(callInfo.Args, &args) // the arguments match the schema of the tool
	key, changed := clientKey(callInfo.Client), tab{callInfo.Target.Browser, tabID}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case callInfo.Tool.Name != toolTabs:
	case args.Action == "close":
		closed := tabOfCall(callInfo)
		delete(t.holders, closed)
		delete(t.openers, closed)
		for client, current := range t.currentTabs {
			if current == closed {
				delete(t.currentTabs, client)
			}
		}
	case tabID != 0 && args.Action != "list":
		t.currentTabs[key] = changed
		if args.Action == "new" && len(t.openers) < maxTabs {
			t.openers[changed] = key
		}
	}
}
