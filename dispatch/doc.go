// Package dispatch runs calls of tools. The dispatcher decides when a call may run,
// chooses a document, applies time limits, forwards progress and records how the call
// ends. Package dispatch has no network, no MCP and no browser code. A [Bridge] runs
// calls in browsers, and each caller passes a function that receives progress.
//
// [New] makes a dispatcher, and [Dispatcher.Call] runs a call. Surfaces that show calls
// use [Dispatcher.Calls] and [Dispatcher.Follow].
//
// Every call has an idle limit that each report restarts (30 s by default), and a hard
// limit that nothing restarts (5 min by default). Only the clock of the dispatcher
// applies the two limits. A call ends exactly once; later reports and results are
// ignored.
//
// # Parts
//
// A call (liveCall) consists of parts, each a type with a test:
//
//   - state: the state machine, the times and the ending (state.go)
//   - attempts: the documents in which the call was tried (attempts.go)
//   - suspension: the open ticket and the decisions (suspension.go)
//   - reportLog: what surfaces show of the reports (reportlog.go)
//   - timeline: the moments of the call (publish.go)
//   - toolRequests: the requests of a running tool (nesting.go)
//   - [clock.Clock]: the idle limit and the hard limit (package clock)
//   - [progress.Sender]: the notifications of the client (package progress)
//   - [activity.Set]: content beside the progress (package activity)
//
// Package events describes calls to surfaces and keeps the events for followers. A call
// only stores what changed; a follower makes the events when it reads.
//
// # Concurrency
//
// A [Dispatcher] and a [Follower] are safe for concurrent use. Call blocks the
// goroutine of its caller until the call has ended. Progress functions run on the
// goroutine of the caller, so a slow client delays only one call. The methods of a
// [Sink] never block, so a bridge may call them from the goroutine that reads its link.
//
// # Locks
//
// liveCall.mu guards state, attempts, suspension, reportLog and timeline, which have no
// locks. The events of one call are published under liveCall.mu, so they stay in order.
// Two locks may be held together only in this order:
//
//	liveCall.mu      > Dispatcher.mu     when a call is added
//	liveCall.mu      > progress.Sender   when a report is queued or the call ends
//	liveCall.mu      > activity.Set.mu   when a report has an activity
//	liveCall.mu      > Stream.mu         when a change is published
//	liveCall.mu      > toolRequests.mu   when the error of a call is described
//
// //	Set.applyMu      > activity.Set.mu   when patches are applied
//
//	afterQueue.workMu > all others       when after hooks run and an end is logged
//
// All other locks are taken alone: clock.Clock.mu, queue.Queue.mu,
// suspendedCalls.mu, afterQueue.mu. No bridge method, gate, hook or progress function
// runs while a lock is held, with two exceptions: Options.OnWaitingChange runs under
// suspendedCalls.mu, and after hooks run under afterQueue.workMu.
package dispatch
