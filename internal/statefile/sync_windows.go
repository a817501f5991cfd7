package statefile

// syncFolder does nothing, because a rename on Windows survives a power failure anyway.
func syncFolder(string) error { return nil }
