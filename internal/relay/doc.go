// Package relay implements `opentabs mcp`, which connects the stdio of an MCP client to
// the daemon. When the daemon restarts, the relay continues the client's session on the
// new daemon.
//
// The relay copies lines in both directions without changing them, and parses only the
// IDs and methods of messages. When the connection to the daemon is lost, the relay
//
//   - responds to open calls with an error, because a call may already have had an
//     effect;
//   - cancels the requests that the daemon had sent to the client;
//   - connects to the next daemon, or starts a daemon if the client waits for a response;
//   - repeats the initialize request, the subscriptions and all other open requests on
//     the next daemon.
//
// A goroutine reads from the client and writes to the daemon. For each connection to a daemon,
// a separate goroutine writes the daemon's lines to the client. A mutex guards the state of
// the client's session, which all goroutines of the relay share.
package relay
