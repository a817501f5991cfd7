package policy

import (
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

const (
	// maxSession is the longest duration of a grant for a session.
	maxSession = 24 * time.Hour
	// keepGrants is how many grants of one tool are kept. The oldest is dropped first;
	// its caller then needs approval again.
	keepGrants = 200
)

// Approval is the permission that let a call run.
type Approval struct {
	// Scope is the scope of the permission. A tool or plugin with the permission "auto"
	// has [wire.ScopeAlways].
	Scope wire.Scope `json:"scope"`
	// Mark is the author of the permission.
	Mark
	// Until is the end of the permission; zero if it has none.
	Until time.Time `json:"until,omitzero"`
}

// grant is a permission that a user gave for a session or some time. grant is for one
// caller: a grant for an agent does not cover a plugin's nested call, and a grant for a
// plugin does not cover an agent.
type grant struct {
	Approval
	caller  string // the plugin that calls; empty for a call of the client itself
	client  string // the client's identity
	session string // the only one that a grant with wire.ScopeSession is for
	hash    string // of the content it was given for
}

// covers reports whether the grant is for the caller of a call.
func (g grant) covers(in dispatch.CallInfo) bool {
	if g.caller != in.Caller.PluginName() {
		return false
	}
	if g.Scope == wire.ScopeSession {
		return g.session == in.Client.Session
	}
	return g.client == in.Client.Identity()
}

// grants are the permissions that are only in memory. A grants is safe for concurrent
// use.
type grants struct {
	mu sync.Mutex // guards all fields below
	// byTool are the grants by plugin and toolKey.
	byTool map[string]map[string][]grant
	// once are the grants for one call, by call id, until the call ends.
	once map[string]Approval
}

// grantCall grants one call.
func (g *grants) grantCall(callID string, a Approval) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.once == nil {
		g.once = map[string]Approval{}
	}
	g.once[callID] = a
}

// forget drops the grant of a call that ended.
func (g *grants) forget(callID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.once, callID)
}

// add stores a grant for later calls.
func (g *grants) add(plugin, tool string, one grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byTool == nil {
		g.byTool = map[string]map[string][]grant{}
	}
	if g.byTool[plugin] == nil {
		g.byTool[plugin] = map[string][]grant{}
	}
	list := append(g.liveGrants(plugin, tool), one)
	if len(list) > keepGrants {
		list = list[1:]
	}
	g.byTool[plugin][tool] = list
}

// liveGrants removes the expired grants of a tool, and returns the remaining grants.
// The caller holds mu, and the map of the plugin exists.
func (g *grants) liveGrants(plugin, tool string) []grant {
	now := time.Now()
	list := slices.DeleteFunc(g.byTool[plugin][tool], func(one grant) bool {
		return !one.Until.IsZero() && !now.Before(one.Until)
	})
	g.byTool[plugin][tool] = list
	return list
}

// find returns the grant that allows a call, if there is one.
func (g *grants) find(in dispatch.CallInfo, hash string) (Approval, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a, ok := g.once[in.CallID]; ok {
		return a, true
	}
	for _, one := range g.byTool[in.Tool.Plugin][toolKey(in.Tool)] {
		ended := !one.Until.IsZero() && !time.Now().Before(one.Until)
		if !ended && one.hash == hash && one.covers(in) {
			return one.Approval, true
		}
	}
	return Approval{}, false
}

// drop ends the grants of a tool, or of a whole plugin if tool is empty.
func (g *grants) drop(plugin, tool string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if tool == "" {
		delete(g.byTool, plugin)
		return
	}
	delete(g.byTool[plugin], tool)
}

// list returns the current grants of a plugin, by toolKey.
func (g *grants) list(plugin string) map[string][]Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := map[string][]Grant{}
	for tool := range g.byTool[plugin] {
		for _, one := range g.liveGrants(plugin, tool) {
			all[tool] = append(all[tool], Grant{one.Approval, one.client, one.caller})
		}
	}
	return all
}

// Grant is a permission of the user for one caller of a tool.
type Grant struct {
	Approval
	// Client is the name of the MCP client.
	Client string
	// Caller is the plugin whose tool calls; empty for a call of the client itself.
	Caller string
}

// Grants returns the current grants of a plugin for a session, for some time and for
// always, by tool. The keys of prompts start with "prompt ".
func (p *Policy) Grants(name string) map[string][]Grant {
	all := p.grants.list(name)
	for tool, standing := range p.file.Current().View.plugins[name].Tools {
		for _, one := range standing.Allowed {
			all[tool] = append(all[tool], Grant{Approval{Scope: wire.ScopeAlways, Mark: one.Mark}, one.Client, one.Caller})
		}
	}
	return all
}
