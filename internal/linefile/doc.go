// Package linefile appends lines to rotated log files. The newest file of a log is path, and older files are path.1,
// path.2 and so on. Each rotation removes the oldest file.
//
// [Log.Write] only queues a line, so it never waits for the disk. The log writes at most once every 50 ms, unless its
// queue is half full, so a process that is killed usually loses the lines of the last 50 ms. When the queue is full, the
// log drops new lines, and a later line reports how many lines were dropped.
//
// With Options.IsChained, the lines of a log are JSON objects in a hash chain: each line contains the hash of the
// previous line.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. Several processes can append to one log at the same time, because each write
// consists of whole lines.
package linefile
