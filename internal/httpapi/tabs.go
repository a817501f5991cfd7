package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"opentabs/internal/httpjson"
)

// tabBody is a request body with the ID or name of a tab's browser; empty if only one
// browser has the tab.
type tabBody struct {
	Browser string `json:"browser,omitempty"`
}

// reloadedTab is the response when a reload has started. reloadedTab is empty.
type reloadedTab struct{}

// tabRoutes are the routes below /tabs.
type tabRoutes struct {
	reloadTab  func(ctx context.Context, browser string, tabID int) error
	releaseTab func(browser string, tabID int) (client string, err error)
}

// releasedTab is the response to a request that stopped a client in a tab.
type releasedTab struct {
	Client string `json:"client"`
}

func (t tabRoutes) serveReload(w http.ResponseWriter, r *http.Request) {
	body, tab, ok := readTab(w, r)
	if !ok {
		return
	}
	if err := t.reloadTab(r.Context(), body.Browser, tab); err != nil {
		httpjson.SendError(w, http.StatusConflict, err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, reloadedTab{})
}

func (t tabRoutes) serveRelease(w http.ResponseWriter, r *http.Request) {
	body, tab, ok := readTab(w, r)
	if !ok {
		return
	}
	client, err := t.releaseTab(body.Browser, tab)
	if err != nil {
		httpjson.SendError(w, http.StatusConflict, err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, releasedTab{client})
}

// readTab reads the tab in a request. For an invalid request, readTab sends the error
// response and returns ok = false.
func readTab(w http.ResponseWriter, r *http.Request) (body tabBody, tabID int, ok bool) {
	if body, ok = bodyOf[tabBody](w, r); !ok {
		return body, 0, false
	}
	tabID, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || tabID <= 0 {
		httpjson.SendError(w, http.StatusBadRequest, "the tab ID is not a positive number: use an ID from `opentabs status`")
		return body, 0, false
	}
	return body, tabID, true
}

// ReloadTab reloads the tab with the given id in a browser. browser is the id or name
// of the tab's browser; empty means the only browser that has a tab with this id.
func (c *Client) ReloadTab(ctx context.Context, browser string, tab int) error {
	return c.post(ctx, fmt.Sprintf("/tabs/%d/reload", tab), tabBody{Browser: browser}, nil)
}

// ReleaseTab stops the client that uses a tab with browser tools, and returns the name of
// the client. The parameter browser is the ID or name of the tab's browser. An empty
// browser means the only browser in which a client uses a tab with this ID.
func (c *Client) ReleaseTab(ctx context.Context, browser string, tab int) (client string, err error) {
	var released releasedTab
	err = c.post(ctx, fmt.Sprintf("/tabs/%d/release", tab), tabBody{Browser: browser}, &released)
	return released.Client, err
}
