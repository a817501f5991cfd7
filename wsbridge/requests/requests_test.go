package requests

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"opentabs/wire"
)

func TestRequestsEndOnce(t *testing.T) {
	for _, c := range []struct {
		name       string
		endRequest func(r *Table, linkEnded chan struct{}, cancel func())
		want       error
	}{
		{"answer", func(r *Table, _ chan struct{}, _ func()) { r.DeliverAnswer(wire.Envelope{ID: "s/1"}) }, nil},
		{"link", func(_ *Table, linkEnded chan struct{}, _ func()) { close(linkEnded) }, ErrLinkEnded},
		{"context", func(_ *Table, _ chan struct{}, cancel func()) { cancel() }, context.Canceled},
		{"timeout", func(*Table, chan struct{}, func()) {}, errBrowserTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				linkEnded := make(chan struct{})
				var postedFrames []string
				r := New(func(frame []byte) { postedFrames = append(postedFrames, string(frame)) }, linkEnded)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				result := make(chan error, 1)
				go func() {
					_, err := r.SendAndWait(ctx, wire.MethodTabLoad, []byte("{}"))
					result <- err
				}()
				synctest.Wait()
				c.endRequest(r, linkEnded, cancel)
				if err := <-result; !errors.Is(err, c.want) {
					t.Errorf("the request ended with the error %v, want %v", err, c.want)
				}
				if len(r.pendingAnswers) != 0 || len(postedFrames) != 1 {
					t.Errorf("the table has %d pending requests and posted the frames %q; want 0 requests and one frame", len(r.pendingAnswers), postedFrames)
				}
				if r.DeliverAnswer(wire.Envelope{ID: "s/1"}) {
					t.Error("DeliverAnswer delivered an answer after the end of the request, want false")
				}
			})
		})
	}
}

func TestAnswersDoNotShareReadBuffer(t *testing.T) {
	r := New(func([]byte) {}, nil)
	request := r.Send(wire.MethodPing, nil)
	buffer := []byte(`{"mode":"files"}`)
	if !r.DeliverAnswer(wire.Envelope{ID: "s/1", Result: buffer}) {
		t.Fatal("DeliverAnswer found no pending request, want one")
	}
	clear(buffer)
	if got := (<-request.responses).Result; string(got) != `{"mode":"files"}` {
		t.Errorf("result of the request = %q, want %q", got, `{"mode":"files"}`)
	}
	if r.DeliverAnswer(wire.Envelope{ID: "s/1"}) {
		t.Error("DeliverAnswer delivered a second answer, want false")
	}
}
