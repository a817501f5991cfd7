package config

import "io/fs"

// isOwnedByUser is true: the directories are in the user's profile, which other users cannot
// open.
func isOwnedByUser(fs.FileInfo) bool { return true }

// isOwnedByRoot is not needed if every file is the user's own.
func isOwnedByRoot(fs.FileInfo) bool { return false }
