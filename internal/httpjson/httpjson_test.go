package httpjson

import (
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestSend(t *testing.T) {
	for _, c := range []struct {
		name         string
		sendResponse func(http.ResponseWriter)
		httpStatus   int
		body         string
	}{
		{"a value", func(w http.ResponseWriter) { Send(w, http.StatusCreated, map[string]int{"a": 1}) }, 201, `{"a":1}` + "\n"},
		{"an error", func(w http.ResponseWriter) { SendError(w, http.StatusNotFound, "no call <1>") }, 404, `{"error":"no call \u003c1\u003e"}` + "\n"},
		{"a value that JSON cannot represent", func(w http.ResponseWriter) { Send(w, http.StatusOK, math.NaN()) }, 500, `{"error":"the answer is not JSON: report this as a bug of opentabs"}` + "\n"},
		{"a body that the caller writes", func(w http.ResponseWriter) { WriteJSONHeader(w, http.StatusAccepted) }, 202, ""},
	} {
		w := httptest.NewRecorder()
		c.sendResponse(w)
		if w.Code != c.httpStatus || w.Body.String() != c.body || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: status %d, headers %v, body %q; want status %d and body %q", c.name, w.Code, w.Header(), w.Body, c.httpStatus, c.body)
		}
	}
}
