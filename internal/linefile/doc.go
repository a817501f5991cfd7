// Package linefile keeps lines in files of a folder: the newest is path, older
// ones have .1, .2 ... behind it, and the oldest goes.
//
// [Open] opens a log for writing, [Read] reads one. Writing never holds up
// whoever writes: what the disk does not take in time is dropped, counted, and
// told in a line of its own.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. Several processes may write at once; only
// whole lines of each are appended.
package linefile
