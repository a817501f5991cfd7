// Package statefile writes the small files that opentabs keeps between runs, so
// that several processes, crashes and full disks do them no harm: a file is
// replaced whole or not at all, changes happen under a lock, and a damaged file
// is put aside and never overwritten.
//
// Start with [Write]; [Lock] goes around a change that depends on what was
// there before.
//
// The package holds no state; its functions may be used from any goroutine and
// by several processes at once.
package statefile
