package policy

func MayCall(s State, otherPlugin string) bool { return s.mayCall(otherPlugin) }
