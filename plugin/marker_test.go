package plugin

import (
	"bytes"
	"slices"
	"testing"
)

func TestLastMarker(t *testing.T) {
	hashMarker := hashMarker.Text
	const length = 3*markerSearchBytes + 100
	text := bytes.Repeat([]byte("Tabs;(function()"), length/16+1)[:length]
	if got := lastMarker(text); got != -1 {
		t.Errorf("no marker: %d", got)
	}
	if got := lastMarker(hashMarker[1:]); got != -1 {
		t.Errorf("a marker without its first letter: %d", got)
	}
	places := []int{0, 1, length - len(hashMarker)}
	for step := length - 2*markerSearchBytes; step < length; step += markerSearchBytes { // markers at the borders of the searched parts
		for d := -len(hashMarker) - 1; d <= len(hashMarker); d++ {
			if at := step + d; at+len(hashMarker) <= length {
				places = append(places, at)
			}
		}
	}
	for _, at := range places {
		code := slices.Clone(text)
		copy(code[at:], hashMarker)
		if got := lastMarker(code); got != at {
			t.Errorf("the marker at %d is found at %d", at, got)
		}
		if at < len(hashMarker) {
			continue
		}
		copy(code, hashMarker)
		copy(code[at-len(hashMarker):], hashMarker)
		if got := lastMarker(code); got != at {
			t.Errorf("of several markers the one at %d is found, not the one at %d", got, at)
		}
	}
}

func TestHashMarkerStartsAtARareLetter(t *testing.T) {
	if letter := hashMarker.Text[hashMarker.Rare]; letter != 'T' {
		t.Errorf("the search starts at %c, want T", letter)
	}
}
