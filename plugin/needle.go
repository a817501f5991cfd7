package plugin

import "bytes"

// needle is a text to be looked for in large ones. [bytes.Index] is the slower
// the more often it meets the first letter, so rare is the place of a letter in
// text that is seldom met.
type needle struct {
	text []byte
	rare int
}

// index is [bytes.Index].
func (n needle) index(in []byte) int {
	rest := n.text[n.rare:]
	for at := 0; ; {
		i := bytes.Index(in[at:], rest)
		if i < 0 {
			return -1
		}
		at += i + len(rest)
		if bytes.HasSuffix(in[:at], n.text) {
			return at - len(n.text)
		}
	}
}

// isIn is [bytes.Contains].
func (n needle) isIn(in []byte) bool { return n.index(in) >= 0 }
