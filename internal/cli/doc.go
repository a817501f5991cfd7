// Package cli has what all commands of opentabs share: the environment of the process,
// checks of arguments, exit codes, and the installation that a command works on.
//
// The commands are in cmd/opentabs, and those about plugins in
// internal/cli/plugincmd.
package cli
