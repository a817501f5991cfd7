// Package inbound reads what browsers send, without trust: it bounds sizes, drops
// invalid names and IDs, and makes texts safe for logs, terminals and agents. All
// of its functions are pure.
//
// # Concurrency
//
// All functions are safe for concurrent use.
package inbound
