package refusallog

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestUnpairedTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log Log
		expectList := func(want ...string) {
			t.Helper()
			if got := keyIDsOf(log.UnpairedTries()); !slices.Equal(got, want) {
				t.Errorf("KeyIDs of the recorded attempts = %q, want %q", got, want)
			}
		}
		expectList()
		log.RecordUnpairedTry("a")
		time.Sleep(unpairedWindow - time.Second)
		log.RecordUnpairedTry("b")
		log.RecordUnpairedTry("b")
		expectList("a", "b")
		log.RecordUnpairedTry("a")
		expectList("b", "a")
		time.Sleep(unpairedWindow)
		log.RecordUnpairedTry("b")
		expectList("a", "b")
		time.Sleep(time.Nanosecond)
		expectList("b")
		for i := range maxUnpairedTries + 1 {
			log.RecordUnpairedTry(fmt.Sprint(i))
		}
		if got := keyIDsOf(log.UnpairedTries()); len(got) != maxUnpairedTries || got[0] != "1" {
			t.Errorf("KeyIDs of the recorded attempts after many attempts = %q, want %d KeyIDs that begin with 1", got, maxUnpairedTries)
		}
	})
}

func keyIDsOf(tries []UnpairedTry) []string {
	var ids []string
	for _, t := range tries {
		ids = append(ids, t.KeyID)
	}
	return ids
}
