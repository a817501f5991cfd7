package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
)

// TestCallReplyHasTrace checks that the _meta of a traced call's result contains the server's timestamps (hops), even if the
// tool fails.
func TestCallReplyHasTrace(t *testing.T) {
	caller := callerFunc(func(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
		for _, m := range []hops.Checkpoint{hops.CheckpointTargetChosen, hops.CheckpointSent, hops.CheckpointAnswered, hops.CheckpointDecoded} {
			c.Trace.Record(m)
		}
		if strings.Contains(string(c.Args), "fail") {
			return dispatch.Result{}, &dispatch.Error{Message: "no"}
		}
		return dispatch.Result{CallID: "call_1", Output: c.Args}, nil
	})
	s := newServer(t, caller, Options{})
	handler := s.Handler()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(hops.Header) != "" {
			r = r.WithContext(hops.NewContext(r.Context()))
		}
		handler.ServeHTTP(w, r)
	}))
	defer ts.Close()
	s.url = ts.URL
	c := s.open(t, "a")
	callAndListStages := func(id, args string) string {
		t.Helper()
		var result struct {
			Meta struct {
				Hops []hops.Hop `json:"opentabs/hops"`
			} `json:"_meta"`
		}
		if err := json.Unmarshal(c.call(callText(id, args, "{}")).Result, &result); err != nil {
			t.Fatal(err)
		}
		var hopNames []string
		for _, hop := range result.Meta.Hops {
			hopNames = append(hopNames, hop.Stage)
		}
		return strings.Join(hopNames, " ")
	}
	if got := callAndListStages("1", `{}`); got != "" {
		t.Errorf("hops of a call that is not traced = %s; want none", got)
	}
	c.headers.Set(hops.Header, "1")
	want := "guard parse check target hub browser hub dispatch reply"
	for _, args := range []string{`{}`, `{"text":"fail"}`} {
		if got := callAndListStages("2", args); got != want {
			t.Errorf("hops of a call with the arguments %s = %s, want %s", args, got, want)
		}
	}
}
