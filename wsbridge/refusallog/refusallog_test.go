package refusallog

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestUnpairedAttemptsAreBoundedAndExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log Log
		expectKeyIDs := func(want ...string) {
			t.Helper()
			if got := listKeyIDs(log.UnpairedAttempts()); !slices.Equal(got, want) {
				t.Errorf("KeyIDs of the recorded attempts = %q, want %q", got, want)
			}
		}
		expectKeyIDs()
		log.RecordUnpairedAttempt("a")
		time.Sleep(unpairedAttemptLifetime - time.Second)
		log.RecordUnpairedAttempt("b")
		log.RecordUnpairedAttempt("b")
		expectKeyIDs("a", "b")
		log.RecordUnpairedAttempt("a")
		expectKeyIDs("b", "a")
		time.Sleep(unpairedAttemptLifetime)
		log.RecordUnpairedAttempt("b")
		expectKeyIDs("a", "b")
		time.Sleep(time.Nanosecond)
		expectKeyIDs("b")
		for i := range maxUnpairedAttempts + 1 {
			log.RecordUnpairedAttempt(fmt.Sprint(i))
		}
		if got := listKeyIDs(log.UnpairedAttempts()); len(got) != maxUnpairedAttempts || got[0] != "1" {
			t.Errorf("KeyIDs of the recorded attempts after many attempts = %q, want %d KeyIDs that begin with 1", got, maxUnpairedAttempts)
		}
	})
}

func listKeyIDs(attempts []UnpairedAttempt) []string {
	var ids []string
	for _, t := range attempts {
		ids = append(ids, t.KeyID)
	}
	return ids
}
