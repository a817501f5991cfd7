// Package httpapi serves the HTTP API of the opentabs server, and has the client that the command line uses.
//
// A guard checks the Host and Origin headers of every request, and the bearer token of all requests except /healthz and
// /ws. The route /ws needs no bearer token, because both ends of its WebSocket authenticate each other with a key.
//
// # Concurrency
//
// The handler may serve requests concurrently. A [Client] is safe for concurrent use.
package httpapi
