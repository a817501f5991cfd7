package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"opentabs/plugin"
)

// listedTool is one tool as agents see it.
type listedTool struct {
	tool  *plugin.Tool
	shown mcp.Tool
	own   owned
	// mirrors is set if the schema asks clients to repeat arguments in HTTP
	// headers (x-mcp-header).
	mirrors bool
}

// toolTable is what is listed at one moment; it never changes.
type toolTable map[string]*listedTool

// syncPlugins shows agents what the current set of plugins has.
func (s *Server) syncPlugins() {
	s.syncMu.Lock()
	defer s.syncMu.Unlock()
	set := s.plugins.Set()
	s.unreviewed = s.notReviewed(set)
	s.syncTools(set)
	s.syncPrompts(set)
}

// PolicyChanged shows agents what they may read of plugins by now. Lists in which
// nothing changes are not told anew.
func (s *Server) PolicyChanged() {
	s.syncMu.Lock()
	same := slices.Equal(s.unreviewed, s.notReviewed(s.plugins.Set()))
	s.syncMu.Unlock()
	if !same {
		s.syncPlugins()
	}
}

// notReviewed names the plugins of set that the person has not reviewed.
func (s *Server) notReviewed(set *plugin.Set) []string {
	var names []string
	for _, p := range set.Plugins() {
		if s.opts.Reviewed != nil && !s.opts.Reviewed(p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// bare is the description of what belongs to a plugin that is not reviewed.
func bare(plugin string) string {
	return "The person has not reviewed the plugin " + plugin + ", so this does not run. Only the person can review it."
}

// syncTools shows agents the tools of a set of plugins and tells every client
// that the list has changed. The caller holds syncMu.
func (s *Server) syncTools(set *plugin.Set) {
	table := toolTable{}
	var list []server.ServerTool
	for _, p := range set.Plugins() {
		for _, t := range p.Tools {
			l, err := newListedTool(t)
			if err != nil {
				s.opts.Log.Warn().Str("tool", t.FullName()).Err(err).Msg("tool is not listed")
				continue
			}
			if slices.Contains(s.unreviewed, p.Name) {
				l.shown = mcp.NewToolWithRawSchema(t.FullName(), bare(p.Name), anyObject)
			}
			table[l.shown.Name] = l
			// mcp-go would decode each schema; showTools puts the tool itself in place.
			named := mcp.NewToolWithRawSchema(l.shown.Name, "", anyObject)
			list = append(list, server.ServerTool{Tool: named, Handler: neverCalled})
		}
	}
	for _, t := range ownTools {
		list = append(list, server.ServerTool{Tool: t.shown, Handler: neverCalled})
	}
	s.tools.Store(&table)
	s.mcp.SetTools(list...)
	s.opts.Log.Debug().Int("tools", len(list)).Msg("tools listed")
}

// neverCalled is the handler that mcp-go has for each tool: tools/call does not
// reach mcp-go.
func neverCalled(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("tools/call came to mcp-go")
}

// newListedTool makes what agents see of t. An error says why t can't be shown.
func newListedTool(t *plugin.Tool) (*listedTool, error) {
	if !isObjectSchema(t.InputSchema) {
		return nil, errors.New(`the root of the input schema is not "type": "object"`)
	}
	own := ownedBy(t.InputSchema, t.Plugin)
	shown := mcp.NewToolWithRawSchema(t.FullName(), t.Description, t.InputSchema)
	if names := instanceNames(t.Plugin); !own.instance && len(names) > 1 {
		shown.RawInputSchema = withProperty(t.InputSchema, argInstance, string(mustJSON(map[string]any{
			"type": "string", "enum": names, "description": "Which of the sites of " + t.Plugin.DisplayName + " to use.",
		})))
	}
	shown.Title = t.DisplayName
	shown.Annotations = mcp.ToolAnnotation{
		Title:           t.Annotations.Title,
		ReadOnlyHint:    t.Annotations.ReadOnly,
		DestructiveHint: t.Annotations.Destructive,
		IdempotentHint:  t.Annotations.Idempotent,
		OpenWorldHint:   t.Annotations.OpenWorld,
	}
	if t.DeclaresResults() && isObjectSchema(t.OutputSchema) {
		shown.RawOutputSchema = t.OutputSchema
	}
	l := &listedTool{tool: t, shown: shown, own: own, mirrors: bytes.Contains(t.InputSchema, []byte("x-mcp-header"))}
	// Escapes may spell it too.
	if l.mirrors || bytes.Contains(t.InputSchema, []byte(`\u`)) {
		if err := mcp.ValidateParamHeaderAnnotations(&shown); err != nil {
			return nil, err // clients leave such a tool out
		}
	}
	return l, nil
}

// anyObject is the schema of an object with any members.
var anyObject = json.RawMessage(`{"type":"object"}`)

// withDetach is the tool with the argument "_detach". A job may be its answer
// then, so it has no output schema: clients would refuse what does not match.
func (l *listedTool) withDetach() mcp.Tool {
	t := l.shown
	t.RawOutputSchema = nil
	if !l.own.detach {
		t.RawInputSchema = withProperty(t.RawInputSchema, argDetach, jobArgument)
	}
	return t
}
