package wire

import "testing"

func TestMatchesBrowser(t *testing.T) {
	const id, name = "3f2a9c10-77aa", "Work"
	for _, c := range []struct {
		ref, id string
		want    bool
	}{
		{id, id, true}, {"work", id, true}, {"3f2a9c", id, true}, {"3f2a9c10-77a", id, true},
		{"3f2a9", id, false}, {"3F2A9C", id, false}, {"2a9c10-77", id, false}, {id + "x", id, false}, {"Wor", id, false}, {"", id, false},
		{id, BrowserCopyID(id, "b1"), false}, {BrowserCopyID(id, "b1"), BrowserCopyID(id, "b1"), true}, {"3f2a9c", BrowserCopyID(id, "b1"), true},
	} {
		if got := MatchesBrowser(c.ref, c.id, name); got != c.want {
			t.Errorf("MatchesBrowser(ref %q, id %q, name %q) = %t, want %t", c.ref, c.id, name, got, c.want)
		}
	}
}
