package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"opentabs/dispatch"
)

// NewBuiltin completes a plugin that is part of opentabs itself. A built-in plugin has no
// folder and no adapter, and its tools run in any tab. Before the caller calls
// NewBuiltin, it sets p.Name, p.DisplayName, p.Description and p.Tools, and the
// TargetKind of each tool. NewBuiltin panics if a tool's input schema is not JSON.
func NewBuiltin(p *Plugin) *Plugin {
	p.isBuiltin = true
	sum := sha256.New()
	for _, t := range p.Tools {
		if t.TargetKind == dispatch.TargetDocument || !json.Valid(t.InputSchema) {
			panic(fmt.Sprintf("plugin: the tool %s has no place, or its schema is not JSON", t.Name))
		}
		t.Plugin = p
		fmt.Fprintf(sum, "%s %s %s\n", t.Name, t.Description, t.InputSchema)
	}
	p.Hash = hex.EncodeToString(sum.Sum(nil))
	p.setContentHash()
	return p
}

// IsBuiltin reports whether the plugin is part of opentabs itself, not a package; see
// [NewBuiltin].
func (p *Plugin) IsBuiltin() bool { return p.isBuiltin }

// SetBuiltinPlugins sets the plugins that are part of opentabs itself. Each [Set] of the
// registry contains the built-in plugins and the plugins from packages. Call SetBuiltinPlugins
// before the first [Registry.Reload].
func (r *Registry) SetBuiltinPlugins(plugins ...*Plugin) {
	r.builtins = plugins
	r.currentSet.Store(NewSet(nil, nil, plugins...))
}
