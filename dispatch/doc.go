// Package dispatch runs calls of tools. The dispatcher decides when a call runs, chooses a document, applies time
// limits, forwards progress and records how the call ends. Network, MCP and browser code is in other packages: a
// [Bridge] runs calls in browsers, and each caller passes a function that receives progress.
//
// [New] creates a dispatcher, and [Dispatcher.Call] runs a call. Surfaces that show calls use [Dispatcher.Calls] and
// [Dispatcher.Subscribe].
//
// Every call has an idle limit that each progress report restarts (30 s by default), and a hard limit that nothing
// restarts (5 min by default). A call ends exactly once: the dispatcher ignores all reports and results that arrive
// later.
//
// # Parts
//
// The type liveCall, one call, consists of these parts:
//
//   - state: the state machine, the times and the outcome of the call (state.go)
//   - attempts: the documents in which the call was tried (attempts.go)
//   - suspension: the open ticket and the user's decisions (suspension.go)
//   - reportLog: the last progress reports, as surfaces show them (reportlog.go)
//   - timeline: the steps of the call, such as created and running (publish.go)
//   - toolRequests: the requests that a running tool makes, such as nested calls
//     (nesting.go)
//   - [clock.Clock]: the idle limit and the hard limit (package clock)
//   - [progress.Sender]: the progress notifications for the client (package progress)
//   - [activity.Set]: content that the tool shows beside its progress (package activity)
//
// Package events describes calls to surfaces and keeps the events for subscribers. An event is built only when a subscriber
// reads the event.
//
// # Concurrency
//
// The types [Dispatcher] and [Subscriber] are safe for concurrent use. [Dispatcher.Call] blocks until the call has ended.
// Progress functions run on the goroutine of [Dispatcher.Call], so a slow client delays only its own call. The methods
// of a [Sink] never block, so a bridge can call them from the goroutine that reads the WebSocket.
//
// # Locks
//
// liveCall.mu guards the fields state, attempts, suspension, reports and timeline of a liveCall. The events of one
// call are published under liveCall.mu, so that events stay in order. Two locks may be held together only in this
// order:
//
//	liveCall.mu      > Dispatcher.mu     when a call is added
//	liveCall.mu      > progress.Sender   when a report is queued or the call ends
//	liveCall.mu      > activity.Set.mu   when a report has an activity
//	liveCall.mu      > Stream.mu         when a change is published
//	liveCall.mu      > toolRequests.mu   when the error of a call is described
//	Set.applyMu      > activity.Set.mu   when patches are applied
//	afterHookQueue.hookMu > all others       when AfterHooks run and an end is logged
//
// All other locks are taken alone: clock.Clock.mu, queue.Queue.mu, suspendedCalls.mu, afterHookQueue.mu. No bridge
// method, gate, hook or progress function runs while a lock is held, with two exceptions: Options.OnWaitingCountChange runs
// under suspendedCalls.mu, and AfterHooks run under afterHookQueue.hookMu.
package dispatch
