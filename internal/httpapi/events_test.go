package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestFollow(t *testing.T) {
	f := start(t)
	number := 0.5
	done := errors.New("done")
	var kinds []string
	err := NewClient(f.port, testToken).Follow(context.Background(), Listener{
		Following: func() error {
			_, sink := f.call(t)
			sink.Reports([]wire.Report{{Progress: &number, Message: "half"}}, 0)
			sink.Finish(json.RawMessage(`1`), nil)
			return nil
		},
		Event: func(e dispatch.Event, raw []byte) error {
			kinds = append(kinds, string(e.Kind))
			var again dispatch.Event
			if err := json.Unmarshal(raw, &again); err != nil || again.Seq != e.Seq {
				t.Errorf("the raw event is %s", raw)
			}
			if e.Kind == dispatch.EventEnded {
				return done
			}
			return nil
		},
	})
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
	if got := strings.Join(kinds, " "); got != "created running progress ended" {
		t.Errorf("heard %s", got)
	}
}

func TestFollowIsTold(t *testing.T) {
	var missed int
	l := Listener{Missed: func(n int) error { missed = n; return nil }}
	if err := l.hear(event(missedEvent, `{"missed":7}`)); err != nil || missed != 7 {
		t.Errorf("missed %d, %v", missed, err)
	}
	for _, e := range []struct{ name, data string }{{missedEvent, "x"}, {"created", "x"}} {
		if l.hear(event(e.name, e.data)) == nil {
			t.Errorf("%s took %s", e.name, e.data)
		}
	}
}

func TestEventsHeartbeat(t *testing.T) {
	f := start(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type is %s", got)
	}
	lines := bufio.NewScanner(resp.Body)
	for _, want := range []string{": following", "", ": still here", "", ": still here"} {
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("got %q, want %q", lines.Text(), want)
		}
	}
}

func TestFollowEndsWithServer(t *testing.T) {
	f := start(t)
	err := NewClient(f.port, testToken).Follow(context.Background(), Listener{
		Following: func() error { return f.api.Shutdown(context.Background()) },
	})
	if !errors.Is(err, ErrEnded) {
		t.Errorf("got %v", err)
	}
}
