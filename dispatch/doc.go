// Package dispatch is the middle of opentabs: what a call is, how long it may
// take, what becomes of its progress, and how it ends. It knows no network, no
// MCP and no browser; a [Bridge] runs calls in browsers, and whoever makes a
// call hands it a function that takes its progress.
//
// Start with [New], then [Dispatcher.Call]. Surfaces that show calls use
// [Dispatcher.Calls] and [Dispatcher.Follow].
//
// Every call runs under two limits: an idle timer that each report resets (30 s
// by default) and a hard deadline that nothing resets (5 min by default). The
// dispatcher's clock alone ends calls. A call ends exactly once; whatever comes
// for it afterwards is ignored.
//
// # Concurrency
//
// A [Dispatcher] and a [Follower] are safe for concurrent use. Call blocks the
// goroutine of its caller until the call has ended; progress functions run on
// that goroutine, so a client that does not read holds up its own call's
// notifications and nothing else. The methods of a [Sink] never block, so that
// a bridge can call them from the goroutine that reads its link.
package dispatch
