// Package recorder stores one record for each call that has ended. A record contains the
// arguments, messages, activities, decisions, times and ending of the call.
//
// The records are lines of JSON, in a folder of the state folder with one file per day
// (in UTC). The recorder removes files that are too old, and the oldest files if all
// files together are too large. Secrets are removed before a record is stored; see
// package redact.
//
// Beside the records, the files have notes about idempotency keys and undone calls; see
// [Note].
//
// [Open] opens a [Recorder] for a server. [ReadAll] and [Find] read the files, with or
// without a server.
//
// # Concurrency
//
// A [Recorder] is safe for concurrent use. [Recorder.Add] never waits for the disk: a
// separate goroutine encodes and writes the records within flushInterval. A crash of the
// server loses at most the records of the last second; [Recorder.WriteNote] waits until
// its note survives such a crash. Only one process may write records, and any
// number of processes may read records.
package recorder
