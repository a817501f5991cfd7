// Package pluginlog keeps what adapters log: the last entries of each plugin in
// memory, and all of them in files of the state folder. Secrets are taken out
// before an entry is kept anywhere; see [redactor].
//
// [Open] opens a [Log] for a server, which adds, reads and follows; [Read] reads
// the files without one.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. Adding never waits: a follower that reads
// too slowly loses entries, and is told how many.
package pluginlog
