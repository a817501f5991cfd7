package config

import "io/fs"

// isOwnedByUser always returns true, because opentabs' directories are in the user's
// profile, which other users cannot open.
func isOwnedByUser(fs.FileInfo) bool { return true }

// isOwnedByRoot always returns false, because isOwnedByUser is true for every file.
func isOwnedByRoot(fs.FileInfo) bool { return false }
