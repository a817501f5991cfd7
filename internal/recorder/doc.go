// Package recorder stores a record of each call that has ended. A record contains the call's arguments, messages,
// activities, decisions, times and outcome.
//
// A record is one line of JSON in a file of the folder calls, which is in the state folder. The recorder starts a new
// file every day (in UTC), or sooner if a file is too large. The recorder deletes files that are too old, and the
// oldest files if all files together exceed a size limit. Secrets are removed before a record is stored; see package
// redact.
//
// The files of records also contain notes about idempotency keys, undone calls and open calls; see [Note].
//
// # Concurrency
//
// A [Recorder] is safe for concurrent use. [Recorder.Add] never blocks on the disk: a separate goroutine encodes the
// records and writes them within 100 ms. A crash of the server loses at most the records of the last second.
// [Recorder.WriteNote] returns only when its note survives a crash of the server. Only one process at a time is allowed
// to write records; any number of processes can read records.
package recorder
