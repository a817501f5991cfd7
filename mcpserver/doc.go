// Package mcpserver offers the tools of plugins to agents over MCP: tools, calls,
// prompts, resources, jobs and approvals. Package mcpserver/transport carries the
// messages of MCP.
//
// Start with [New], then mount [Server.Handler] and run [Server.ServeStdio] for each
// pair of streams. [Server.Shutdown] ends the HTTP handler and all pairs of streams.
//
// # What goes through mcp-go
//
// mcp-go answers initialize, ping, logging/setLevel, subscriptions and the requests for
// lists. The lists come from the catalog through filters and hooks of mcp-go
// (lists.go); no tool is registered with mcp-go. tools/call, prompts/get and
// resources/read go from package transport to [Server.Serve], not to mcp-go. The
// library mcp-go encodes results three times, and loses and misroutes progress
// notifications under load (github.com/mark3labs/mcp-go/issues/969). Calls of Serve
// through handlers of mcp-go would take 50 % longer, because mcp-go looks up the name
// of the tool once more (docs/design.md).
//
// # Concurrency
//
// A [Server] is safe for concurrent use. A call runs on the goroutine of its request.
// All messages of a call, except forms and keep-alive messages, are written on the
// goroutine of its request.
//
// Each mutex of package mcpserver guards one type. catalog.mu guards updates of the
// lists, resources.mu subscriptions, and resumableCalls.mu calls between two requests.
// resumableCall.mu, requestForms.mu, progressSender.mu and answerTimer.mu guard the
// values of one call or request. Lock order: resumableCalls.mu, then resumableCall.mu.
// Lock order: resources.mu, then the mutex of a transport.Subscriber. Lock order for
// notifications of a new list: catalog.mu, then the mutexes of mcp-go and of a
// session's listener. progressSender.mu is held while a progress notification is
// written. Only resources.mu is held during a call of dispatch (Follow), and only
// catalog.mu while plugins are read.
package mcpserver
