// Package linefile stores lines in rotated files: the newest is path, older ones are
// path.1, path.2 and so on. Each rotation removes the oldest file.
//
// [Open] opens a log for writing, and [Read] reads a log. Writing never blocks the
// caller. Lines that exceed the queue are dropped and counted, and a separate line
// reports their number.
//
// The lines of a log with Options.IsChained are JSON objects that form a chain, and
// [Verify] finds the first line that was changed, removed or inserted later.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. Several processes may write to one file; each
// appends whole lines only.
package linefile
