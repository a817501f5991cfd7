// Package wsbridge is the bridge to browsers: it implements dispatch.Bridge
// over the WebSocket of any number of browsers with the opentabs extension.
//
// Make a [Hub] with [New], serve [Hub.Handler] at /ws, and give the hub to
// dispatch.New. When there is a dispatcher, hand it to [Hub.SetCalls], so that
// side panels see and stop calls. Call [Hub.Sync] whenever the plugins change,
// and [Hub.Close] at the end.
//
// A browser is known by the id in its first frame. It may lose its link and
// come back: its runs wait for it for the grace period. Within that time a
// browser that returns keeps its runs; they go on where they were, because the
// pages never noticed, and runs that were started meanwhile are sent. A browser
// that was started anew (its boot id differs) has no pages from before, so its
// runs end at once.
//
// # Concurrency
//
// All methods of [Hub] are safe for concurrent use.
//
// Each connection has one reader, the goroutine of its HTTP handler, that is
// never held up: it decodes a frame, looks the run up, and hands over to the
// run's sink, which by contract does not block. Frames to write go into the
// connection's outbox in the order in which the state changed (they are posted
// under the browser's mutex) and are written by a short-lived goroutine that
// exists while the outbox is not empty. So Start and Cancel never wait for the
// network, and a stop can never overtake the run that it stops.
//
// Locks are taken in this order: Hub.syncing, Hub.mu, browser.mu, link.mu,
// outbox.mu. No sink and no callback is called while one of them is held, but
// for Adapters.List by Sync, and LinkLost and LinkBack of a sink, which must keep
// the order of the link's changes.
package wsbridge
