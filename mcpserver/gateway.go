package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/internal/clients"
	"opentabs/internal/rawjson"
	"opentabs/mcpserver/gateway"
	"opentabs/mcpserver/transport"
	"opentabs/plugin"
	"opentabs/wire"
)

// tools_read is tools_call for read-only tools, so that a client can ask its user only before tools_call.
const (
	toolsSearch   = "tools_search"
	toolsDescribe = "tools_describe"
	toolsCall     = "tools_call"
	toolsRead     = "tools_read"
)

// maxDescribedTools is the maximum number of tools in one call of tools_describe.
const maxDescribedTools = 20

// Even a client that loads tools only when the model needs them loads a tool with the key metaAlwaysLoad from the
// start.
const (
	metaAlwaysLoad = "anthropic/alwaysLoad"
	metaToolLabels = "opentabs/marks"
)

const (
	searchSchema   = `{"type":"object","properties":{"query":{"type":"string"},"site":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`
	describeSchema = `{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}}},"required":["names"]}`
	callSchema     = `{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"},` +
		`"tabId":{"type":"integer"},"browser":{"type":"string"},"instance":{"type":"string"}},"required":["name"]}`
	readSchema = `{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}},"required":["name"]}`
)

// The tools tools_call and tools_read have no runTool function, because resolveGatewayCall replaces each of their calls
// with a call of the named tool.
var gatewayBuiltinTools = []builtinTool{
	{definition: newGatewayDefinition(toolsSearch, "", searchSchema, true), runTool: func(s *Server, _ context.Context, q request) reply { return s.lists.searchTools(q) }},
	{definition: newGatewayDefinition(toolsDescribe, "Returns descriptions and schemas of tools.", describeSchema, true), runTool: func(s *Server, _ context.Context, q request) reply { return s.lists.describeTools(q) }},
	{definition: newGatewayDefinition(toolsCall, "Calls a tool by its name. Wrong arguments return its schema.", callSchema, false)},
	{definition: newGatewayDefinition(toolsRead, "tools_call for read-only tools, with the same arguments.", readSchema, true)},
}

func newGatewayDefinition(name, toolDescription, schema string, isReadOnly bool) mcp.Tool {
	definition := mcp.NewToolWithRawSchema(name, toolDescription, json.RawMessage(schema))
	definition.Annotations = mcp.ToolAnnotation{ReadOnlyHint: &isReadOnly}
	definition.Meta = mcp.NewMetaFromMap(map[string]any{metaAlwaysLoad: true})
	return definition
}

// toolLists chooses which tools a client lists, and searches tools for agents. The methods of
// toolLists are safe for concurrent use.
type toolLists struct {
	server  *Server
	choices gateway.Choices
	finder  gateway.Finder
}

// usesGateway reports whether the client lists the tools of the gateway instead of all tools.
func (l *toolLists) usesGateway(client requestingClient) bool {
	maxTools := clients.Of(client.info.Name, client.info.Version).MaxListedTools
	count := len(l.server.catalog.tools.Load().listedTools) + len(l.server.builtinToolsFor(client.id()))
	return l.choices.UsesGateway(client.session, l.server.opts.ListMode(client.info.Name), maxTools == clients.UnlimitedTools || count <= maxTools)
}

// ListModeOf returns which tools a connected client lists, or "" for a client that has not sent
// its name.
func (s *Server) ListModeOf(c transport.ClientInfo) gateway.Mode {
	switch {
	case c.Name == "":
		return ""
	case s.lists.usesGateway(requestingClient{c.ID, mcp.Implementation{Name: c.Name, Version: c.Version}}):
		return gateway.ListGatewayTools
	}
	return gateway.ListAllTools
}

