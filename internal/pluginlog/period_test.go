package pluginlog

import (
	"testing"
	"testing/synctest"
	"time"

	"opentabs/wire"
)

func TestReadPeriod(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		startTime := time.Now()
		addEntries := func(l *Log, messages ...string) {
			for _, logMessage := range messages {
				l.Add("work", newParams("a", wire.LogInfo, logMessage))
				l.Add("work", newParams("b", wire.LogInfo, "other"))
				synctest.Wait()
				time.Sleep(time.Minute)
			}
		}
		checkPeriod := func(l *Log, from, to time.Duration, want string) {
			t.Helper()
			entries, err := l.ReadPeriod(Filter{Plugin: "a"}, startTime.Add(from), startTime.Add(to))
			if got := joinMessages(entries); err != nil || got != want {
				t.Errorf("ReadPeriod from %v to %v = %q, error %v; want %q", from, to, got, err, want)
			}
		}
		earlierLog := Open(dir, Options{})
		addEntries(earlierLog, "0", "1", "2")
		earlierLog.Close()
		l := openLog(t, dir, Options{})
		checkPeriod(l, 0, time.Hour, "0 1 2")
		addEntries(l, "3", "4", "5")
		checkPeriod(l, 0, time.Hour, "0 1 2 3 4 5")
		checkPeriod(l, time.Minute, 4*time.Minute, "1 2 3 4")
		checkPeriod(l, 4*time.Minute, 4*time.Minute, "4")
		checkPeriod(l, time.Hour, 2*time.Hour, "")
	})
}
