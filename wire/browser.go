package wire

import "strings"

const (
	// copyIDSeparator separates the parts of the ID of a browser that runs a copy of another
	// browser's profile: the ID of the other browser, and the beginning of the copy's BootID.
	copyIDSeparator = "~"
	// A reference to a browser with fewer than minIDPrefixChars characters could match the ID of another browser by
	// accident.
	minIDPrefixChars = 6
)

// BrowserCopyID returns the ID of a browser that runs a copy of another browser's
// profile. The argument id is the ID of the other browser. The argument bootID is the
// beginning of the BootID that the copy sent in its hello request.
func BrowserCopyID(id, bootID string) string { return id + copyIDSeparator + bootID }

// IsBrowserCopy reports whether id is an ID that [BrowserCopyID] returned.
func IsBrowserCopy(id string) bool { return strings.Contains(id, copyIDSeparator) }

// MatchesBrowser reports whether ref selects the browser with the given ID and name. The reference ref is the ID, at
// least the first 6 characters of the ID, or the name without regard to case. Several browsers can have IDs that begin
// with the same characters.
func MatchesBrowser(ref, id, name string) bool {
	originalID, _, _ := strings.Cut(id, copyIDSeparator)
	return ref == id || strings.EqualFold(ref, name) ||
		len(ref) >= minIDPrefixChars && len(ref) < len(originalID) && strings.HasPrefix(id, ref)
}
