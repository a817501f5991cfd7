// Package mcpserver shows the tools of plugins to agents: it speaks MCP over
// Streamable HTTP and over a pair of streams (stdio). It is the only package
// that knows MCP and the library mcp-go.
//
// Start with [New], then mount [Server.Handler] and run [Server.ServeStdio] for
// each pair of streams. [Server.Shutdown] ends both.
//
// The package serves the requests tools/call, prompts/get and resources/read
// itself, in both transports and for every protocol version; mcp-go answers all
// others. A call lives for minutes, its progress must reach the client in order
// and ahead of the result, its result may be 100 MB, and a cancelled one must
// stay silent. mcp-go's way of sending notifications loses and misroutes them
// under load (github.com/mark3labs/mcp-go/issues/969), it encodes a result three
// times over, and it can't say that a resource is not known. For the same reason
// the transport of sessions (protocol versions up to 2025-11-25) is here, stdio
// as well as HTTP, and every stream on which clients only listen; what else there
// is of the protocol without sessions (2026-07-28) is mcp-go's.
//
// Subscriptions to resources are kept by a watch, and calls that outlive their
// requests by dispatch.Jobs.
//
// # Concurrency
//
// A [Server] is safe for concurrent use. Over HTTP a call runs on the goroutine
// of its request; over stdio each request has a goroutine of its own, so one
// that runs for minutes holds up nobody. Everything that is written for a call
// is written by the goroutine that runs it, but for what asks the person while
// it waits, and the keep-alive comments of an HTTP stream; each stream has a
// mutex that makes its messages whole, and the answer is the last. A
// client that does not read fails its own write after a deadline, which
// cancels its call (HTTP) or ends its session (stdio) and touches no other.
package mcpserver
