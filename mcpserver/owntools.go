package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"opentabs/dispatch"
	"opentabs/wire"
)

// ownTool is one tool that opentabs has itself. No tool of a plugin can have its
// name, which is without "__".
type ownTool struct {
	shown mcp.Tool
	// offered reports whether the client of this name has the tool.
	offered func(s *Server, client string) bool
	// run serves a tools/call of it.
	run func(s *Server, ctx context.Context, q request) reply
}

// ownTools are all of them, by name.
var ownTools = byName(jobTools, tabTools, reviewTools)

func byName(lists ...[]ownTool) map[string]ownTool {
	tools := map[string]ownTool{}
	for _, t := range slices.Concat(lists...) {
		tools[t.shown.Name] = t
	}
	return tools
}

// showOwn is how clients see a tool of our own.
func showOwn(name, title, description, schema string, readOnly bool) mcp.Tool {
	shown := mcp.NewToolWithRawSchema(name, description, json.RawMessage(schema))
	shown.Title = title
	open := false
	shown.Annotations = mcp.ToolAnnotation{ReadOnlyHint: &readOnly, OpenWorldHint: &open}
	return shown
}

// readOwn reads the arguments of a tool of our own. An error is a
// *dispatch.Error for the agent.
func readOwn(q request, arguments any) error {
	if len(q.params.Arguments) == 0 {
		return nil
	}
	if err := json.Unmarshal(q.params.Arguments, arguments); err != nil {
		return invalidArguments("The arguments of %s are not what its schema allows (%v). Correct them, then call again.", q.params.Name, err)
	}
	return nil
}

func invalidArguments(format string, args ...any) error {
	return &dispatch.Error{Code: wire.ErrInvalidArguments, Message: fmt.Sprintf(format, args...)}
}

// ownToolOf returns the tool of this name, if the client of a request has it.
func (s *Server) ownToolOf(q request) (ownTool, bool) {
	t, ok := ownTools[q.params.Name]
	return t, ok && t.offered(s, q.info.Name)
}

// showTools is the filter of mcp-go's list of tools: clients see the tools of our
// own that they have. Those whose calls may become jobs see "_detach" in every
// tool of a plugin. The answer may be a job then, so these have no output schema:
// clients would refuse it.
func (s *Server) showTools(ctx context.Context, tools []mcp.Tool) []mcp.Tool {
	client := clientOf(ctx)
	_, jobs := s.jobsOf(client)
	table := *s.tools.Load()
	kept := tools[:0]
	for _, t := range tools {
		own, isOwn := ownTools[t.Name]
		l, isListed := table[t.Name]
		switch {
		case isOwn && own.offered(s, client):
			kept = append(kept, t)
		case isListed && jobs:
			kept = append(kept, l.withDetach())
		case isListed: // else it has just gone
			kept = append(kept, l.shown)
		}
	}
	return kept
}

// clientOf is the name of the client whose request mcp-go serves.
func clientOf(ctx context.Context) string {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern && info.ClientInfo != nil {
		return info.ClientInfo.Name
	}
	if l, ok := server.ClientSessionFromContext(ctx).(*listener); ok {
		return l.GetClientInfo().Name
	}
	return ""
}

// withProperty adds a property to the schema of an object.
func withProperty(schema json.RawMessage, name, property string) json.RawMessage {
	root, ok := membersOf(schema)
	if !ok {
		return schema
	}
	added := member{name: name, key: appendString(nil, name), value: json.RawMessage(property)}
	for i, m := range root {
		if m.name != "properties" {
			continue
		}
		if properties, ok := membersOf(m.value); ok {
			root[i].value = joinMembers(append(properties, added))
		}
		return joinMembers(root)
	}
	return joinMembers(append(root, member{name: "properties", key: []byte(`"properties"`), value: joinMembers([]member{added})}))
}
