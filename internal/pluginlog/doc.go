// Package pluginlog stores the logs of adapters. The last log entries of each plugin are
// in memory, and all log entries are in files of the state folder. Secrets are removed
// before a log entry is stored; see package redact.
//
// [Open] opens a [Log] for a server, which adds, reads and follows log entries. [Read]
// reads the log files without a server.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. [Log.Add] never blocks. A subscriber that reads too
// slowly loses log entries, and [Subscriber.Next] returns the number of lost entries.
package pluginlog
