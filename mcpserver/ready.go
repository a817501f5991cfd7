package mcpserver

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/wire"
)

// pluginMethods are the requests that are about plugins.
var pluginMethods = []string{methodCall, methodPrompt, string(mcp.MethodToolsList), string(mcp.MethodPromptsList)}

// waitReady waits until the plugins are loaded, if a request is about them: a list
// without them would tell a client that there are none. The error is a sentence
// for the agent.
func (s *Server) waitReady(ctx context.Context, method string) error {
	if s.opts.Ready == nil || !slices.Contains(pluginMethods, method) {
		return nil
	}
	return s.opts.Ready(ctx)
}

// notReady is the answer to a request whose waitReady failed.
func notReady(id any, err error) mcp.JSONRPCMessage {
	return mcp.NewJSONRPCError(mcp.NewRequestId(id), wire.CodeInternal, err.Error(), nil)
}
