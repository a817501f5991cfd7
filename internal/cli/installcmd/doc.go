// Package installcmd implements the commands about the installation of opentabs: upgrade,
// uninstall and service.
package installcmd
