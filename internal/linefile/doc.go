// Package linefile stores lines in rotated files: the newest is path, older ones are
// path.1, path.2 and so on. The oldest file is removed.
//
// [Open] opens a log for writing, [Read] reads one. Writing never blocks the caller:
// lines that exceed the queue while the disk is slow are dropped and counted, and a
// separate line reports their number.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. Several processes may write to one file; each
// appends whole lines only.
package linefile
