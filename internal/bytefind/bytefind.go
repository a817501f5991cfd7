// Package bytefind searches large texts for a fixed short one.
package bytefind

import "bytes"

// Needle is a text to search for. [bytes.Index] is slow where the first letter of
// the text is frequent, so a Needle starts at a letter that is rare.
type Needle struct {
	Text []byte
	// Rare is the index in Text of a letter that is rare in the searched texts.
	Rare int
}

// Index returns the index of the first match in text; -1 if there is none.
func (n Needle) Index(text []byte) int {
	rest := n.Text[n.Rare:]
	for at := 0; ; {
		i := bytes.Index(text[at:], rest)
		if i < 0 {
			return -1
		}
		at += i + len(rest)
		if bytes.HasSuffix(text[:at], n.Text) {
			return at - len(n.Text)
		}
	}
}

// IsIn reports whether text contains the needle.
func (n Needle) IsIn(text []byte) bool { return n.Index(text) >= 0 }
