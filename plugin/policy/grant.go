package policy

import (
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

const (
	// maxSession is how long a grant for a session holds at most.
	maxSession = 24 * time.Hour
	// keepGrants is how many grants of one tool are kept; the oldest goes first,
	// and is asked for again.
	keepGrants = 200
)

// Approval is why a call was let through.
type Approval struct {
	// Scope is how far the permission goes; [wire.ScopeAlways] is that of a tool
	// or plugin that runs by itself.
	Scope wire.Scope `json:"scope"`
	// Mark is who gave it, and when.
	Mark
	// Until is when it ends; zero for one that does not end by itself.
	Until time.Time `json:"until,omitzero"`
}

// grant is a permission that a user gave for a session or some time. It is for one
// caller: what an agent may do, a plugin's nested call may not, and the other way
// round.
type grant struct {
	Approval
	caller  string // the plugin that calls; empty for a call of the client itself
	client  string // the client's identity
	session string // the only one that a grant with wire.ScopeSession is for
	hash    string // of the content it was given for
}

// covers reports whether the grant is for the caller of a call.
func (g grant) covers(in dispatch.Info) bool {
	if g.caller != in.Caller.PluginName() {
		return false
	}
	if g.Scope == wire.ScopeSession {
		return g.session == in.Client.Session
	}
	return g.client == in.Client.Identity()
}

// grants are the permissions that are in memory only. They are safe for
// concurrent use.
type grants struct {
	mu sync.Mutex // guards all below
	// byTool are those of each tool, by plugin and then by the tool's key.
	byTool map[string]map[string][]grant
	// once are those of one call, until it ends.
	once map[string]Approval
}

// allow lets one call through.
func (g *grants) allow(callID string, a Approval) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.once == nil {
		g.once = map[string]Approval{}
	}
	g.once[callID] = a
}

// forget is called when a call has ended.
func (g *grants) forget(callID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.once, callID)
}

// add keeps a grant for later calls.
func (g *grants) add(plugin, tool string, one grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byTool == nil {
		g.byTool = map[string]map[string][]grant{}
	}
	if g.byTool[plugin] == nil {
		g.byTool[plugin] = map[string][]grant{}
	}
	list := append(g.live(plugin, tool), one)
	if len(list) > keepGrants {
		list = list[1:]
	}
	g.byTool[plugin][tool] = list
}

// live returns the tool's grants that have not ended. The caller holds mu.
func (g *grants) live(plugin, tool string) []grant {
	now := time.Now()
	return slices.DeleteFunc(g.byTool[plugin][tool], func(one grant) bool {
		return !one.Until.IsZero() && !now.Before(one.Until)
	})
}

// find returns what allows a call, if anything does.
func (g *grants) find(in dispatch.Info, hash string) (Approval, bool) {
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

// drop ends the grants of a tool, or of all tools of a plugin.
func (g *grants) drop(plugin, tool string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if tool == "" {
		delete(g.byTool, plugin)
		return
	}
	delete(g.byTool[plugin], tool)
}

// list returns the grants of a plugin that hold, by the tool's key.
func (g *grants) list(plugin string) map[string][]Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := map[string][]Grant{}
	for tool := range g.byTool[plugin] {
		for _, one := range g.live(plugin, tool) {
			all[tool] = append(all[tool], Grant{one.Approval, one.client, one.caller})
		}
	}
	return all
}

// Grant is what a user allowed for one caller of a tool.
type Grant struct {
	Approval
	// Client is the name of the MCP client.
	Client string
	// Caller is the plugin whose tool calls; empty for a call of the client itself.
	Caller string
}

// Grants returns what a user allowed for a session, for some time or for always
// and still holds, by tool; prompts have "prompt " before their names.
func (p *Policy) Grants(name string) map[string][]Grant {
	all := p.grants.list(name)
	for tool, standing := range p.file.Current().View.plugins[name].Tools {
		for _, one := range standing.Allowed {
			all[tool] = append(all[tool], Grant{Approval{Scope: wire.ScopeAlways, Mark: one.Mark}, one.Client, one.Caller})
		}
	}
	return all
}
