// Package wsbridge connects the daemon to browsers over WebSockets. A [Hub] implements dispatch.Bridge for any number
// of browsers that have the opentabs extension.
//
// Create a [Hub] with [New], serve [Hub.Handler] at /ws, and pass the hub to dispatch.New. Pass the dispatcher to
// [Hub.SetCalls], so that side panels can show and stop calls.
//
// A browser identifies itself by the ID in the first message frame of its link. When the link to a browser is lost, its
// tool calls survive for the grace period, so that the browser can reconnect. Tool calls that were started while the
// link was lost are sent after the browser reconnects. A restarted browser, whose boot ID differs, has lost its pages,
// so its tool calls fail at once.
//
// # Concurrency
//
// All methods of [Hub] are safe for concurrent use.
//
// Each WebSocket connection has one reader: the goroutine of its HTTP handler. The reader decodes each frame and passes
// the result or progress to the sink of the tool call. The methods of a sink must not block, because they would delay
// all further frames of the browser. Each outgoing frame is queued under the lock of the state that changed, so frames
// are sent in the order of the state changes. One goroutine per link writes the queued frames. Start and Cancel never
// wait for the network, and a tool.cancel frame never overtakes its tool.dispatch frame.
//
// The following locks guard the state of package wsbridge:
//
//   - registry.mu: the browsers, the open links, and the current link of each browser
//   - runTable.mu: the unfinished tool calls of one browser, and those being cancelled
//   - tabTable.mu: the tabs of one browser, and whether the browser has the current
//     plugins
//   - outbox.mu: the unwritten frames of one link
//   - Hub.mu: the calls for side panels and the hashes of plugins
//   - requests.Table.mu, panel.mu, tabsignal.TabChanges.mu: the fields of these types
//
// Nested locks are acquired in this order: registry.mu, then runTable.mu or tabTable.mu, then outbox.mu. A goroutine
// that holds Hub.mu, requests.Table.mu, panel.mu, or tabsignal.TabChanges.mu holds no other lock. Package wsbridge calls
// methods of sinks and callbacks without holding a lock, with two exceptions. Options.CanPluginRunIn is called under
// tabTable.mu. The methods LinkLost and LinkRestored of a sink are called under runTable.mu, so that the sink observes
// every loss and every reconnect in order.
package wsbridge
