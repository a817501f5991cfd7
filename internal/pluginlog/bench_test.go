package pluginlog

import (
	"strings"
	"testing"

	"opentabs/internal/redact"
)

func BenchmarkText(b *testing.B) {
	r := &redact.Redactor{}
	for name, logText := range map[string]string{"usual": "GET https://x.example/channels/5?page=2 failed after 3 tries", "longest": strings.Repeat("some words and x=1 ", maxTextBytes/19)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(logText)))
			for b.Loop() {
				r.Text(logText)
			}
		})
	}
}
