// Package audit keeps the record of what agents did and what people allowed:
// one line of JSON for each call that ended and for each decision and change of
// a permission, in files of the state folder. What a call was given and what it
// returned is never in it; what its tool reported for people is.
//
// [Open] opens the record for writing, [Read] reads it. Writing never holds up
// whoever writes: what the disk does not take in time is dropped, counted, and
// told in the record itself.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. Several processes may write at once; only
// whole lines of each are appended.
package audit
