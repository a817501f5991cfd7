package filemark

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func markOf(t *testing.T, name string) Mark {
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

// TestMarkChangesWithFile checks that a changed file has a new mark even if a program restores its size and modification time.
func TestMarkChangesWithFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	writeFile(t, name, "abc")
	oldTime := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(name, oldTime, oldTime); err != nil {
		t.Fatal(err)
	}
	markBefore := markOf(t, name)
	if markBefore != markOf(t, name) {
		t.Errorf("second mark of an unchanged file = %+v; want %+v", markOf(t, name), markBefore)
	}
	if markBefore.Size != 3 || markBefore.ModifiedNs != oldTime.UnixNano() {
		t.Errorf("mark of the file = %+v; want 3 bytes and the time %s", markBefore, oldTime)
	}
	writeFile(t, name, "abcd")
	if markAfter := markOf(t, name); markAfter.Size != 4 || markAfter == markBefore {
		t.Errorf("mark after a write = %+v; want 4 bytes and a changed mark", markAfter)
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return // on other systems, a mark has only the size and the modification time
	}
	replacementFile := filepath.Join(filepath.Dir(name), "other")
	writeFile(t, replacementFile, "xyz")
	if err := os.Chtimes(replacementFile, oldTime, oldTime); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(replacementFile, name); err != nil {
		t.Fatal(err)
	}
	markAfter := markOf(t, name)
	if markAfter.Size != markBefore.Size || markAfter.ModifiedNs != markBefore.ModifiedNs {
		t.Fatalf("mark of the original file %+v, of the replacement %+v; want the same size and time", markBefore, markAfter)
	}
	if markAfter.Inode == markBefore.Inode || markAfter.ChangedNs < markBefore.ChangedNs || markBefore.ChangedNs <= oldTime.UnixNano() || markAfter.Device != markBefore.Device {
		t.Errorf("mark of the replacement %+v, of the original file %+v; want another inode and a newer change time", markAfter, markBefore)
	}
}

func TestMarkIsOldEnough(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 1, time.UTC)
	timeAgo := func(d time.Duration) int64 { return now.Add(-d).UnixNano() }
	wholeSecondsAgo := func(d time.Duration) int64 { return now.Add(-d).Truncate(time.Second).UnixNano() }
	for _, testCase := range []struct {
		name string
		mark Mark
		want bool
	}{
		{"just written", Mark{ModifiedNs: timeAgo(0), ChangedNs: timeAgo(0)}, false},
		{"less than a clock tick ago", Mark{ModifiedNs: timeAgo(fineTimestampAge - 1), ChangedNs: timeAgo(fineTimestampAge - 1)}, false},
		{"a clock tick ago", Mark{ModifiedNs: timeAgo(fineTimestampAge), ChangedNs: timeAgo(fineTimestampAge)}, true},
		{"the change time is newer", Mark{ModifiedNs: timeAgo(time.Hour), ChangedNs: timeAgo(0)}, false},
		{"no change time", Mark{ModifiedNs: timeAgo(time.Hour)}, true},
		{"whole seconds", Mark{ModifiedNs: wholeSecondsAgo(time.Second)}, false},
		{"whole seconds, long ago", Mark{ModifiedNs: wholeSecondsAgo(coarseTimestampAge)}, true},
		{"in the future", Mark{ModifiedNs: timeAgo(-time.Hour)}, false},
	} {
		if got := testCase.mark.IsOldEnough(now); got != testCase.want {
			t.Errorf("IsOldEnough for the case %q = %t, want %t", testCase.name, got, testCase.want)
		}
	}
}
