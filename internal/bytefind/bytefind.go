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
	suffix := n.Text[n.Rare:]
	for offset := 0; ; {
		i := bytes.Index(text[offset:], suffix)
		if i < 0 {
			return -1
		}
		offset += i + len(suffix)
		if bytes.HasSuffix(text[:offset], n.Text) {
			return offset - len(n.Text)
		}
	}
}

// IsIn reports whether text contains the needle.
func (n Needle) IsIn(text []byte) bool { return n.Index(text) >= 0 }