func (l *toolLists) gatewayTools(client requestingClient) []mcp.Tool {
	var tools []mcp.Tool
	for _, t := range gatewayBuiltinTools {
		if t.definition.Name == toolsSearch {
			t.definition.Description = gateway.SearchDescription(l.siteNames())
		}
		tools = append(tools, t.definition)
	}
	for _, t := range jobTools {
		if t.isOffered(l.server, client.id()) {
			tools = append(tools, t.definition)
		}
	}
	defineTool, pinnedTools := l.definitionFunc(client), l.server.opts.PinnedTools()
	maxTools := clients.Of(client.info.Name, client.info.Version).MaxListedTools
	for _, t := range l.server.catalog.tools.Load().listedTools {
		isPinned := slices.Contains(pinnedTools, t.definition.Name) || slices.Contains(pinnedTools, t.tool.Plugin.Name)
		if (isPinned || t.tool.Plugin.IsBuiltin()) && (maxTools == clients.UnlimitedTools || len(tools) < maxTools) {
			tools = append(tools, defineTool(t))
		}
	}
	return tools
}

func (l *toolLists) siteNames() []string {
	var names []string
	for _, t := range l.server.catalog.tools.Load().listedTools { // the tools of one plugin are adjacent
		if name := t.tool.Plugin.Name; !t.tool.Plugin.IsBuiltin() && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
	}
	return names
}

// maxInstructionsWait limits how long a new client waits until the plugins, which the
// instructions list, are loaded. A client that starts the server connects before the plugins
// are loaded.
const maxInstructionsWait = 500 * time.Millisecond

func (l *toolLists) instructions(ctx context.Context, client requestingClient) string {
	if awaitReady := l.server.opts.WaitUntilLoaded; awaitReady != nil {
		ctx, cancel := context.WithTimeout(ctx, maxInstructionsWait)
		defer cancel()
		_ = awaitReady(ctx) // without plugins, the instructions name no sites
	}
	disabledPluginCount := 0
	for _, p := range l.server.plugins.Set().Plugins() {
		if !p.IsBuiltin() && l.server.catalog.toolsOffReason(p) != "" {
			disabledPluginCount++
		}
	}
	return gateway.Instructions(gateway.InstructionFacts{
		SiteNames: l.siteNames(), DisabledPluginCount: disabledPluginCount, HasBrowserTools: l.hasBrowserTools(), ListsTabs: l.server.opts.Tabs != nil,
		UsesGateway: l.usesGateway(client), DefersTools: clients.Of(client.info.Name, client.info.Version).Defers,
	})
}

func (l *toolLists) hasBrowserTools() bool {
	return slices.ContainsFunc(l.server.catalog.tools.Load().listedTools, func(t *listedTool) bool { return t.tool.Plugin.IsBuiltin() })
}

func (l *toolLists) searchableSites(client clients.ID) []gateway.Site {
	builtinSite := gateway.Site{Name: serverName, DisplayName: serverName}
	var names []string
	for _, t := range l.server.builtinToolsFor(client) {
		d := t.definition
		names = append(names, d.Name)
		builtinSite.Tools = append(builtinSite.Tools, gateway.Tool{FullName: d.Name, Name: d.Name, Title: d.Title, Description: d.Description, InputSchema: d.RawInputSchema})
	}
	builtinSite.Source = strings.Join(names, " ")
	return append(slices.Clone(l.server.catalog.tools.Load().sites()), builtinSite)
}

// Text of a plugin that the user has not reviewed must never reach an agent.
func (l *toolLists) availability() func(site *gateway.Site, tool *gateway.Tool) gateway.Availability {
	refusalsBySite := map[*gateway.Site]func(dispatch.Tool) *wire.CallError{}
	return func(site *gateway.Site, tool *gateway.Tool) gateway.Availability {
		p, isPlugin := site.Source.(*plugin.Plugin)
		t, isKnown := l.server.catalog.findTool(tool.FullName)
		switch {
		case !isPlugin:
			return gateway.Available
		case !isKnown: // the plugins have just changed
			return gateway.Hidden
		case refusalsBySite[site] == nil:
			refusalsBySite[site] = l.server.catalog.refusalFunc(p)
		}
		switch refusal := refusalsBySite[site](t.tool.Dispatch()); {
		case refusal == nil:
			return gateway.Available
		case refusal.Code == wire.ErrDenied:
			return gateway.Off
		}
		return gateway.Hidden
	}
}

