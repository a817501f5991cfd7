package requests

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"opentabs/wire"
)

func TestRequestsEnd(t *testing.T) {
	for _, c := range []struct {
		name     string
		endTable func(r *Table, gone chan struct{}, cancel func())
		want     error
	}{
		{"answer", func(r *Table, _ chan struct{}, _ func()) { r.DeliverAnswer(wire.Envelope{ID: "s/1"}) }, nil},
		{"link", func(_ *Table, gone chan struct{}, _ func()) { close(gone) }, ErrLinkEnded},
		{"context", func(_ *Table, _ chan struct{}, cancel func()) { cancel() }, context.Canceled},
		{"timeout", func(*Table, chan struct{}, func()) {}, errNoAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				var posted []string
				r := New(func(frame []byte) { posted = append(posted, string(frame)) }, gone)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				result := make(chan error, 1)
				go func() {
					_, err := r.SendAndWait(ctx, wire.MethodTabLoad, []byte("{}"))
					result <- err
				}()
				synctest.Wait()
				c.endTable(r, gone, cancel)
				if err := <-result; !errors.Is(err, c.want) {
					t.Errorf("the request ended with the error %v, want %v", err, c.want)
				}
				if len(r.pendingAnswers) != 0 || len(posted) != 1 {
					t.Errorf("there are %d pending requests; the posted frames are %q", len(r.pendingAnswers), posted)
				}
				if r.DeliverAnswer(wire.Envelope{ID: "s/1"}) {
					t.Error("an answer after the end was delivered")
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
		t.Fatal("no request is pending")
	}
	clear(buffer)
	if got := (<-request.responses).Result; string(got) != `{"mode":"files"}` {
		t.Errorf("the request got the result %q; want %q", got, `{"mode":"files"}`)
	}
	if r.DeliverAnswer(wire.Envelope{ID: "s/1"}) {
		t.Error("a second answer found a request")
	}
}
