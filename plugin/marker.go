package plugin

import (
	"regexp"

	"opentabs/internal/bytefind"
)

// hashMarker begins the statement that the build appends to an adapter; the
// adapter's own hash is that of the text before it.
var hashMarker = bytefind.Needle{Text: []byte("(function(){var o=(globalThis).__openTabs;"), Rare: 37} // the T

var embeddedHash = regexp.MustCompile(`\.__adapterHash="([0-9a-f]{64})"`)

// markerStep is how many bytes are searched in one step.
const markerStep = 16 << 10

// lastMarker returns where the last hashMarker in code begins, or -1. It looks
// from the end in steps, because the build appends the statement; but forward
// within a step, because only [bytes.Index] uses vector instructions.
func lastMarker(code []byte) int {
	length := len(hashMarker.Text)
	for end := len(code); end > 0; end -= markerStep {
		start := max(end-markerStep, 0)
		step := code[start:min(end+length-1, len(code))] // with what begins in it
		last := -1
		for from := 0; ; {
			i := hashMarker.Index(step[from:])
			if i < 0 {
				break
			}
			last = start + from + i
			from += i + length // it does not begin again within itself
		}
		if last >= 0 {
			return last
		}
	}
	return -1
}
