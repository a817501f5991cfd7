// Package statefile writes the small files that opentabs keeps between runs. Files
// survive concurrent processes, crashes and full disks: package statefile replaces
// files atomically, changes them under a lock, and renames a damaged file.
//
// Start with [Write]. Use [Lock] around a change that depends on the content of the
// file.
//
// All functions may be called from any goroutine and from several processes at once.
package statefile
