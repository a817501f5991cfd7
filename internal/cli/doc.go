// Package cli has the code that all commands of opentabs share: the environment of the
// process, checks of arguments, exit codes, and access to the installation.
//
// The commands themselves are in cmd/opentabs, internal/cli/plugincmd and the other
// packages below internal/cli.
package cli
