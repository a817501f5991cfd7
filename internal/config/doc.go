// Package config knows where opentabs keeps its files and what its settings
// are: the two directories, config.json, the token, the record of the running
// server, and the lock that lets only one server start at a time.
//
// Start with [FindDirs], then [Load] and [Token].
//
// The package holds no state; its functions may be used from any goroutine and
// by several processes at once.
package config
