package policy

import (
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

const (
	// maxSessionTime is the longest duration of a grant for a session.
	maxSessionTime = 24 * time.Hour
	// maxToolGrants is the maximum number of grants of one tool. The oldest grant is
	// dropped first, and its caller needs approval again.
	maxToolGrants = 200
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
// caller: a grant for an agent does not cover the nested calls of a plugin, and vice
// versa.
type grant struct {
	Approval
	caller  string // name of the calling plugin; empty for a call of the client itself
	client  string // identity of the client
	session string // session of a grant with wire.ScopeSession
	hash    string // hash of the content for which the grant was given
}

// covers reports whether the grant is for the caller of a call.
func (g grant) covers(callInfo dispatch.CallInfo) bool {
	if g.caller != callInfo.Caller.PluginName() {
		return false
	}
	if g.Scope == wire.ScopeSession {
		return g.session == callInfo.Client.Session
	}
	return g.client == callInfo.Client.Identity()
}

// memoryGrants are the permissions that are only in memory. memoryGrants is safe for
// concurrent use.
type memoryGrants struct {
	mu sync.Mutex // guards all fields below
	// byTool are the grants by plugin and toolKey.
	byTool map[string]map[string][]grant
	// singleCalls are the grants for one call, by call id, until the call ends.
	singleCalls map[string]Approval
}

// grantCall stores a grant for one call.
func (g *memoryGrants) grantCall(callID string, a Approval) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.singleCalls == nil {
		g.singleCalls = map[string]Approval{}
	}
	g.singleCalls[callID] = a
}

// endCall drops the grant of a call that ended.
func (g *memoryGrants) endCall(callID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.singleCalls, callID)
}

// add stores a grant for later calls.
func (g *memoryGrants) add(plugin, tool string, stored grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byTool == nil {
		g.byTool = map[string]map[string][]grant{}
	}
	if g.byTool[plugin] == nil {
		g.byTool[plugin] = map[string][]grant{}
	}
	toolGrants := append(g.liveGrants(plugin, tool), stored)
	if len(toolGrants) > maxToolGrants {
		toolGrants = toolGrants[1:]
	}
	g.byTool[plugin][tool] = toolGrants
}

// liveGrants removes the expired grants of a tool, and returns the remaining grants.
// The caller of liveGrants holds mu, and the map of the plugin exists.
func (g *memoryGrants) liveGrants(plugin, tool string) []grant {
	now := time.Now()
	toolGrants := slices.DeleteFunc(g.byTool[plugin][tool], func(stored grant) bool {
		return !stored.Until.IsZero() && !now.Before(stored.Until)
	})
	g.byTool[plugin][tool] = toolGrants
	return toolGrants
}

// find returns the grant that allows a call, and false if no grant allows the call.
func (g *memoryGrants) find(callInfo dispatch.CallInfo, hash string) (Approval, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a, ok := g.singleCalls[callInfo.CallID]; ok {
		return a, true
	}
	for _, stored := range g.byTool[callInfo.Tool.Plugin][toolKey(callInfo.Tool)] {
		hasEnded := !stored.Until.IsZero() && !time.Now().Before(stored.Until)
		if !hasEnded && stored.hash == hash && stored.covers(callInfo) {
			return stored.Approval, true
		}
	}
	return Approval{}, false
}

// drop ends the grants of a tool, or of a whole plugin if tool is empty.
func (g *memoryGrants) drop(plugin, tool string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if tool == "" {
		delete(g.byTool, plugin)
		return
	}
	delete(g.byTool[plugin], tool)
}

// list returns the current grants of a plugin, by toolKey.
func (g *memoryGrants) list(plugin string) map[string][]Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	grantsByTool := map[string][]Grant{}
	for tool := range g.byTool[plugin] {
		for _, stored := range g.liveGrants(plugin, tool) {
			grantsByTool[tool] = append(grantsByTool[tool], Grant{stored.Approval, stored.client, stored.caller})
		}
	}
	return grantsByTool
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
	grantsByTool := p.grants.list(name)
	for tool, toolEntry := range p.file.Current().View.plugins[name].Tools {
		for _, stored := range toolEntry.Allowed {
			grantsByTool[tool] = append(grantsByTool[tool], Grant{Approval{Scope: wire.ScopeAlways, Mark: stored.Mark}, stored.Client, stored.Caller})
		}
	}
	return grantsByTool
}
