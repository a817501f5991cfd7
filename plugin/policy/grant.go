package policy

import (
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

const (
	// maxSessionGrantTime is the maximum duration of a grant for a session.
	maxSessionGrantTime = 24 * time.Hour
	// maxToolGrants is the maximum number of grants of one tool. If a tool already has
	// maxToolGrants grants, a new grant replaces the oldest one, whose caller then needs
	// approval again.
	maxToolGrants = 200
)

// Approval describes the permission that allowed a call to run.
type Approval struct {
	// Scope is how many calls the approval covers, for example one call, or all calls of
	// a session. The permission "auto" of a tool or plugin has the scope
	// [wire.ScopeAlways].
	Scope wire.Scope `json:"scope"`
	ChangeOrigin
	// ExpiresAt is the time at which the permission ends; zero if the permission has no end.
	ExpiresAt time.Time `json:"until,omitzero"`
}

// The type grant is the user's permission for one caller, for a session or some time. A
// grant for an agent does not cover the nested calls of a plugin, and vice versa.
type grant struct {
	Approval
	caller  string
	client  string
	session string // the field session is the MCP session of a grant with wire.ScopeSession
	hash    string // the field hash is the content hash of the plugin for which the user gave the grant
}

func (g grant) isForCall(callInfo dispatch.CallInfo) bool {
	if g.caller != callInfo.Caller.PluginName() {
		return false
	}
	if g.Scope == wire.ScopeSession {
		return g.session == callInfo.Client.Session
	}
	return g.client == callInfo.Client.Identity()
}

// memoryGrants are the permissions that exist only in memory. memoryGrants is safe for
// concurrent use.
type memoryGrants struct {
	mu sync.Mutex // the mutex guards all fields below
	// grantsByPlugin contains the grants by plugin and, within a plugin, by toolKey.
	grantsByPlugin      map[string]map[string][]grant
	singleCallApprovals map[string]Approval
}

func (g *memoryGrants) grantCall(callID string, a Approval) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.singleCallApprovals == nil {
		g.singleCallApprovals = map[string]Approval{}
	}
	g.singleCallApprovals[callID] = a
}

func (g *memoryGrants) endCall(callID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.singleCallApprovals, callID)
}

func (g *memoryGrants) add(plugin, tool string, storedGrant grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.grantsByPlugin == nil {
		g.grantsByPlugin = map[string]map[string][]grant{}
	}
	if g.grantsByPlugin[plugin] == nil {
		g.grantsByPlugin[plugin] = map[string][]grant{}
	}
	toolGrants := append(g.unexpiredGrants(plugin, tool), storedGrant)
	if len(toolGrants) > maxToolGrants {
		toolGrants = toolGrants[1:]
	}
	g.grantsByPlugin[plugin][tool] = toolGrants
}

// The caller of unexpiredGrants must hold mu, and must have added the plugin to grantsByPlugin.
func (g *memoryGrants) unexpiredGrants(plugin, tool string) []grant {
	now := time.Now()
	toolGrants := slices.DeleteFunc(g.grantsByPlugin[plugin][tool], func(storedGrant grant) bool {
		return !storedGrant.ExpiresAt.IsZero() && !now.Before(storedGrant.ExpiresAt)
	})
	g.grantsByPlugin[plugin][tool] = toolGrants
	return toolGrants
}

func (g *memoryGrants) find(callInfo dispatch.CallInfo, hash string) (Approval, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a, ok := g.singleCallApprovals[callInfo.CallID]; ok {
		return a, true
	}
	for _, storedGrant := range g.grantsByPlugin[callInfo.Tool.Plugin][toolKey(callInfo.Tool)] {
		hasEnded := !storedGrant.ExpiresAt.IsZero() && !time.Now().Before(storedGrant.ExpiresAt)
		if !hasEnded && storedGrant.hash == hash && storedGrant.isForCall(callInfo) {
			return storedGrant.Approval, true
		}
	}
	return Approval{}, false
}

func (g *memoryGrants) drop(plugin, tool string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if tool == "" {
		delete(g.grantsByPlugin, plugin)
		return
	}
	delete(g.grantsByPlugin[plugin], tool)
}

func (g *memoryGrants) sessionGrants(plugin string) map[string][]Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	grantsByTool := map[string][]Grant{}
	for tool := range g.grantsByPlugin[plugin] {
		for _, storedGrant := range g.unexpiredGrants(plugin, tool) {
			grantsByTool[tool] = append(grantsByTool[tool], Grant{storedGrant.Approval, storedGrant.client, storedGrant.caller})
		}
	}
	return grantsByTool
}

// Grant is the user's approval for one caller to use a tool without further approvals.
type Grant struct {
	Approval
	// Client is the name of the MCP client.
	Client string
	// Caller is the plugin whose tool makes the call; empty if the client itself makes
	// the call.
	Caller string
}

// Grants returns a plugin's current grants by tool: for a session, for some time and for
// always. In the map that Grants returns, the key of a prompt is its name with the prefix
// "prompt ".
func (p *Policy) Grants(name string) map[string][]Grant {
	grantsByTool := p.grants.sessionGrants(name)
	for tool, toolEntry := range p.file.Current().View.plugins[name].Tools {
		for _, storedAlwaysAllowed := range toolEntry.Allowed {
			grantsByTool[tool] = append(grantsByTool[tool], Grant{Approval{Scope: wire.ScopeAlways, ChangeOrigin: storedAlwaysAllowed.ChangeOrigin}, storedAlwaysAllowed.Client, storedAlwaysAllowed.Caller})
		}
	}
	return grantsByTool
}
