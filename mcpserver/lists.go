package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"opentabs/internal/clients"
)

// newMCPGoServer returns the mcp-go server, which answers list requests. No tool, prompt or
// resource is registered with mcp-go: its filters and hooks return the lists of package
// mcpserver. opentabs itself answers requests for calls, prompts and contents of resources, so
// these requests never reach mcp-go.
func (s *Server) newMCPGoServer() *server.MCPServer {
	var hooks server.Hooks
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, q *mcp.InitializeRequest, r *mcp.InitializeResult) {
		r.Instructions = s.lists.instructions(ctx, requestingClient{sessionID(ctx), q.Params.ClientInfo})
	})
	hooks.AddAfterDiscover(func(ctx context.Context, _ any, _ *mcp.DiscoverRequest, r *mcp.DiscoverResult) {
		r.Instructions = s.lists.instructions(ctx, newRequestingClient(ctx))
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) { s.lists.choices.Forget(session.SessionID()) })
	options := []server.ServerOption{
		server.WithToolCapabilities(true), server.WithPromptCapabilities(true), server.WithRecovery(), server.WithHooks(&hooks),
		server.WithToolFilter(s.lists.listTools), server.WithPromptFilter(s.listPrompts), server.WithLogging(),
	}
	if s.opts.CallWatcher != nil {
		hooks.AddAfterListResources(func(_ context.Context, _ any, _ *mcp.ListResourcesRequest, r *mcp.ListResourcesResult) {
			r.Resources = slices.Clone(listedResources)
		})
		hooks.AddAfterListResourceTemplates(func(_ context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, r *mcp.ListResourceTemplatesResult) {
			r.ResourceTemplates = slices.Clone(listedTemplates)
		})
		options = append(options, server.WithResourceCapabilities(true, false))
	}
	return server.NewMCPServer(serverName, s.opts.Version, options...)
}

func (l *toolLists) listTools(ctx context.Context, _ []mcp.Tool) []mcp.Tool {
	client := newRequestingClient(ctx)
	var tools []mcp.Tool
	if l.usesGateway(client) {
		tools = l.gatewayTools(client)
	} else {
		tools = l.allTools(client)
	}
	slices.SortFunc(tools, func(a, b mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools
}

func (l *toolLists) allTools(client requestingClient) []mcp.Tool {
	defineTool := l.definitionFunc(client)
	pluginTools := l.server.catalog.tools.Load().listedTools
	tools := make([]mcp.Tool, 0, len(pluginTools)+len(builtinTools))
	for _, t := range pluginTools {
		tools = append(tools, defineTool(t))
	}
	for _, t := range l.server.builtinToolsFor(client.id()) {
		tools = append(tools, t.definition)
	}
	return tools
}

// If the client's calls can become jobs, the tool gets the argument "_detach".
func (l *toolLists) definitionFunc(client requestingClient) func(*listedTool) mcp.Tool {
	_, canDetach := l.server.jobs.detachRuleOf(client.id())
	hasOutputSchemas := l.server.opts.ListsOutputSchemas(client.info.Name, client.info.Version)
	return func(t *listedTool) mcp.Tool {
		definition := t.definition
		if canDetach {
			definition = t.withDetachArgument()
		}
		if !hasOutputSchemas {
			definition.RawOutputSchema = nil
		}
		return definition
	}
}

// listPrompts returns the prompts of all plugins, sorted by name.
func (s *Server) listPrompts(context.Context, []mcp.Prompt) []mcp.Prompt {
	return slices.Clone(*s.catalog.prompts.Load())
}

// listedResources and listedTemplates are the MCP resources that every client lists.
var (
	listedResources = []mcp.Resource{mcp.NewResource(callsURI, "calls", mcp.WithMIMEType(resourceMediaType),
		mcp.WithResourceDescription("The calls of tools that run or wait, and the last that ended, each with its progress."))}
	listedTemplates = []mcp.ResourceTemplate{
		mcp.NewResourceTemplate(callURITemplate, "call", mcp.WithTemplateMIMEType(resourceMediaType),
			mcp.WithTemplateDescription("One call: its progress, what it waits for, its activities and how it ended. Subscribe to it to be notified of changes.")),
		mcp.NewResourceTemplate(fileURITemplate, "file",
			mcp.WithTemplateDescription("A file that one of your tools wrote. The result of the tool has the URI.")),
	}
)

// requestingClient identifies an MCP client that requests a list, such as tools/list.
type requestingClient struct {
	// The field session identifies the client's session. All clients of a protocol version
	// without sessions share one session if their name and version are equal.
	session string
	info    mcp.Implementation
}

func (c requestingClient) id() clients.ID {
	return clients.ID{Name: c.info.Name, Version: c.info.Version}
}

func newRequestingClient(ctx context.Context) requestingClient {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern && info.ClientInfo != nil {
		return requestingClient{"sessionless " + info.ClientInfo.Name + " " + info.ClientInfo.Version, *info.ClientInfo}
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return requestingClient{session.SessionID(), session.GetClientInfo()}
	}
	return requestingClient{session: sessionID(ctx)}
}

// sessionID returns the ID of the session whose request mcp-go is serving, or "".
func sessionID(ctx context.Context) string {
	if session := server.ClientSessionFromContext(ctx); session != nil {
		return session.SessionID()
	}
	return ""
}
