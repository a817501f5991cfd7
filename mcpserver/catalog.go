package mcpserver

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/errtext"
	"opentabs/mcpserver/gateway"
	"opentabs/plugin"
	"opentabs/wire"
)

// The type catalog keeps the lists of tools and prompts up to date with the plugins and
// their permissions. A catalog is safe for concurrent use.
type catalog struct {
	library       *server.MCPServer
	plugins       *plugin.Registry
	refusalFuncOf func(plugin string) func(dispatch.Tool) *wire.CallError
	log           zerolog.Logger

	// The tables tools and prompts are never modified: each change stores a new table, so readers need
	// no lock.
	tools   atomic.Pointer[toolTable]
	prompts atomic.Pointer[[]mcp.Prompt]

	mu            sync.Mutex // the mutex serializes updates and guards unlistedNames
	unlistedNames []string   // unlistedNames are the tools and prompts that are not listed, sorted
}

// toolTable contains the tools of all plugins at one moment, and never changes.
type toolTable struct {
	toolsByName map[string]*listedTool
	listedTools []*listedTool // listedTools are the tools that are not refused
	// The function sites returns one gateway.Site per plugin, with all tools of the plugin that a search can find,
	// including refused tools.
	sites func() []gateway.Site
}

// findTool returns a plugin's tool by its full name, even if the tool is refused.
func (c *catalog) findTool(name string) (*listedTool, bool) {
	l, ok := c.tools.Load().toolsByName[name]
	return l, ok
}

func (c *catalog) updateLists() {
	c.mu.Lock()
	defer c.mu.Unlock()
	pluginSet := c.plugins.Set()
	c.unlistedNames = c.findUnlistedNames(pluginSet)
	c.syncTools(pluginSet)
	c.syncPrompts(pluginSet)
}

func (c *catalog) recheckPermissions() {
	c.mu.Lock()
	isSame := slices.Equal(c.unlistedNames, c.findUnlistedNames(c.plugins.Set()))
	c.mu.Unlock()
	if !isSame {
		c.updateLists()
	}
}

func (c *catalog) refusalFunc(p *plugin.Plugin) func(dispatch.Tool) *wire.CallError {
	if c.refusalFuncOf == nil {
		return func(dispatch.Tool) *wire.CallError { return nil }
	}
	return c.refusalFuncOf(p.Name)
}

// A prompt and a tool never have the same name.
func (c *catalog) findUnlistedNames(pluginSet *plugin.Set) []string {
	var names []string
	for _, p := range pluginSet.All() {
		refusal := c.refusalFunc(p)
		for _, t := range p.Tools {
			if refusal(t.Dispatch()) != nil {
				names = append(names, t.FullName())
			}
		}
		for _, prompt := range p.Prompts {
			if refusal(prompt.Dispatch()) != nil {
				names = append(names, prompt.FullName())
			}
		}
	}
	slices.Sort(names)
	return names
}

// The caller of isRefused holds catalog.mu.
func (c *catalog) isRefused(fullName string) bool {
	_, isRefused := slices.BinarySearch(c.unlistedNames, fullName)
	return isRefused
}

// refusedError ignores wrong arguments, because agents cannot see a refused tool's schema.
func (c *catalog) refusedError(p *plugin.Plugin, t dispatch.Tool) error {
	refusal := c.refusalFunc(p)(t)
	if refusal == nil {
		return nil
	}
	nextStep, _ := errtext.NextStep(refusal.Code)
	errorSentence := fmt.Sprintf("%s failed: %s (%s). ", t.FullName(), strings.TrimRight(refusal.Message, ". \n"), refusal.Code)
	return &dispatch.Error{Code: refusal.Code, Message: errorSentence + nextStep.ForAgent, UserText: refusal.UserText}
}

const notReviewedReason = "the user has not reviewed it"

func (c *catalog) toolsOffReason(p *plugin.Plugin) string {
	refusal := c.refusalFunc(p)
	for _, t := range p.Tools {
		switch r := refusal(t.Dispatch()); {
		case r == nil:
			return ""
		case r.Code == wire.ErrNotReviewed:
			return notReviewedReason
		}
	}
	return "the user has switched it off"
}

// brokenPluginError returns the error for a tool or prompt whose plugin could not be
// loaded, or nil for any other name.
func (c *catalog) brokenPluginError(fullName string) error {
	name, _, _ := strings.Cut(fullName, "__")
	f, ok := c.plugins.Set().Failure(name)
	if !ok {
		return nil
	}
	brokenReason := f.Err.Error()
	if packageErr := (*plugin.PackageError)(nil); errors.As(f.Err, &packageErr) { // agents must not receive the path of the folder
		brokenReason = packageErr.Problems[0].String()
	}
	nextStep, _ := errtext.NextStep(wire.ErrPluginBroken)
	errorSentence := fmt.Sprintf("The plugin %s can't be loaded, so %s does not run (%s): %s. ", name, fullName, wire.ErrPluginBroken, brokenReason)
	return &dispatch.Error{Code: wire.ErrPluginBroken, Message: errorSentence + nextStep.ForAgent, UserText: errorSentence + nextStep.ForUser}
}

// The caller of syncTools holds catalog.mu.
func (c *catalog) syncTools(pluginSet *plugin.Set) {
	table := &toolTable{toolsByName: map[string]*listedTool{}}
	table.sites = sync.OnceValue(func() []gateway.Site { return table.newSites(pluginSet) })
	for _, p := range pluginSet.All() {
		for _, t := range p.Tools {
			l, err := newListedTool(t)
			if err != nil {
				c.log.Warn().Str("tool", t.FullName()).Err(err).Msg("tool is not listed")
				continue
			}
			table.toolsByName[l.definition.Name] = l
			if !c.isRefused(l.definition.Name) {
				table.listedTools = append(table.listedTools, l)
			}
		}
	}
	c.tools.Store(table)
	c.library.SendNotificationToAllClients(mcp.MethodNotificationToolsListChanged, nil)
	c.log.Debug().Int("tools", len(table.listedTools)).Msg("tools listed")
}

func (t *toolTable) newSites(pluginSet *plugin.Set) []gateway.Site {
	var sites []gateway.Site
	for _, p := range pluginSet.All() {
		site := gateway.Site{Name: p.Name, DisplayName: p.DisplayName, Source: p}
		for _, tool := range p.Tools {
			if l, ok := t.toolsByName[tool.FullName()]; ok {
				site.Tools = append(site.Tools, gateway.Tool{
					FullName: l.definition.Name, Name: tool.Name, Title: tool.DisplayName, Description: tool.Description, InputSchema: l.definition.RawInputSchema,
				})
			}
		}
		sites = append(sites, site)
	}
	return sites
}

// The caller of syncPrompts holds catalog.mu.
func (c *catalog) syncPrompts(pluginSet *plugin.Set) {
	prompts := []mcp.Prompt{}
	for _, p := range pluginSet.Prompts() {
		if c.isRefused(p.FullName()) {
			continue
		}
		prompt := mcp.Prompt{Name: p.FullName(), Title: p.DisplayName, Description: p.Description}
		for _, a := range p.Arguments {
			prompt.Arguments = append(prompt.Arguments, mcp.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		prompts = append(prompts, prompt)
	}
	slices.SortFunc(prompts, func(a, b mcp.Prompt) int { return strings.Compare(a.Name, b.Name) })
	previousPrompts := c.prompts.Swap(&prompts)
	if previousPrompts != nil && !reflect.DeepEqual(prompts, *previousPrompts) { // clients request the list again after each notification
		c.library.SendNotificationToAllClients(mcp.MethodNotificationPromptsListChanged, nil)
	}
}
