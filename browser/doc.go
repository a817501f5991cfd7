// Package browser defines the browser tools: the tools of opentabs itself that work in
// any tab, without a plugin.
//
// The tools are the tools of one built-in plugin ([Plugin]). Their handlers run in the
// extension's worker (extension/src/worker/browser). [Connect] adds to the dispatcher what
// only the server decides: on which sites the tools may run, which tab a client uses,
// and the text that agents receive.
//
// # Concurrency
//
// The gates are safe for concurrent use. Each has one lock, and no other lock is taken
// while it is held.
package browser
