// Package dispatch runs calls: it decides when a call may run, chooses its document,
// applies its time limits, forwards its progress and records how it ends. Package
// dispatch has no network, no MCP and no browser code. A [Bridge] runs calls in
// browsers, and each caller passes a function that receives progress.
//
// Start with [New], then [Dispatcher.Call]. Surfaces that show calls use
// [Dispatcher.Calls] and [Dispatcher.Follow].
//
// Every call has two limits: an idle limit that each report restarts (30 s by
// default) and a hard limit that nothing restarts (5 min by default). Only the clock
// of the dispatcher applies them. A call ends exactly once; later reports and results
// are ignored.
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
//   - [clock.Clock]: both limits (package clock)
//   - [progress.Sender]: the notifications of the client (package progress)
//   - [activity.Set]: content beside the progress (package activity)
//
// # Concurrency
//
// A [Dispatcher], [Jobs] and a [Follower] are safe for concurrent use. Call blocks the
// goroutine of its caller until the call has ended. Progress functions run on that
// goroutine, so a slow client delays only the notifications of one call. The methods of a
// [Sink] never block, so a bridge may call them from the goroutine that reads its link.
//
// # Locks
//
// liveCall.mu guards state, attempts, suspension, reportLog and timeline, which have no
// locks. The events of one call are published under liveCall.mu, so they stay in order.
// These locks may be taken while another is held, in this order only:
//
//	liveCall.mu      > Dispatcher.mu     when a call is added
//	liveCall.mu      > progress.Sender   when a report is queued or the call ends
//	liveCall.mu      > activity.Set.mu   when a report has an activity
//	liveCall.mu      > stream.mu         when an event is published
//	Jobs.mu          > Job.mu            when a result is stored or dropped
//	Set.applyMu      > activity.Set.mu   when patches are applied
//
// All other locks are taken alone: toolRequests.mu, clock.Clock.mu, queue.Queue.mu,
// suspendedCalls.mu. No bridge method, gate, hook or progress function runs while one
// of these locks is held, except Options.OnWaitingChange, which runs under
// suspendedCalls.mu.
package dispatch
