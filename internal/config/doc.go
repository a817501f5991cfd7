// Package config finds the directories of opentabs and reads its settings. Package
// config also reads and writes the token, the record of the running server, and the
// lock that allows only one server to start at a time.
//
// A caller uses [FindDirs] first, and [Load] and [Token] with the directories that
// FindDirs returns.
//
// Package config has no state. Goroutines and processes may call its functions
// concurrently.
package config
