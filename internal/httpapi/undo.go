package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"opentabs/internal/httpjson"
)

// UndoResponse is the response of /calls/{id}/undo, with the ID and the tool of the new
// call that undoes call {id}.
type UndoResponse struct {
	CallID   string `json:"call_id"`
	ToolName string `json:"tool_name"`
}

func (c callRoutes) undo(w http.ResponseWriter, r *http.Request) {
	undoCallInfo, err := c.undoCall(r.PathValue("id"))
	if err != nil {
		httpjson.SendError(w, http.StatusConflict, err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, undoCallInfo)
}

// Undo starts a call that undoes the call with the given ID, and returns without waiting
// for the new call to end.
func (c CallsClient) Undo(ctx context.Context, callID string) (undoCallInfo UndoResponse, err error) {
	err = c.client.post(ctx, "/calls/"+url.PathEscape(callID)+"/undo", nil, &undoCallInfo)
	return undoCallInfo, err
}
