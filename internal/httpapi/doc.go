// Package httpapi is the server's HTTP side beside MCP: the guard that every
// route stands behind, the routes that tell what the server does, and the
// client that the command line uses to ask them.
//
// Start with [New]. The guard checks the Host and Origin headers of every
// request and the bearer token of all but /healthz and /ws; /ws has its own
// checks, because on a WebSocket both ends prove that they know a key.
//
// # Concurrency
//
// The handler serves any number of requests at once. A [Client] is safe for
// concurrent use.
package httpapi
