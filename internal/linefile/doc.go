// Package linefile appends lines to rotated log files. The newest file of a log is path,
// and older files are path.1, path.2 and so on. Each rotation removes the oldest file.
//
// [Open] opens a log for writing, and [Read] reads a log. [Log.Write] only queues a line, so it
// never waits for the disk. While the queue is full, the log drops new lines. A line in the log
// file reports how many lines were dropped.
//
// With Options.IsChained, the lines of a log are JSON objects in a hash chain: each line
// contains the hash of the previous line. [Verify] returns the first line that was
// changed, removed or inserted.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. Several processes can append to one log at the same time,
// because each write consists of whole lines.
package linefile
