package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/wire"
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

// metaCategory is where clients find the group that a tool belongs to.
const metaCategory = "opentabs/category"

// toolTable is what is listed at one moment; it never changes.
type toolTable map[string]*listedTool

// syncPlugins shows agents what the current set of plugins has.
func (s *Server) syncPlugins() {
	s.syncMu.Lock()
	defer s.syncMu.Unlock()
	set := s.plugins.Set()
	s.refused = s.refusedOf(set)
	s.syncTools(set)
	s.syncPrompts(set)
}

// PolicyChanged lists the tools and prompts that may run by now, and no others.
// Clients are notified only if that changes a list.
func (s *Server) PolicyChanged() {
	s.syncMu.Lock()
	same := slices.Equal(s.refused, s.refusedOf(s.plugins.Set()))
	s.syncMu.Unlock()
	if !same {
		s.syncPlugins()
	}
}

// refusals returns what says why a tool or prompt of a plugin may not run now.
func (s *Server) refusals(p *plugin.Plugin) func(dispatch.Tool) *wire.CallError {
	if s.opts.Refusals == nil {
		return func(dispatch.Tool) *wire.CallError { return nil }
	}
	return s.opts.Refusals(p.Name)
}

// refusedOf names the tools and prompts of a set that may not run now, sorted. A
// prompt and a tool never have one name.
func (s *Server) refusedOf(set *plugin.Set) []string {
	var names []string
	for _, p := range set.Plugins() {
		refusal := s.refusals(p)
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

// isRefused reports whether a tool or prompt is left out of the lists. The caller
// holds syncMu.
func (s *Server) isRefused(fullName string) bool {
	_, refused := slices.BinarySearch(s.refused, fullName)
	return refused
}

// refusedError is the error of a call that names what may not run, whatever its
// arguments are: an agent that does not see a tool does not know its schema. Nil
// if it may run.
func (s *Server) refusedError(p *plugin.Plugin, t dispatch.Tool) error {
	refusal := s.refusals(p)(t)
	if refusal == nil {
		return nil
	}
	return &dispatch.Error{Code: refusal.Code, Message: fmt.Sprintf("%s failed: %s (%s). %s",
		t.FullName(), strings.TrimRight(refusal.Message, ". \n"), refusal.Code, dispatch.Advice(refusal.Code))}
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
			table[l.shown.Name] = l // one that is not listed can be called, and the call says why it is refused
			if s.isRefused(l.shown.Name) {
				continue
			}
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
	if t.Group != "" {
		shown.Meta = mcp.NewMetaFromMap(map[string]any{metaCategory: t.Group})
	}
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
