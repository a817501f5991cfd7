// Package httpjson sends HTTP responses with a JSON body.
package httpjson

import (
	"encoding/json"
	"net/http"
)

// Send sends body as a JSON response with the given HTTP status. Response headers forbid
// browsers to cache the response, to guess its type, or to expose it to a page of another
// site.
func Send(w http.ResponseWriter, httpStatus int, body any) {
	encodedJSON, err := json.Marshal(body)
	if err != nil {
		httpStatus, encodedJSON = http.StatusInternalServerError, []byte(`{"error":"the answer is not JSON: report this as a bug of opentabs"}`)
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	WriteJSONHeader(w, httpStatus)
	_, _ = w.Write(append(encodedJSON, '\n')) // a write fails only if the client has disconnected
}

// Problem is the JSON body of an error response.
type Problem struct {
	Error string `json:"error"`
}

// SendError sends a [Problem] with the given HTTP status. The parameter errorText should
// describe the error and what the client can do.
func SendError(w http.ResponseWriter, httpStatus int, errorText string) {
	Send(w, httpStatus, Problem{Error: errorText})
}

// WriteJSONHeader sends the status and the content type of a JSON response; the caller
// writes the body. MCP responses use WriteJSONHeader instead of [Send], because results
// are written in parts and MCP errors have another format.
func WriteJSONHeader(w http.ResponseWriter, httpStatus int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(httpStatus)
}
