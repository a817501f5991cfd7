// Package recorder stores one record for each call that has ended: its arguments,
// messages, activities, decisions, times and ending.
//
// The records are lines of JSON in one file per day, by the date in UTC, in a folder of
// the state folder. Old files are removed by age and by total size. Secrets are removed
// before a record is stored; see package redact.
//
// [Open] opens a [Recorder] for a server. [ReadAll] and [Find] read the files, with or
// without a server.
//
// # Concurrency
//
// A [Recorder] is safe for concurrent use. [Recorder.Add] never waits for the disk: a
// separate goroutine encodes and writes the records within flushInterval. A crash loses at
// most the records of the last second. Only one process may write, and any number of
// processes may read.
package recorder
