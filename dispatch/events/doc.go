// Package events describes calls to surfaces, and sends each change of a call to
// followers. A [View] is a call at one moment, and an [Event] is one change with the
// View after the change.
//
// A [Stream] keeps the last events in one ring, and each [Follower] is a position in
// this ring. Package dispatch publishes a [Change] to the Stream, which is cheap. The
// next Follower that reads makes the events of all changes since the last read, so the
// events of a call cost the call nothing. Surfaces such as the HTTP API read from a
// Follower. Followers read in batches, at most every 50 ms.
//
// # Concurrency
//
// A [Stream] and a [Follower] are safe for concurrent use. Events are shared by all
// followers and read-only.
package events
