package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"opentabs/internal/httpjson"
)

// tabBody is a request body with the ID or name of the browser that has the tab. Browser
// is empty if only one browser has a tab with this ID.
type tabBody struct {
	Browser string `json:"browser,omitempty"`
}

// reloadedTab is the empty JSON object that confirms that the reload of a tab has
// started.
type reloadedTab struct{}

// tabRoutes serves the routes below /tabs.
type tabRoutes struct {
	reloadTab  func(ctx context.Context, browser string, tabID int) error
	releaseTab func(browser string, tabID int) (client string, err error)
}

// releasedTab is the response to a request that ended a client's control of a tab. Client
// is the name of the MCP client whose control has ended.
type releasedTab struct {
	Client string `json:"client"`
}

func (t tabRoutes) serveReload(w http.ResponseWriter, r *http.Request) {
	body, tab, ok := decodeTabRequest(w, r)
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
	body, tab, ok := decodeTabRequest(w, r)
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

func decodeTabRequest(w http.ResponseWriter, r *http.Request) (body tabBody, tabID int, ok bool) {
	if body, ok = decodeBody[tabBody](w, r); !ok {
		return body, 0, false
	}
	tabID, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || tabID <= 0 {
		httpjson.SendError(w, http.StatusBadRequest, "the tab ID is not a positive number: use an ID from `opentabs status`")
		return body, 0, false
	}
	return body, tabID, true
}

// ReloadTab reloads the tab with the given ID. The argument browser is the ID or name of
// the tab's browser. If browser is empty, exactly one browser must have a tab with this
// ID.
func (c *Client) ReloadTab(ctx context.Context, browser string, tab int) error {
	return c.post(ctx, fmt.Sprintf("/tabs/%d/reload", tab), tabBody{Browser: browser}, nil)
}

// ReleaseTab ends an MCP client's control of a tab, and returns the name of the client.
// The argument browser is the ID or name of the tab's browser, and can be empty if
// clients control a tab with this ID in only one browser.
func (c *Client) ReleaseTab(ctx context.Context, browser string, tab int) (client string, err error) {
	var releasedTabValue releasedTab
	err = c.post(ctx, fmt.Sprintf("/tabs/%d/release", tab), tabBody{Browser: browser}, &releasedTabValue)
	return releasedTabValue.Client, err
}
