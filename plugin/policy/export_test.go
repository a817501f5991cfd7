package policy

func MayCall(s State, other string) bool { return s.mayCall(other) }
