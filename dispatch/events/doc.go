// Package events describes calls to surfaces, and sends each change of a call to
// followers. A [View] is a call at one moment, and an [Event] is one change with the
// View after the change.
//
// A [Stream] keeps the last events in one ring, and each [Follower] is a position in
// this ring. Package dispatch publishes to the Stream, and surfaces such as the HTTP API
// read from a Follower.
//
// # Concurrency
//
// A [Stream] and a [Follower] are safe for concurrent use. Events are shared by all
// followers and read-only.
package events
