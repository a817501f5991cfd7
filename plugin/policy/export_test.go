package policy

// MayCall reports whether the user allows a plugin to call the tools of another plugin.
func MayCall(s State, other string) bool { return s.mayCall(other) }
