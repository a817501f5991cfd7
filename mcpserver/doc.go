// Package mcpserver offers the tools of plugins to agents over MCP, together with
// prompts, resources, jobs and approvals. Package mcpserver/transport carries the MCP
// messages.
//
// Start with [New], then mount [Server.Handler] and run [Server.ServeStdio] for each pair
// of streams. [Server.Shutdown] stops the HTTP handler and all pairs of streams.
//
// # What goes through mcp-go
//
// mcp-go answers initialize, ping, logging/setLevel, subscriptions and list requests.
// No tool is registered with mcp-go. The file lists.go installs filters and hooks in mcp-go,
// so that mcp-go answers list requests with the tools and prompts of the catalog.
//
// Package transport passes tools/call, prompts/get and resources/read directly to
// [Server.Serve]. The library mcp-go encodes results three times, and loses and misroutes
// progress notifications under load (github.com/mark3labs/mcp-go/issues/969). With
// mcp-go's handlers, calls would take 50 % longer, because mcp-go looks up each tool's
// name once more (docs/design.md).
//
// # Concurrency
//
// A [Server] is safe for concurrent use. Each call runs on the goroutine of its request.
// All messages of a call are written on the same goroutine, except forms and keep-alive
// messages.
//
// Each mutex of package mcpserver guards one type:
//
//   - catalog.mu: updates of the lists of tools and prompts
//   - resources.mu: subscriptions
//   - resumableCalls.mu: calls that wait between two requests
//   - resumableCall.mu, requestForms.mu, progressSender.mu, answerTimer.mu: the fields of
//     one call or request
//
// resumableCalls.mu is locked before resumableCall.mu, and resources.mu before the mutex of a
// transport.Subscriber. When clients are notified of a changed list, catalog.mu is locked
// before the mutexes of mcp-go and of a session's listener. progressSender.mu is held while a
// progress notification is written. During a call of Dispatcher.Subscribe, the server holds only
// resources.mu. While reading plugins, the server holds only catalog.mu.
package mcpserver
