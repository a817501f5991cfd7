package config

import "io/fs"

// isOwnedByUser is true, because opentabs' directories are in the user's profile, which
// other users cannot open.
func isOwnedByUser(fs.FileInfo) bool { return true }

// isOwnedByRoot is false, because isOwnedByUser is true for every file.
func isOwnedByRoot(fs.FileInfo) bool { return false }
