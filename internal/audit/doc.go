// Package audit writes and reads the audit log: which calls agents made and what users allowed. The audit log has one
// line of JSON for each finished call, each decision by the user, and each changed permission. The audit log contains
// the tool's progress messages, but never the arguments or the result of a call.
//
// The records of the audit log form a hash chain: each record has a sequence number and the hash of the previous
// record.
//
// [Open] opens the audit log for writing, [Read] returns its records, and [Verify] checks the hash chain. [Log.Write]
// never blocks on the disk: if the disk is too slow, records are dropped.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. Several processes can write the audit log at the same time, because each process
// appends only whole lines.
package audit
