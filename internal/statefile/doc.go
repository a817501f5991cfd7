// Package statefile writes the small files in which opentabs stores its state. Each file is replaced atomically, so
// that concurrent processes, crashes and full disks never leave a damaged file.
//
// Call [Lock] before a change that depends on the current content of a file.
//
// All functions of package statefile are safe for concurrent use by goroutines and processes.
package statefile
