package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/plugin"
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

// brokenPlugin returns why a tool or prompt of this name is not there, if its
// plugin can't be loaded. The error is for the agent.
func (s *Server) brokenPlugin(fullName string) error {
	name, _, _ := strings.Cut(fullName, "__")
	f, ok := s.plugins.Set().Failure(name)
	if !ok {
		return nil
	}
	reason := f.Err.Error()
	if wrong := (*plugin.PackageError)(nil); errors.As(f.Err, &wrong) { // its folder is the user's business
		reason = wrong.Problems[0].String()
	}
	return &dispatch.Error{Code: wire.ErrPluginBroken, Message: fmt.Sprintf(
		"The plugin %s can't be loaded, so %s does not run (%s): %s. "+
			"Do not call its tools again; report this to the user, who has to repair, update or remove the plugin (`opentabs doctor`).",
		name, fullName, wire.ErrPluginBroken, reason)}
}

// notReady is the answer to a request whose waitReady failed.
func notReady(id any, err error) mcp.JSONRPCMessage {
	return mcp.NewJSONRPCError(mcp.NewRequestId(id), wire.CodeInternal, err.Error(), nil)
}
