package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/internal/clients"
	"opentabs/internal/nearest"
	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// builtinTool is a tool of opentabs itself, such as job_wait. A built-in tool never has the
// name of a plugin's tool, because the names of plugin tools contain "__".
type builtinTool struct {
	definition mcp.Tool
	isOffered  func(s *Server, client clients.ID) bool
	runTool    func(s *Server, ctx context.Context, q request) reply
}

// builtinTools has all built-in tools by name, except the tools in gatewayBuiltinTools.
var builtinTools = indexByName(jobTools, tabTools, reviewToolTable)

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

// decodeArguments decodes the arguments of a built-in tool into a struct, to which arguments points.
func decodeArguments(q request, arguments any) error {
	if len(q.Params.Arguments) == 0 {
		return nil
	}
	problem := unknownArgument(q.Params.Arguments, reflect.TypeOf(arguments).Elem())
	if problem == "" {
		problem = describeTypeError(q.Params.Arguments, json.Unmarshal(q.Params.Arguments, arguments))
	}
	if problem == "" {
		return nil
	}
	message := fmt.Sprintf("The arguments of %s do not match its schema: %s. Correct them, then call again.", q.Params.Name, problem)
	if q.gatewayCall != nil {
		message += q.gatewayCall.schemaText
	}
	return newArgumentsError("%s", message)
}

func unknownArgument(args json.RawMessage, fields reflect.Type) string {
	var names []string
	for i := range fields.NumField() {
		names = append(names, fields.Field(i).Tag.Get("json"))
	}
	for m := range rawjson.Members(args) {
		if !slices.Contains(names, m.Key) {
			return fmt.Sprintf("%.100q is unknown%s; allowed: %s", m.Key, nearest.Suggestion(m.Key, names), strings.Join(names, ", "))
		}
	}
	return ""
}

func describeTypeError(args json.RawMessage, err error) string {
	var typeErr *json.UnmarshalTypeError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &typeErr) || typeErr.Field == "":
		return "they are " + rawjson.KindOf(args) + ", but they must be an object"
	}
	wantType := map[reflect.Kind]string{
		reflect.String: "text", reflect.Int: "an integer", reflect.Float64: "a number", reflect.Slice: "a list of texts",
	}[typeErr.Type.Kind()]
	return fmt.Sprintf("%q has the type %s, but it must be %s", typeErr.Field, typeErr.Value, wantType)
}

func newArgumentsError(format string, args ...any) error {
	return &dispatch.Error{Code: wire.ErrInvalidArguments, Message: fmt.Sprintf(format, args...)}
}

func (s *Server) builtinTool(q request) (builtinTool, bool) {
	if i := slices.IndexFunc(gatewayBuiltinTools, func(t builtinTool) bool { return t.definition.Name == q.Params.Name }); i >= 0 {
		return gatewayBuiltinTools[i], true
	}
	t, ok := builtinTools[q.Params.Name]
	return t, ok && t.isOffered(s, q.clientID())
}

func (s *Server) builtinToolsFor(client clients.ID) []builtinTool {
	var tools []builtinTool
	for _, name := range slices.Sorted(maps.Keys(builtinTools)) {
		if t := builtinTools[name]; t.isOffered(s, client) {
			tools = append(tools, t)
		}
	}
	return tools
}
