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
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return Of(info)
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMarkChanges checks that a mark changes with the content even if a program
// restores size and modification time, where the system has more attributes.
func TestMarkChanges(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	writeFile(t, name, "abc")
	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(name, past, past); err != nil {
		t.Fatal(err)
	}
	before := markOf(t, name)
	if before != markOf(t, name) {
		t.Error("two marks of an unchanged file differ")
	}
	if before.Size != 3 || before.ModifiedNs != past.UnixNano() {
		t.Errorf("%+v, want 3 bytes of %s", before, past)
	}
	writeFile(t, name, "abcd")
	if after := markOf(t, name); after.Size != 4 || after == before {
		t.Errorf("after a write: %+v", after)
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return // size and modification time only
	}
	replaced := filepath.Join(filepath.Dir(name), "other")
	writeFile(t, replaced, "xyz")
	if err := os.Chtimes(replaced, past, past); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(replaced, name); err != nil {
		t.Fatal(err)
	}
	after := markOf(t, name)
	if after.Size != before.Size || after.ModifiedNs != before.ModifiedNs {
		t.Fatalf("%+v and %+v: want the same size and time", before, after)
	}
	if after.Inode == before.Inode || after.ChangedNs < before.ChangedNs || before.ChangedNs <= past.UnixNano() || after.Device != before.Device {
		t.Errorf("the replaced file has the mark %+v, before %+v", after, before)
	}
}

func TestIsSettled(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 1, time.UTC)
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixNano() }
	whole := func(d time.Duration) int64 { return now.Add(-d).Truncate(time.Second).UnixNano() }
	for _, test := range []struct {
		name string
		mark Mark
		want bool
	}{
		{"just written", Mark{ModifiedNs: ago(0), ChangedNs: ago(0)}, false},
		{"a tick ago", Mark{ModifiedNs: ago(settleFine - 1), ChangedNs: ago(settleFine - 1)}, false},
		{"after the tick", Mark{ModifiedNs: ago(settleFine), ChangedNs: ago(settleFine)}, true},
		{"the change time is newer", Mark{ModifiedNs: ago(time.Hour), ChangedNs: ago(0)}, false},
		{"no change time", Mark{ModifiedNs: ago(time.Hour)}, true},
		{"whole seconds", Mark{ModifiedNs: whole(time.Second)}, false},
		{"whole seconds, long ago", Mark{ModifiedNs: whole(settleCoarse)}, true},
		{"in the future", Mark{ModifiedNs: ago(-time.Hour)}, false},
	} {
		if got := test.mark.IsSettled(now); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}
