package plugindev

import (
	"strings"
	"testing"
	"time"

	"opentabs/internal/pluginlog"
	"opentabs/wire"
)

func TestFormatEntry(t *testing.T) {
	e := pluginlog.Entry{Time: time.Date(2026, 5, 4, 3, 2, 1, 0, time.Local), Level: wire.LogInfo, Message: "one\x1b", Data: []byte("[1]")}
	for droppedEntries, want := range map[int]string{0: "03:02:01", 1: "(1 entry was dropped before this one)\n03:02:01", 3: "(3 entries were dropped before this one)\n03:02:01"} {
		e.Dropped = droppedEntries
		if got := formatEntry(e); got != want+".000 info    one\\x1b  1" {
			t.Errorf("log line after %d dropped entries = %q, want the number of dropped entries and an escaped control character", droppedEntries, got)
		}
	}
	if strings.Contains(formatEntry(e), "\x1b") {
		t.Error("the formatted log entry contains the character ESC, want it escaped")
	}
}