// toolLabels returns labels that an agent sees before it calls a tool, such as "ask".
func (l *toolLists) toolLabels(t *listedTool, client dispatch.Client) []string {
	var toolLabels []string
	if isReadOnly := t.definition.Annotations.ReadOnlyHint; isReadOnly != nil && *isReadOnly {
		toolLabels = append(toolLabels, "read-only")
	}
	switch {
	case l.server.catalog.refusalFunc(t.tool.Plugin)(t.tool.Dispatch()) != nil:
		toolLabels = append(toolLabels, "off")
	case l.server.opts.NeedsApproval(t.tool.Dispatch(), client):
		toolLabels = append(toolLabels, "ask")
	}
	if l.server.opts.Tabs != nil && !t.tool.Plugin.IsBuiltin() && l.server.opts.Tabs(t.tool.Plugin.Name).State() == dispatch.StateClosed {
		toolLabels = append(toolLabels, "no tab")
	}
	return toolLabels
}

func (l *toolLists) searchTools(q request) reply {
	var a struct {
		Query string `json:"query"`
		Site  string `json:"site"`
		Limit int    `json:"limit"`
	}
	if err := decodeArguments(q, &a); err != nil {
		return newToolErrorReply(err)
	}
	sites, availability := l.searchableSites(q.clientID()), l.availability()
	if strings.TrimSpace(a.Query+a.Site) == "" {
		return reply{replyText: cmp.Or(gateway.DescribeSites(sites, availability), "There are no tools. The user can install a plugin: opentabs plugin install NAME.")}
	}
	searchResults, problemText := l.finder.Find(sites, gateway.Query{Text: a.Query, Site: a.Site, Limit: a.Limit, Availability: availability})
	if problemText != "" {
		return newToolErrorReply(newArgumentsError("%s", problemText))
	}
	var lines []string
	for _, f := range searchResults {
		var availabilityLabels []string
		if t, ok := l.server.catalog.findTool(f.Tool.FullName); ok {
			availabilityLabels = l.toolLabels(t, q.Client)
		}
		lines = append(lines, f.Tool.Line(availabilityLabels))
	}
	if lines == nil {
		return reply{replyText: "No tool matches. Search with other words, or call tools_search with an empty query for the list of sites."}
	}
	return reply{replyText: strings.Join(lines, "\n")}
}

func (l *toolLists) describeTools(q request) reply {
	var a struct {
		Names []string `json:"names"`
	}
	if err := decodeArguments(q, &a); err != nil {
		return newToolErrorReply(err)
	}
	if len(a.Names) == 0 || len(a.Names) > maxDescribedTools {
		return newToolErrorReply(newArgumentsError("The argument \"names\" must be a list of 1 to %d names of tools. tools_search finds names.", maxDescribedTools))
	}
	lines := make([]string, 0, len(a.Names))
	for _, name := range a.Names {
		definition, err := l.describeTool(q, name)
		if err != nil {
			lines = append(lines, err.Error())
			continue
		}
		lines = append(lines, string(rawjson.Encode(definition)))
	}
	return reply{replyText: strings.Join(lines, "\n")}
}

// The agent reads the text of an error that describeTool returns.
func (l *toolLists) describeTool(q request, name string) (mcp.Tool, error) {
	if t, ok := builtinTools[name]; ok && t.isOffered(l.server, q.clientID()) {
		return t.definition, nil
	}
	t, ok := l.server.catalog.findTool(name)
	if !ok {
		return mcp.Tool{}, l.unknownToolError(q, name)
	}
	refusal := l.server.catalog.refusalFunc(t.tool.Plugin)(t.tool.Dispatch())
	if refusal != nil && refusal.Code != wire.ErrDenied {
		return mcp.Tool{}, l.server.catalog.refusedError(t.tool.Plugin, t.tool.Dispatch())
	}
	definition := t.definition
	if _, canDetach := l.server.jobs.detachRuleOf(q.clientID()); canDetach {
		definition = t.withDetachArgument()
		definition.RawOutputSchema = t.definition.RawOutputSchema
	}
	members := map[string]any{metaToolLabels: append([]string{}, l.toolLabels(t, q.Client)...)}
	if t.tool.Group != "" {
		members[metaCategory] = t.tool.Group
	}
	definition.Meta = mcp.NewMetaFromMap(members)
	return definition, nil
}

