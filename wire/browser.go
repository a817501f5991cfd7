package wire

import "strings"

const (
	// copyMark separates the parts of the ID of a browser that runs a copy of another
	// browser's profile: the ID of the other browser, and the start of the boot ID.
	copyMark = "~"
	// minIDPrefix is the minimum number of characters of an ID that select a browser. A
	// shorter text, such as a name, could select another browser by accident.
	minIDPrefix = 6
)

// BrowserCopyID returns the ID of a browser that runs a copy of the profile of the browser
// with the given ID. bootID is the start of the boot ID of the copy.
func BrowserCopyID(id, bootID string) string { return id + copyMark + bootID }

// IsBrowserCopy reports whether the ID is from [BrowserCopyID].
func IsBrowserCopy(id string) bool { return strings.Contains(id, copyMark) }

// MatchesBrowser reports whether ref selects the browser with the given ID and name. ref is
// the ID, at least the first 6 characters of the ID, or the name without regard to case.
// Several browsers may match the first characters of their IDs.
func MatchesBrowser(ref, id, name string) bool {
	original, _, _ := strings.Cut(id, copyMark)
	return ref == id || strings.EqualFold(ref, name) ||
		len(ref) >= minIDPrefix && len(ref) < len(original) && strings.HasPrefix(id, ref)
}
