// Package transport carries the messages of MCP: Streamable HTTP and stdio, with
// sessions (protocol versions up to 2025-11-25) and without (from 2026-07-28 on).
//
// A [Server] parses each message. Package transport passes tools/call, prompts/get and
// resources/read to a [Handler] as a [Request], and writes the [Reply]. All other
// requests go to mcp-go. Over HTTP, mcp-go's own handler serves the versions without
// sessions, except for these three methods and subscriptions/listen.
//
// # Concurrency
//
// A [Server] is safe for concurrent use. Over HTTP a request runs on the goroutine of
// its connection; over stdio each request has its own goroutine. Each stream has a
// mutex that keeps its messages whole, and the answer to a request is the last message
// for it. A write to a client that does not read fails after a deadline. A failed write
// cancels the client's call (HTTP) or ends its session (stdio), and affects no other
// client.
//
// The mutexes are sessions.mu (the table of sessions and their tasks), listener.mu
// (protocol state of a session), Subscriber.mu (its resources), logQueue.mu (its log
// messages), clientRequests.mu (requests to the client), readBarrier.mu (pings), and one
// for each output: stream.mu, lineWriter.mu and lastWritten.mu. No goroutine locks one
// of these mutexes while it holds another. Only stream.mu and lineWriter.mu are held
// during a write.
package transport
