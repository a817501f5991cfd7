// Package installcmd implements the commands `opentabs upgrade`, `opentabs uninstall` and
// `opentabs service`.
package installcmd
