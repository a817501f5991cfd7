// Package statefile writes the small files in which opentabs stores its state. The files
// survive concurrent processes, crashes and full disks, because they are replaced
// atomically.
//
// Start with [Write]. Call [Lock] before a change that depends on the current content of a
// file. [PutAside] keeps a damaged file under another name.
//
// All functions are safe for concurrent use by goroutines and processes.
package statefile
