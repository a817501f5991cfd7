// Package linefile stores lines in rotated files: the newest file is path, and older
// files are path.1, path.2 and so on. Each rotation removes the oldest file.
//
// [Open] opens a log for writing, and [Read] reads a log. Writing never blocks the
// caller. If the queue is full, the log drops further lines, and a separate line contains
// the number of dropped lines.
//
// The lines of a log with Options.IsChained are JSON objects that form a chain, and
// [Verify] finds the first line that was changed, removed or inserted later.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. Several processes may write to one file; each
// appends whole lines only.
package linefile
