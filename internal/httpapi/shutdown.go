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

func (a *API) serveShutdown(w http.ResponseWriter, r *http.Request) {
	body, ok := decodeBody[shutdownBody](w, r)
	if !ok {
		return
	}
	unfinishedCalls := 0
	for _, call := range a.options.Calls.Calls() {
		if !call.Status.HasEnded() {
			unfinishedCalls++
		}
	}
	if unfinishedCalls > 0 && !body.Force {
		httpjson.SendError(w, http.StatusConflict, formatCallCount(unfinishedCalls)+" running or waiting, see `opentabs calls`: wait until the calls have ended, or end them with --force")
		return
	}
	httpjson.Send(w, http.StatusOK, shutdownStarted{})
	a.options.Stop()
}

func formatCallCount(count int) string {
	if count == 1 {
		return "1 call is"
	}
	return fmt.Sprintf("%d calls are", count)
}

// Shutdown requests the shutdown of the server. If calls are running or waiting, Shutdown without force returns a
// [*RefusedError] with status 409.
func (c *Client) Shutdown(ctx context.Context, force bool) error {
	return c.post(ctx, "/shutdown", shutdownBody{Force: force}, nil)
}
