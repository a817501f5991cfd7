package config

import "io/fs"

// isOwn is true: the directories are in the user's profile, which other users cannot
// open.
func isOwn(fs.FileInfo) bool { return true }

// isRoots is not needed if every file is the user's own.
func isRoots(fs.FileInfo) bool { return false }
