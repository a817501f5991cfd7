package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// newLibrary returns the server of mcp-go, which answers the requests for lists. No
// tool, prompt or resource is registered with mcp-go: filters and hooks of mcp-go
// return the lists of package mcpserver. Requests for calls, prompts and contents of
// resources do not reach mcp-go.
func (s *Server) newLibrary() *server.MCPServer {
	options := []server.ServerOption{
		server.WithToolCapabilities(true), server.WithPromptCapabilities(true), server.WithRecovery(),
		server.WithToolFilter(s.listTools), server.WithPromptFilter(s.listPrompts), server.WithLogging(),
	}
	if s.opts.CallWatcher != nil {
		var hooks server.Hooks
		hooks.AddAfterListResources(func(_ context.Context, _ any, _ *mcp.ListResourcesRequest, r *mcp.ListResourcesResult) {
			r.Resources = slices.Clone(listedResources)
		})
		hooks.AddAfterListResourceTemplates(func(_ context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, r *mcp.ListResourceTemplatesResult) {
			r.ResourceTemplates = slices.Clone(listedTemplates)
		})
		options = append(options, server.WithResourceCapabilities(true, false), server.WithHooks(&hooks))
	}
	return server.NewMCPServer(serverName, s.opts.Version, options...)
}

// listTools returns the tools of plugins and the built-in tools that the client may
// call, by name. If calls of the client may become jobs, each tool of a plugin has the
// argument "_detach".
func (s *Server) listTools(ctx context.Context, _ []mcp.Tool) []mcp.Tool {
	client := clientName(ctx)
	_, mayDetach := s.jobs.detachRules(client)
	pluginTools := s.catalog.tools.Load().listedTools
	tools := make([]mcp.Tool, 0, len(pluginTools)+len(builtinTools))
	for _, l := range pluginTools {
		if mayDetach {
			tools = append(tools, l.withDetach())
		} else {
			tools = append(tools, l.definition)
		}
	}
	for _, t := range builtinTools {
		if t.isOffered(s, client) {
			tools = append(tools, t.definition)
		}
	}
	slices.SortFunc(tools, func(a, b mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools
}

// listPrompts returns the prompts of plugins, by name.
func (s *Server) listPrompts(context.Context, []mcp.Prompt) []mcp.Prompt {
	return slices.Clone(*s.catalog.prompts.Load())
}

// listedResources and listedTemplates are the resources of every client.
var (
	listedResources = []mcp.Resource{mcp.NewResource(callsURI, "calls", mcp.WithMIMEType(resourceMediaType),
		mcp.WithResourceDescription("The calls of tools that run or wait, and the last that ended, each with its progress."))}
	listedTemplates = []mcp.ResourceTemplate{mcp.NewResourceTemplate(callURITemplate, "call", mcp.WithTemplateMIMEType(resourceMediaType),
		mcp.WithTemplateDescription("One call: its progress, what it waits for, its activities and how it ended. Subscribe to it to be notified of changes."))}
)

// clientName returns the name of the client whose request mcp-go serves.
func clientName(ctx context.Context) string {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern && info.ClientInfo != nil {
		return info.ClientInfo.Name
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return session.GetClientInfo().Name
	}
	return ""
}
