// Package statefile writes the small files that opentabs keeps between runs. These
// files survive concurrent processes, crashes and full disks: a file is replaced
// atomically, changes happen under a lock, and a damaged file is renamed instead of
// overwritten.
//
// Start with [Write]. Use [Lock] around a change that depends on the content of the
// file.
//
// All functions may be called from any goroutine and from several processes at once.
package statefile
