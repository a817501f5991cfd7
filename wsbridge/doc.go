// Package wsbridge connects the daemon to browsers. Package wsbridge implements
// dispatch.Bridge over the WebSockets of any number of browsers with the opentabs
// extension.
//
// Create a [Hub] with [New], serve [Hub.Handler] at /ws, and pass the hub to
// dispatch.New. Pass the dispatcher to [Hub.SetCalls], so that side panels show and
// stop calls. Call [Hub.Sync] whenever the plugins change, and call [Hub.Close] when
// the server stops.
//
// A browser identifies itself by the ID in its first frame. If the link of a browser is
// lost, the runs of that browser are kept for the grace period. A browser that
// reconnects within the grace period keeps its runs. Runs that were started while the
// link was lost are sent after the reconnect. A browser that restarted (its boot ID
// differs) has lost its pages, so its runs end at once.
//
// # Concurrency
//
// All methods of [Hub] are safe for concurrent use.
//
// Each connection has one reader, the goroutine of its HTTP handler. The reader decodes
// a frame, finds the run, and calls the run's sink. Sinks must not block, so the reader
// never blocks. The outbox has the frames in the order of the state changes, because
// each frame is posted under the lock of the changed state. One goroutine per link
// writes the frames. Because of the outbox, Start and
// Cancel never wait for the network, and a tool.cancel never overtakes its
// tool.dispatch.
//
// These locks guard the state of package wsbridge:
//
//   - registry.mu: the browsers, the open links, and which link is current
//   - runTable.mu: the unfinished runs and the stops of one browser
//   - tabTable.mu: the tabs of one browser, and whether the browser has the current
//     plugins
//   - outbox.mu: the unwritten frames of one link
//   - Hub.mu: the calls for side panels and the hashes of plugins
//   - requests.Table.mu, panel.mu, tabsignal.Signal.mu: the fields of these types
//
// Nested locks are taken in this order: registry.mu, then runTable.mu or tabTable.mu,
// then outbox.mu. A goroutine that takes Hub.mu, requests.Table.mu, panel.mu,
// or tabsignal.Signal.mu holds no second lock. No sink and no callback is
// called under a lock, with two exceptions. Options.MayRunIn is called under
// tabTable.mu. LinkLost and LinkRestored of a sink are called under a lock to keep the
// order of the link's changes.
package wsbridge
