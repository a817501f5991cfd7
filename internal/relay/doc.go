// Package relay implements `opentabs mcp`, which connects the stdio of an MCP client to
// the daemon. The relay carries the client's session over when the daemon restarts.
//
// The relay copies lines in both directions and does not change them. The relay parses
// only the ids and methods of messages. When the connection to the daemon is lost, the
// relay
//
//   - answers open calls with an error, because they may have taken effect;
//   - cancels the requests that the daemon had sent to the client;
//   - joins the next daemon, or starts one if the client waits for an answer;
//   - repeats initialize, the subscriptions and all other open requests on the next
//     daemon.
//
// One goroutine reads the client and writes to the daemon. One goroutine per connection
// writes the daemon's lines to the client. The goroutines share the session state,
// which one mutex guards.
package relay
