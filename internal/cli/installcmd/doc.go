// Package installcmd has the commands about the installation of opentabs itself: upgrade,
// uninstall and service.
package installcmd
