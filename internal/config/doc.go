// Package config finds the directories of opentabs, and reads its settings and token. Package config also manages the
// record of the running server, and the lock that lets only one server start at a time.
//
// All functions are safe for concurrent use, also by several processes.
package config
