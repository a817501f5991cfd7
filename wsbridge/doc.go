// Package wsbridge connects the daemon to browsers. Package wsbridge implements
// dispatch.Bridge over the WebSockets of any number of browsers with the opentabs
// extension.
//
// Create a [Hub] with [New], serve [Hub.Handler] at /ws, and pass the hub to
// dispatch.New. Pass the dispatcher to [Hub.SetCalls], so that side panels show and stop
// calls. Call [Hub.Sync] whenever the plugins change, and [Hub.Close] at the end.
//
// A browser identifies itself by the ID in its first frame. If the link of a browser is
// lost, the runs of that browser are kept for the grace period. A browser that
// reconnects within the grace period keeps its runs: its pages did not notice the loss,
// and runs that were started during the loss are sent. A browser that restarted (its
// boot ID differs) has lost its pages, so its runs end at once.
//
// # Concurrency
//
// All methods of [Hub] are safe for concurrent use.
//
// Each connection has one reader, the goroutine of its HTTP handler, which never
// blocks: it decodes a frame, finds the run, and calls the run's sink, which by
// contract does not block. Frames to write are in the connection's outbox in the order
// of the state changes, because each frame is posted under the lock of the changed
// state. A short-lived goroutine writes the frames while the outbox is not empty. Start
// and Cancel therefore never wait for the network, and a stop never overtakes its run.
//
// Each lock guards one concern:
//
//   - registry.mu: the browsers, the open links, and which link is current
//   - runTable.mu: the unfinished runs and the stops of one browser
//   - tabTable.mu: the tabs of one browser, and whether they are in sync
//   - outbox.mu: the unwritten frames of one link
//   - Hub.mu: the calls for side panels and the hashes of plugins
//   - requests.mu, panel.mu, tabChanges.mu, refusals.mu: the type that they are in
//
// Nested locks are taken in this order: registry.mu, then runTable.mu or tabTable.mu,
// then outbox.mu. All other locks are taken alone. No sink and no callback is called
// under a lock, except Options.MayRunIn under tabTable.mu, and LinkLost and
// LinkRestored of a sink, which must keep the order of the link's changes.
package wsbridge
