package httpapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := make(writeTurns, 1)
		endFirstTurn, err := turns.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		acquireTurn := func(name string) {
			endTurn, err := turns.acquire(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			got = append(got, name)
			endTurn()
		}
		go acquireTurn("second")
		synctest.Wait()
		if got != nil {
			t.Fatal("one turn was acquired twice")
		}
		endFirstTurn()
		synctest.Wait()
		if len(got) != 1 {
			t.Fatal("the released turn was not acquired")
		}

		// A slow writer stops counting against the limit after turnTimeout. Calling
		// endSlowTurn afterwards has no effect.
		endSlowTurn, err := turns.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		startTime := time.Now()
		acquireTurn("third")
		if d := time.Since(startTime); d != turnTimeout {
			t.Errorf("acquire waited %v, want %v", d, turnTimeout)
		}
		endSlowTurn()
		if len(turns) != 0 {
			t.Errorf("%d turns are in use; want 0", len(turns))
		}

		ctx, cancel := context.WithCancel(t.Context())
		release, err := turns.acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := turns.acquire(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v; want the error %v", err, context.Canceled)
		}
		release()
	})
}
