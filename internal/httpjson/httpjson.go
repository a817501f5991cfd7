// Package httpjson sends JSON as the response to an HTTP request. The daemon sends all
// JSON responses with package httpjson.
package httpjson

import (
	"encoding/json"
	"net/http"
)

// Send sends body as a JSON response with the given status. The headers forbid browsers
// to cache the response, to guess its type, and to share it with a page of another
// site.
func Send(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"the answer is not JSON: report this as a bug of opentabs"}`)
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	WriteJSONHeader(w, status)
	_, _ = w.Write(append(data, '\n')) // a write error means that the client has disconnected
}

// Problem is the body of an error response.
type Problem struct {
	Error string `json:"error"`
}

// SendError sends an error with a sentence that includes what to do.
func SendError(w http.ResponseWriter, status int, sentence string) {
	Send(w, status, Problem{Error: sentence})
}

// WriteJSONHeader sends the status and the type of a response whose JSON the caller
// writes. MCP responses need WriteJSONHeader, because their errors have another format
// and a result is written in parts.
func WriteJSONHeader(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
}
