package plugin

import (
	"bytes"
	"regexp"
)

// hashMarker begins the statement that the build appends to an adapter; the
// adapter's own hash is that of the text before it.
var hashMarker = []byte("(function(){var o=(globalThis).__openTabs;")

var embeddedHash = regexp.MustCompile(`\.__adapterHash="([0-9a-f]{64})"`)

// markerRest is the end of hashMarker, which begins with a letter that is rare
// in code: [bytes.Index] is the slower the more often it meets the first letter.
var markerRest = []byte("Tabs;")

// markerStep is how many bytes are searched in one step.
const markerStep = 16 << 10

// lastMarker returns where the last hashMarker in code begins, or -1. It looks
// from the end in steps, because the build appends the statement; but forward
// within a step, because only [bytes.Index] uses vector instructions.
func lastMarker(code []byte) int {
	for end := len(code); end > 0; end -= markerStep {
		start := max(end-markerStep, 0)
		last := -1
		for at := start; ; {
			i := bytes.Index(code[at:min(end+len(markerRest)-1, len(code))], markerRest)
			if i < 0 {
				break
			}
			at += i + len(markerRest)
			if bytes.HasSuffix(code[:at], hashMarker) {
				last = at - len(hashMarker)
			}
		}
		if last >= 0 {
			return last
		}
	}
	return -1
}
