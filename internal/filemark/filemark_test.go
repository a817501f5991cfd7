package filemark

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func fingerprintOf(t *testing.T, name string) Fingerprint {
	t.Helper()
	fileInfo, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return Of(fileInfo)
}

func writeFile(t *testing.T, name, fileContent string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(fileContent), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFingerprintChangesWithFile checks that a changed file has a new Fingerprint even if a program restores its size and modification time.
func TestFingerprintChangesWithFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	writeFile(t, name, "abc")
	oldTime := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(name, oldTime, oldTime); err != nil {
		t.Fatal(err)
	}
	fingerprintBefore := fingerprintOf(t, name)
	if fingerprintBefore != fingerprintOf(t, name) {
		t.Errorf("second mark of an unchanged file = %+v; want %+v", fingerprintOf(t, name), fingerprintBefore)
	}
	if fingerprintBefore.Size != 3 || fingerprintBefore.ModifiedNs != oldTime.UnixNano() {
		t.Errorf("Fingerprint of the file = %+v; want 3 bytes and the time %s", fingerprintBefore, oldTime)
	}
	writeFile(t, name, "abcd")
	if fingerprintAfter := fingerprintOf(t, name); fingerprintAfter.Size != 4 || fingerprintAfter == fingerprintBefore {
		t.Errorf("mark after a write = %+v; want 4 bytes and a changed mark", fingerprintAfter)
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return // on other systems, a Fingerprint has only the size and the modification time
	}
	replacementFile := filepath.Join(filepath.Dir(name), "other")
	writeFile(t, replacementFile, "xyz")
	if err := os.Chtimes(replacementFile, oldTime, oldTime); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(replacementFile, name); err != nil {
		t.Fatal(err)
	}
	fingerprintAfter := fingerprintOf(t, name)
	if fingerprintAfter.Size != fingerprintBefore.Size || fingerprintAfter.ModifiedNs != fingerprintBefore.ModifiedNs {
		t.Fatalf("Fingerprint of the original file %+v, of the replacement %+v; want the same size and time", fingerprintBefore, fingerprintAfter)
	}
	if fingerprintAfter.Inode == fingerprintBefore.Inode || fingerprintAfter.ChangedNs < fingerprintBefore.ChangedNs || fingerprintBefore.ChangedNs <= oldTime.UnixNano() || fingerprintAfter.Device != fingerprintBefore.Device {
		t.Errorf("Fingerprint of the replacement %+v, of the original file %+v; want another inode and a newer change time", fingerprintAfter, fingerprintBefore)
	}
}

func TestFingerprintIsReliable(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 1, time.UTC)
	timeAgo := func(d time.Duration) int64 { return now.Add(-d).UnixNano() }
	wholeSecondsAgo := func(d time.Duration) int64 { return now.Add(-d).Truncate(time.Second).UnixNano() }
	for _, testCase := range []struct {
		name     string
		fileMark Fingerprint
		want     bool
	}{
		{"just written", Fingerprint{ModifiedNs: timeAgo(0), ChangedNs: timeAgo(0)}, false},
		{"less than a clock tick ago", Fingerprint{ModifiedNs: timeAgo(fineReliableAge - 1), ChangedNs: timeAgo(fineReliableAge - 1)}, false},
		{"a clock tick ago", Fingerprint{ModifiedNs: timeAgo(fineReliableAge), ChangedNs: timeAgo(fineReliableAge)}, true},
		{"the change time is newer", Fingerprint{ModifiedNs: timeAgo(time.Hour), ChangedNs: timeAgo(0)}, false},
		{"no change time", Fingerprint{ModifiedNs: timeAgo(time.Hour)}, true},
		{"whole seconds", Fingerprint{ModifiedNs: wholeSecondsAgo(time.Second)}, false},
		{"whole seconds, long ago", Fingerprint{ModifiedNs: wholeSecondsAgo(coarseReliableAge)}, true},
		{"in the future", Fingerprint{ModifiedNs: timeAgo(-time.Hour)}, false},
	} {
		if got := testCase.fileMark.IsReliable(now); got != testCase.want {
			t.Errorf("IsReliable for the case %q = %t, want %t", testCase.name, got, testCase.want)
		}
	}
}
