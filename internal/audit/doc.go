// Package audit writes and reads the audit log: which calls agents made and what users
// allowed. The log has one line of JSON for each finished call, each decision and each
// change of a permission, in files of the state folder. The audit log never contains the
// arguments or the result of a call, but contains the progress messages of the tool.
//
// The records form a chain: each record has a number and the hash of the record before.
//
// [Open] opens the audit log for writing, [Read] reads the log, and [Verify] checks the
// chain. [Log.Write] never blocks on the disk: records that the disk does not accept in
// time are dropped. A record of the kind [KindDropped] has the number of dropped records.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. Several processes may write the log at once,
// because each process appends only whole lines.
package audit
