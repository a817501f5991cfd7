package policy

// MayCall reports whether the user lets a plugin call the tools of another one.
func MayCall(s State, other string) bool { return s.mayCall(other) }
