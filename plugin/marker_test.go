package plugin

import (
	"bytes"
	"slices"
	"testing"
)

func TestFindLastMarker(t *testing.T) {
	hashMarker := hashMarker.Text
	const length = 3*markerSearchBytes + 100
	repeatedMarker := bytes.Repeat([]byte("Tabs;(function()"), length/16+1)[:length]
	if got := findLastMarker(repeatedMarker); got != -1 {
		t.Errorf("findLastMarker of code without a marker = %d; want -1", got)
	}
	if got := findLastMarker(hashMarker[1:]); got != -1 {
		t.Errorf("findLastMarker of a marker without its first letter = %d; want -1", got)
	}
	markerPositions := []int{0, 1, length - len(hashMarker)}
	for stepIndex := length - 2*markerSearchBytes; stepIndex < length; stepIndex += markerSearchBytes { // markers at the borders of the parts that findLastMarker searches
		for d := -len(hashMarker) - 1; d <= len(hashMarker); d++ {
			if at := stepIndex + d; at+len(hashMarker) <= length {
				markerPositions = append(markerPositions, at)
			}
		}
	}
	for _, at := range markerPositions {
		code := slices.Clone(repeatedMarker)
		copy(code[at:], hashMarker)
		if got := findLastMarker(code); got != at {
			t.Errorf("findLastMarker = %d; want %d", got, at)
		}
		if at < len(hashMarker) {
			continue
		}
		copy(code, hashMarker)
		copy(code[at-len(hashMarker):], hashMarker)
		if got := findLastMarker(code); got != at {
			t.Errorf("findLastMarker of code with several markers = %d; want %d", got, at)
		}
	}
}

func TestHashMarkerSearchUsesRarestByte(t *testing.T) {
	if rareByte := hashMarker.Text[hashMarker.RareByteIndex]; rareByte != 'T' {
		t.Errorf("rare letter of hashMarker = %c, want T", rareByte)
	}
}