func (l *toolLists) unknownToolError(q request, name string) error {
	if err := l.server.catalog.brokenPluginError(name); err != nil {
		return err
	}
	similarNames := l.finder.FindSimilarNames(l.searchableSites(q.clientID()), name, l.availability())
	return newArgumentsError("%s", gateway.UnknownToolText(name, similarNames, true))
}

// gatewayCall is the part of a call of tools_call or tools_read that does not belong to the call
// of the named tool.
type gatewayCall struct {
	name string
	// The field target contains the arguments tabId, browser, instance and _detach, if the
	// agent put them outside the arguments of the named tool.
	target arguments
	// schemaText is the input schema of a built-in tool, which errors about wrong arguments contain.
	schemaText string
}

// resolveGatewayCall turns a call of tools_call or tools_read into a call of the tool that its arguments name. The
// agent reads the text of a returned error.
func (q *request) resolveGatewayCall() error {
	name := q.Params.Name
	if q.Method != transport.MethodCall || name != toolsCall && name != toolsRead {
		return nil
	}
	params := *q.Params
	q.gatewayCall, params.Name, params.Arguments = &gatewayCall{name: name}, "", nil
	for m := range rawjson.Members(q.Params.Arguments) {
		switch {
		case m.Key == "name" && rawjson.KindOf(m.Value) == rawjson.KindString:
			params.Name = rawjson.Unquote(m.Value)
		case m.Key == "arguments":
			params.Arguments = m.Value
		case slices.Contains([]string{tabArgument, browserArgument, instanceArgument, detachArgument}, m.Key):
			if string(m.Value) == "null" {
				continue
			}
			if err := q.gatewayCall.target.setArgument(m, false); err != nil {
				return err
			}
		default:
			return newArgumentsError(`%s has no argument %q, or its value has the wrong type. Send {"name": "SITE__TOOL", "arguments": {...}}: the arguments of the tool belong in "arguments".`, name, m.Key)
		}
	}
	switch {
	case params.Name == "":
		return newArgumentsError(`The argument "name" is missing. Send {"name": "SITE__TOOL", "arguments": {...}}; tools_search finds names.`)
	case params.Name == toolsCall || params.Name == toolsRead:
		return newArgumentsError("%s cannot call %s. Name the tool that should run.", name, params.Name)
	}
	if rawjson.KindOf(params.Arguments) == rawjson.KindString { // some models send an object as text
		if argumentsText := rawjson.Unquote(params.Arguments); json.Valid([]byte(argumentsText)) {
			params.Arguments = json.RawMessage(argumentsText)
		}
	}
	q.Params = &params
	return nil
}

// addTargetArguments adds the arguments in gatewayCall.target, such as tabId, to the named tool's arguments.
func (a *arguments) addTargetArguments(m *gatewayCall, hasInstances bool) error {
	switch {
	case m == nil:
		return nil
	case m.target.instance != "" && !hasInstances:
		return newArgumentsError(`The site has no instances. Leave the argument "instance" out, then call again.`)
	case a.tabID != 0 && m.target.tabID != 0 && a.tabID != m.target.tabID,
		a.browser != "" && m.target.browser != "" && a.browser != m.target.browser,
		a.instance != "" && m.target.instance != "" && a.instance != m.target.instance:
		return newArgumentsError("tabId, browser or instance has different values inside and outside of \"arguments\". Send each once, then call again.")
	}
	a.tabID, a.browser, a.instance = cmp.Or(a.tabID, m.target.tabID), cmp.Or(a.browser, m.target.browser), cmp.Or(a.instance, m.target.instance)
	if a.detach == nil {
		a.detach = m.target.detach
	}
	return nil
}

func (m *gatewayCall) checkReadOnly(definition mcp.Tool) error {
	isReadOnly := definition.Annotations.ReadOnlyHint
	if m == nil || m.name != toolsRead || isReadOnly != nil && *isReadOnly {
		return nil
	}
	return newArgumentsError("%s is not marked as read-only. Call it with %s.", definition.Name, toolsCall)
}
