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

// TestMarkChanges checks that a changed file has a new mark even if a program restores its size and modification time.
func TestMarkChanges(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	writeFile(t, name, "abc")
	oldTime := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(name, oldTime, oldTime); err != nil {
		t.Fatal(err)
	}
	markBefore := markOf(t, name)
	if markBefore != markOf(t, name) {
		t.Error("two marks of an unchanged file differ")
	}
	if markBefore.Size != 3 || markBefore.ModifiedNs != oldTime.UnixNano() {
		t.Errorf("%+v, want 3 bytes of %s", markBefore, oldTime)
	}
	writeFile(t, name, "abcd")
	if markAfter := markOf(t, name); markAfter.Size != 4 || markAfter == markBefore {
		t.Errorf("after a write: %+v", markAfter)
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return // on other systems, a mark has only the size and the modification time
	}
	replaced := filepath.Join(filepath.Dir(name), "other")
	writeFile(t, replaced, "xyz")
	if err := os.Chtimes(replaced, oldTime, oldTime); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(replaced, name); err != nil {
		t.Fatal(err)
	}
	markAfter := markOf(t, name)
	if markAfter.Size != markBefore.Size || markAfter.ModifiedNs != markBefore.ModifiedNs {
		t.Fatalf("%+v and %+v: want the same size and time", markBefore, markAfter)
	}
	if markAfter.Inode == markBefore.Inode || markAfter.ChangedNs < markBefore.ChangedNs || markBefore.ChangedNs <= oldTime.UnixNano() || markAfter.Device != markBefore.Device {
		t.Errorf("the replaced file has the mark %+v, before %+v", markAfter, markBefore)
	}
}

func TestIsSettled(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 1, time.UTC)
	timeAgo := func(d time.Duration) int64 { return now.Add(-d).UnixNano() }
	wholeSecondsAgo := func(d time.Duration) int64 { return now.Add(-d).Truncate(time.Second).UnixNano() }
	for _, testCase := range []struct {
		name string
		mark Mark
		want bool
	}{
		{"just written", Mark{ModifiedNs: timeAgo(0), ChangedNs: timeAgo(0)}, false},
		{"a tick ago", Mark{ModifiedNs: timeAgo(fineSettleTime - 1), ChangedNs: timeAgo(fineSettleTime - 1)}, false},
		{"after the tick", Mark{ModifiedNs: timeAgo(fineSettleTime), ChangedNs: timeAgo(fineSettleTime)}, true},
		{"the change time is newer", Mark{ModifiedNs: timeAgo(time.Hour), ChangedNs: timeAgo(0)}, false},
		{"no change time", Mark{ModifiedNs: timeAgo(time.Hour)}, true},
		{"whole seconds", Mark{ModifiedNs: wholeSecondsAgo(time.Second)}, false},
		{"whole seconds, long ago", Mark{ModifiedNs: wholeSecondsAgo(coarseSettleTime)}, true},
		{"in the future", Mark{ModifiedNs: timeAgo(-time.Hour)}, false},
	} {
		if got := testCase.mark.IsSettled(now); got != testCase.want {
			t.Errorf("%s: %t, want %t", testCase.name, got, testCase.want)
		}
	}
}
