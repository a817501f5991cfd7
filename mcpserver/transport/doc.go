// Package transport carries the messages of MCP: Streamable HTTP and stdio, with
// sessions (protocol versions up to 2025-11-25) and without (from 2026-07-28 on).
//
// A [Server] parses each message. Package transport passes tools/call, prompts/get and
// resources/read to a [Handler] as a [Request], and writes the [Reply]. All requests
// with other methods go to the library mcp-go. Over HTTP, mcp-go's own handler serves
// the versions without sessions, except tools/call, prompts/get, resources/read and
// subscriptions/listen.
//
// # Concurrency
//
// A [Server] is safe for concurrent use. Over HTTP a request runs on the goroutine of
// its connection; over stdio each request has its own goroutine. Each stream has a
// mutex that keeps its messages whole, and the answer is the last message for a
// request. A write to a client that does not read fails after a deadline. A failed
// write cancels the client's call (HTTP) or ends its session (stdio), and affects no
// other client.
//
// The mutex sessions.mu guards the table of sessions and their tasks. These mutexes
// guard a part of one session: listener.mu (protocol state), Subscriber.mu (resources),
// logQueue.mu (log messages), clientRequests.mu (requests to the client) and
// readBarrier.mu (pings). These mutexes guard one output: stream.mu, lineWriter.mu and
// lastWritten.mu. No goroutine locks two mutexes of package transport at the same time.
// Only stream.mu and lineWriter.mu are held during a write.
package transport
