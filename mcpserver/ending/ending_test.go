package ending

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/clients"
)

func TestWaitForCancelled(t *testing.T) {
	client, otherClient := clients.ID{Name: "agent"}, clients.ID{Name: "other"}
	for name, tt := range map[string]struct {
		client      clients.ID
		isCancelled bool
		endDelay    time.Duration
		want        time.Duration
	}{
		"a running request":              {client, false, time.Second, 0},
		"another client's request":       {otherClient, true, time.Second, 0},
		"a cancelled request":            {client, true, time.Second, time.Second},
		"a cancelled request that hangs": {client, true, time.Minute, maxWait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var table Table
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := table.Begin(ctx, tt.client)
				if tt.isCancelled {
					cancel()
				}
				time.AfterFunc(tt.endDelay, r.End)
				startTime := time.Now()
				table.WaitForCancelled(t.Context(), client)
				if got := time.Since(startTime); got != tt.want {
					t.Errorf("WaitForCancelled returned after %v, want %v", got, tt.want)
				}
				time.Sleep(tt.endDelay)
				synctest.Wait()
				if len(table.requests) != 0 {
					t.Error("the ended request is still in the table; want an empty table")
				}
			})
		})
	}
}
