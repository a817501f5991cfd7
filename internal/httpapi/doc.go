// Package httpapi has the HTTP API of the server: the guard of all routes, the routes
// for the status, calls, events, logs and permissions, and the client that the
// command line uses.
//
// Start with [New]. The guard checks the Host and Origin headers of every request, and
// the bearer token of all requests except /healthz and /ws. The route /ws has its own
// checks, because both ends of a WebSocket authenticate each other with a key.
//
// Each resource has a file with its routes and its part of the [Client]: calls, events,
// logs, plugins, policy, tabs, stdio and shutdown.
//
// # Concurrency
//
// The handler serves any number of requests at once. A [Client] is safe for
// concurrent use.
package httpapi
