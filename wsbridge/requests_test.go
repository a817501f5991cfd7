package wsbridge

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"opentabs/wire"
)

// TestRequestsEnd checks that a request ends with its answer, its link, its context or
// the timeout. After a request has ended, no map may have an entry of the request.
func TestRequestsEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(r *linkRequests, gone chan struct{}, cancel func())
		want error
	}{
		{"answer", func(r *linkRequests, _ chan struct{}, _ func()) { r.deliverAnswer(wire.Envelope{ID: "s/1"}) }, nil},
		{"link", func(_ *linkRequests, gone chan struct{}, _ func()) { close(gone) }, errLinkEnded},
		{"context", func(_ *linkRequests, _ chan struct{}, cancel func()) { cancel() }, context.Canceled},
		{"timeout", func(*linkRequests, chan struct{}, func()) {}, errNoAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				var posted []string
				r := linkRequests{
					linkEnded: gone, pendingAnswers: map[string]chan<- wire.Envelope{},
					post: func(frame []byte) { posted = append(posted, string(frame)) },
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				result := make(chan error, 1)
				go func() {
					_, err := r.sendAndWait(ctx, wire.MethodTabLoad, []byte("{}"))
					result <- err
				}()
				synctest.Wait()
				c.end(&r, gone, cancel)
				if err := <-result; !errors.Is(err, c.want) {
					t.Errorf("error %v, want %v", err, c.want)
				}
				if len(r.pendingAnswers) != 0 || len(posted) != 1 {
					t.Errorf("there are %d pending requests; the posted frames are %q", len(r.pendingAnswers), posted)
				}
				if r.deliverAnswer(wire.Envelope{ID: "s/1"}) {
					t.Error("an answer after the end was delivered")
				}
			})
		})
	}
}
