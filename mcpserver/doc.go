// Package mcpserver offers the tools of plugins to agents over MCP: tools, calls,
// prompts, resources, jobs and approvals. Package transport, below, carries the messages.
//
// Start with [New], then mount [Server.Handler] and run [Server.ServeStdio] for each
// pair of streams. [Server.Shutdown] ends the HTTP handler and all pairs of streams.
//
// # What goes through mcp-go
//
// mcp-go answers initialize, ping, logging/setLevel, subscriptions and the lists, which
// come from the catalog through its filters and hooks (lists.go); nothing is registered
// with it. tools/call, prompts/get and resources/read go from package transport to
// [Server.Serve], because mcp-go encodes results three times, and its notifications
// lose and misroute progress under load (github.com/mark3labs/mcp-go/issues/969).
// Handlers in mcp-go that only call Serve would make each call half as long again,
// because mcp-go looks up the name of the tool once more (docs/design.md).
//
// # Concurrency
//
// A [Server] is safe for concurrent use. A call runs on the goroutine of its request.
// All messages of the call are written on that goroutine, except forms and keep-alive
// messages.
//
// Each mutex of package mcpserver guards one type: catalog.mu (updates of the lists),
// resources.mu (subscriptions), resumableCalls.mu (calls between two requests),
// resumableCall.mu, requestForms.mu, progressSender.mu and answerTimer.mu. Some mutexes
// are nested, the outer mutex first: resumableCalls.mu and resumableCall.mu;
// resources.mu and the mutex of a transport.Subscriber; catalog.mu and the mutexes of
// mcp-go and of a session's listener, when clients are notified of a new list.
// progressSender.mu is held while its notification is written. Only resources.mu is
// held during a call of dispatch (Follow), and only catalog.mu while plugins are read.
package mcpserver
