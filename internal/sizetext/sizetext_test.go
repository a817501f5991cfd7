package sizetext_test

import (
	"testing"

	"opentabs/internal/sizetext"
)

func TestBytes(t *testing.T) {
	for n, want := range map[int]string{0: "0 bytes", 1023: "1023 bytes", 64 << 10: "64 KB", 1 << 20: "1 MB", 1258291: "1.2 MB", 256 << 20: "256 MB"} {
		if got := sizetext.Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
