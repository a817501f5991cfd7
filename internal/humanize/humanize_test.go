package humanize_test

import (
	"testing"
	"time"

	"opentabs/internal/humanize"
)

func TestShortDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		5 * time.Minute: "5m", time.Hour: "1h", 90 * time.Minute: "1h30m", 20 * time.Second: "20s", 24 * time.Hour: "24h", 0: "0s", time.Hour + 30*time.Second: "1h0m30s",
	} {
		if got := humanize.ShortDuration(d); got != want {
			t.Errorf("ShortDuration(%d) = %s, want %s", d, got, want)
		}
		if parsedDuration, err := time.ParseDuration(want); err != nil || parsedDuration != d {
			t.Errorf("ParseDuration(%q) = %v, error %v; want %d ns", want, parsedDuration, err, d)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", time.Microsecond: "1 ms", 20 * time.Millisecond: "20 ms", 1499 * time.Millisecond: "1.5 s", 30 * time.Second: "30 s",
		59970 * time.Millisecond: "1 min", 5 * time.Minute: "5 min", 125500 * time.Millisecond: "2 min 6 s",
		time.Hour - time.Millisecond: "1 h", 59*time.Minute + 59*time.Second: "59 min 59 s", time.Hour: "1 h", 90*time.Minute + 20*time.Second: "1 h 30 min", 25 * time.Hour: "25 h",
	} {
		if got := humanize.Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int]string{0: "0 bytes", 1023: "1023 bytes", 64 << 10: "64 KB", 1 << 20: "1 MB", 1258291: "1.2 MB", 256 << 20: "256 MB"} {
		if got := humanize.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}
