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
		expect := func(want ...string) {
			t.Helper()
			if got := keyIDsOf(log.UnpairedTries()); !slices.Equal(got, want) {
				t.Errorf("the KeyIDs are %q, want %q", got, want)
			}
		}
		expect()
		log.RecordUnpaired("a")
		time.Sleep(unpairedWindow - time.Second)
		log.RecordUnpaired("b")
		log.RecordUnpaired("b")
		expect("a", "b")
		log.RecordUnpaired("a")
		expect("b", "a")
		time.Sleep(unpairedWindow)
		log.RecordUnpaired("b")
		expect("a", "b")
		time.Sleep(time.Nanosecond)
		expect("b")
		for i := range maxUnpaired + 1 {
			log.RecordUnpaired(fmt.Sprint(i))
		}
		if got := keyIDsOf(log.UnpairedTries()); len(got) != maxUnpaired || got[0] != "1" {
			t.Errorf("after many attempts, the KeyIDs are %q, want %d KeyIDs that begin with 1", got, maxUnpaired)
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
