package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"opentabs/internal/httpjson"
)

// reloadTabBody names the browser of a tab by its id or name; empty if only one
// browser has the tab.
type reloadTabBody struct {
	Browser string `json:"browser,omitempty"`
}

// reloadedTab is the response when a reload has started. reloadedTab is empty.
type reloadedTab struct{}

// tabRoutes are the routes below /tabs.
type tabRoutes struct {
	reloadTab func(ctx context.Context, browser string, tabID int) error
}

func (t tabRoutes) serveReload(w http.ResponseWriter, r *http.Request) {
	body, ok := bodyOf[reloadTabBody](w, r)
	if !ok {
		return
	}
	tab, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || tab <= 0 {
		httpjson.SendError(w, http.StatusBadRequest, "the tab ID is not a positive number: use an ID from `opentabs status`")
		return
	}
	if err := t.reloadTab(r.Context(), body.Browser, tab); err != nil {
		httpjson.SendError(w, http.StatusConflict, err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, reloadedTab{})
}

// ReloadTab reloads the tab with the given id in a browser. browser is the id or name
// of the tab's browser; empty means the only browser that has a tab with this id.
func (c *Client) ReloadTab(ctx context.Context, browser string, tab int) error {
	return c.post(ctx, fmt.Sprintf("/tabs/%d/reload", tab), reloadTabBody{Browser: browser}, nil)
}
