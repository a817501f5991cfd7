// Package bytefind searches large texts for a short fixed text, faster than
// [bytes.Index].
package bytefind

import "bytes"

// Needle is a text to search for. [bytes.Index] is slow if the first byte of the text to
// find is frequent. To be faster, a Needle first searches for the part of its text that
// begins with a rare byte.
type Needle struct {
	Text []byte
	// The field RareByteIndex is the index in Text of a byte that is rare in the texts to search.
	RareByteIndex int
}

// Index returns the index of the first match of n.Text in haystack; -1 if there is no
// match.
func (n Needle) Index(haystack []byte) int {
	suffix := n.Text[n.RareByteIndex:]
	for offset := 0; ; {
		i := bytes.Index(haystack[offset:], suffix)
		if i < 0 {
			return -1
		}
		offset += i + len(suffix)
		if bytes.HasSuffix(haystack[:offset], n.Text) {
			return offset - len(n.Text)
		}
	}
}

// IsContainedIn reports whether haystack contains n.Text.
func (n Needle) IsContainedIn(haystack []byte) bool { return n.Index(haystack) >= 0 }
