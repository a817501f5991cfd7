package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"opentabs/internal/httpjson"
)

// shutdownBody is the request body of POST /shutdown. If Force is true, the shutdown also
// ends running and waiting calls.
type shutdownBody struct {
	Force bool `json:"force,omitempty"`
}

// shutdownStarted is the empty JSON object that confirms a shutdown.
type shutdownStarted struct{}

// serveShutdown starts the shutdown of the server. If calls are running or waiting and the
// request does not set force, serveShutdown responds with status 409 and the server
// continues.
func (a *API) serveShutdown(w http.ResponseWriter, r *http.Request) {
	body, ok := decodeBody[shutdownBody](w, r)
	if !ok {
		return
	}
	unended := 0
	for _, call := range a.options.Calls.Calls() {
		if !call.Status.HasEnded() {
			unended++
		}
	}
	if unended > 0 && !body.Force {
		httpjson.SendError(w, http.StatusConflict, callCountText(unended)+" running or waiting, see `opentabs calls`: wait until the calls have ended, or end them with --force")
		return
	}
	httpjson.Send(w, http.StatusOK, shutdownStarted{})
	a.options.Stop()
}

// callCountText returns the subject and verb of a sentence about calls: "1 call is" or "2
// calls are".
func callCountText(count int) string {
	if count == 1 {
		return "1 call is"
	}
	return fmt.Sprintf("%d calls are", count)
}

// Shutdown requests the shutdown of the server. If calls are running or waiting and force
// is false, Shutdown returns a [*RefusedError] with status 409, and the server continues.
func (c *Client) Shutdown(ctx context.Context, force bool) error {
	return c.post(ctx, "/shutdown", shutdownBody{Force: force}, nil)
}
