// Package events describes calls to surfaces, and sends each change of a call to subscribers. A [View] describes a call
// at one moment. An [Event] is one change of a call, with the View after the change.
//
// A [Stream] keeps the last events in one ring buffer, and each [Subscriber] is a position in the ring buffer. Package
// dispatch publishes each [Change] of a call to the Stream, which only adds the Change to a queue. Surfaces such as the
// HTTP API read from a Subscriber. Subscribers read in batches, at most every 50 ms.
//
// # Concurrency
//
// The types [Stream] and [Subscriber] are safe for concurrent use. All subscribers share the same Event values, which are
// read-only.
package events
