// Package browser defines the browser tools: tools of opentabs itself that work in any
// tab, without a plugin.
//
// The browser tools belong to one built-in plugin ([Plugin]). The handlers of browser tools
// run in the extension's worker (extension/src/worker/browser). [Connect] adds to the
// dispatcher the decisions that only the server makes: on which sites tools are allowed to
// run, which tab a client uses, and which text agents receive.
//
// # Concurrency
//
// The gates are safe for concurrent use. Each gate has one mutex, and does not lock any
// other mutex while it holds its own mutex.
package browser
