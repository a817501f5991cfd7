package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/internal/rawjson"
	"opentabs/mcpserver/gateway"
	"opentabs/plugin"
)

// metaCategory is the key in a tool's _meta that contains the tool's category.
const metaCategory = "opentabs/category"

// listedTool is a tool of a plugin as agents see it.
type listedTool struct {
	tool               *plugin.Tool
	definition         mcp.Tool
	definedByTool      definedArguments
	hasHeaderArguments bool
}

func newListedTool(t *plugin.Tool) (*listedTool, error) {
	if !plugin.IsObjectSchema(t.InputSchema) {
		return nil, errors.New(`the root of the input schema is not "type": "object"`)
	}
	definedByTool := findDefinedArguments(t.InputSchema, t.Plugin)
	toolDescription := t.Description
	if !t.Plugin.IsBuiltin() {
		toolDescription = gateway.DescribeWithSite(t.Description, t.Plugin.DisplayName)
	}
	definition := mcp.NewToolWithRawSchema(t.FullName(), toolDescription, t.InputSchema)
	if names := instanceNames(t.Plugin); !definedByTool.definesInstance && len(names) > 1 {
		definition.RawInputSchema = addSchemaProperty(t.InputSchema, instanceArgument, rawjson.Encode(map[string]any{
			"type": "string", "enum": names, "description": "Which of the sites of " + t.Plugin.DisplayName + " to use.",
		}))
	}
	if !gateway.IsTitleRedundant(t.DisplayName, strings.TrimPrefix(t.Name, t.Plugin.Name+"_")) {
		definition.Title = t.DisplayName
	}
	if meta := newListedToolMeta(t); meta != nil {
		definition.Meta = mcp.NewMetaFromMap(meta)
	}
	definition.Annotations = mcp.ToolAnnotation{
		Title:           t.Annotations.Title,
		ReadOnlyHint:    t.Annotations.ReadOnly,
		DestructiveHint: t.Annotations.Destructive,
		IdempotentHint:  t.Annotations.Idempotent,
		OpenWorldHint:   t.Annotations.OpenWorld,
	}
	if gateway.IsTitleRedundant(t.Annotations.Title, t.Name) || t.Annotations.Title == t.DisplayName {
		definition.Annotations.Title = ""
	}
	if t.DeclaresResults() {
		definition.RawOutputSchema = t.OutputSchema
	}
	l := &listedTool{tool: t, definition: definition, definedByTool: definedByTool, hasHeaderArguments: bytes.Contains(t.InputSchema, []byte("x-mcp-header"))}
	// The input schema can contain the name x-mcp-header with JSON escapes.
	if l.hasHeaderArguments || bytes.Contains(t.InputSchema, []byte(`\u`)) {
		if err := mcp.ValidateParamHeaderAnnotations(&definition); err != nil {
			return nil, err // clients would not list a tool with invalid annotations
		}
	}
	return l, nil
}

// withDetachArgument removes the output schema, because the tool can return a job, which violates the schema.
func (l *listedTool) withDetachArgument() mcp.Tool {
	t := l.definition
	t.RawOutputSchema = nil
	if !l.definedByTool.definesDetach {
		t.RawInputSchema = addSchemaProperty(t.RawInputSchema, detachArgument, json.RawMessage(detachSchema))
	}
	return t
}

// definesProperty searches the text before parsing, because a server with 100 plugins calls definesProperty 10,000
// times.
func definesProperty(schema json.RawMessage, name string) bool {
	if !bytes.Contains(schema, []byte(`"`+name+`"`)) {
		return false
	}
	return rawjson.Get(rawjson.Get(schema, "properties"), name) != nil
}

func addSchemaProperty(schema json.RawMessage, name string, property json.RawMessage) json.RawMessage {
	if rawjson.KindOf(schema) != rawjson.KindObject {
		return schema
	}
	newProperty := rawjson.Member{Key: name, QuotedKey: rawjson.Encode(name), Value: property}
	rootMembers := slices.Collect(rawjson.Members(schema))
	i := slices.IndexFunc(rootMembers, func(m rawjson.Member) bool { return m.Key == "properties" })
	switch {
	case i < 0:
		rootMembers = append(rootMembers, rawjson.Member{Key: "properties", QuotedKey: []byte(`"properties"`), Value: rawjson.JoinMembers([]rawjson.Member{newProperty})})
	case rawjson.KindOf(rootMembers[i].Value) == rawjson.KindObject:
		rootMembers[i].Value = rawjson.JoinMembers(append(slices.Collect(rawjson.Members(rootMembers[i].Value)), newProperty))
	}
	return rawjson.JoinMembers(rootMembers)
}
