// Package audit writes and reads the audit log: what agents did and what users allowed.
// The log has one line of JSON for each finished call, each decision and each change of
// a permission, in files of the state folder. Package audit never contains the
// arguments or the result of a call; it does contain the progress messages of the tool.
//
// [Open] opens the log for writing, [Read] reads it. [Log.Write] never blocks on
// the disk: records that the disk does not accept in time are dropped, and a record
// of the kind [KindDropped] has their number.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. Several processes may write at once; only
// whole lines of each are appended.
package audit
