package pluginlog

import (
	"strings"
	"testing"
)

// BenchmarkText takes the secrets out of a text of the usual length, and out of
// the longest.
func BenchmarkText(b *testing.B) {
	r := &redactor{}
	for name, text := range map[string]string{"usual": "GET https://x.example/channels/5?page=2 failed after 3 tries", "longest": strings.Repeat("some words and x=1 ", maxTextBytes/19)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Text(text)
			}
		})
	}
}
