// Package transport carries MCP messages over Streamable HTTP and stdio. Protocol
// versions up to 2025-11-25 have sessions; versions from 2026-07-28 on have none.
//
// A [Server] parses each message. The server passes tools/call, prompts/get and
// resources/read to a [Handler] as a [Request], and writes the [Reply]. The server passes
// requests that a [Handler] does not answer, such as tools/list, to the library mcp-go.
// Over HTTP, mcp-go's own handler serves the protocol versions without sessions, except
// tools/call, prompts/get, resources/read and subscriptions/listen.
//
// # Concurrency
//
// A [Server] is safe for concurrent use. Over HTTP, a request runs on the goroutine of
// its connection; over stdio, each request has its own goroutine. Each stream has a
// mutex, so that concurrent messages are not mixed. A request's answer is the last
// message that the server sends for the request. A write to a client that does not read
// fails after a deadline. A failed write ends only the client's call (HTTP) or the
// client's session (stdio); other clients are not affected.
//
// The mutex sessions.mu guards the table of sessions and their tasks. Five mutexes each
// guard a part of every session: listener.mu (protocol state), Subscriber.mu (resources),
// logQueue.mu (log messages), clientRequests.mu (requests to the client) and
// readBarrier.mu (pings). The mutexes stream.mu, lineWriter.mu and lastProgressWrite.mu each
// guard one output. No goroutine locks two mutexes of package transport at the same time.
// Only stream.mu and lineWriter.mu are held during a write.
package transport
