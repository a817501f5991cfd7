package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/internal/clients"
	"opentabs/wire"
)

// builtinTool is a tool of opentabs itself, such as job_wait. A built-in tool never has the
// name of a plugin's tool, because the names of plugin tools contain "__".
type builtinTool struct {
	definition mcp.Tool
	isOffered  func(s *Server, client clients.ID) bool
	runTool    func(s *Server, ctx context.Context, q request) reply
}

// builtinTools has all built-in tools by name, except the tools in gatewayToolTable.
var builtinTools = indexByName(jobTools, tabTools, reviewTools)

func indexByName(toolLists ...[]builtinTool) map[string]builtinTool {
	tools := map[string]builtinTool{}
	for _, t := range slices.Concat(toolLists...) {
		tools[t.definition.Name] = t
	}
	return tools
}

func newBuiltinDefinition(name, title, toolDescription, schema string, isReadOnly bool) mcp.Tool {
	definition := mcp.NewToolWithRawSchema(name, toolDescription, json.RawMessage(schema))
	definition.Title = title
	isOpenWorld := false
	definition.Annotations = mcp.ToolAnnotation{ReadOnlyHint: &isReadOnly, OpenWorldHint: &isOpenWorld}
	return definition
}

func decodeArguments(q request, arguments any) error {
	if len(q.Params.Arguments) == 0 {
		return nil
	}
	if err := json.Unmarshal(q.Params.Arguments, arguments); err != nil {
		replyText := fmt.Sprintf("The arguments of %s do not match its schema (%v). Correct them, then call again.", q.Params.Name, err)
		if q.gatewayCall != nil {
			replyText += q.gatewayCall.schemaText
		}
		return newArgumentsError("%s", replyText)
	}
	return nil
}

func newArgumentsError(format string, args ...any) error {
	return &dispatch.Error{Code: wire.ErrInvalidArguments, Message: fmt.Sprintf(format, args...)}
}

func (s *Server) builtinTool(q request) (builtinTool, bool) {
	if i := slices.IndexFunc(gatewayToolTable, func(t builtinTool) bool { return t.definition.Name == q.Params.Name }); i >= 0 {
		return gatewayToolTable[i], true
	}
	t, ok := builtinTools[q.Params.Name]
	return t, ok && t.isOffered(s, q.clientID())
}

func (s *Server) offeredTools(client clients.ID) []builtinTool {
	var tools []builtinTool
	for _, name := range slices.Sorted(maps.Keys(builtinTools)) {
		if t := builtinTools[name]; t.isOffered(s, client) {
			tools = append(tools, t)
		}
	}
	return tools
}
